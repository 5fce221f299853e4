// SPDX-License-Identifier: Apache-2.0
// The places that an instruction works on, row by row: what a mask leaves of a box.
#pragma once

#include "nki/ir/tensor.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace kw::nki {

/// A half-space at given loop variables: constant + sum coefficients[j] e_j >= 0.
struct HalfSpace {
  std::int64_t constant = 0;
  std::vector<std::int64_t> coefficients;
};

/// Places e with low_j <= e_j < high_j that are in all half-spaces.
struct Region {
  std::vector<std::int64_t> low, high;
  std::vector<HalfSpace> slopes; ///< of several dimensions each; others have become bounds

  [[nodiscard]] bool is_empty() const {
    for (std::size_t j = 0; j < low.size(); ++j)
      if (low[j] >= high[j])
        return true;
    return false;
  }
  [[nodiscard]] bool is_whole(std::span<const std::int64_t> sizes) const {
    if (!slopes.empty())
      return false;
    for (std::size_t j = 0; j < low.size(); ++j)
      if (low[j] != 0 || high[j] != sizes[j])
        return false;
    return true;
  }
};

inline std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

/// What the mask leaves of a tile of these sizes; conditions of fewer dimensions align at the last.
inline Region region_of(const Mask& mask, std::span<const std::int64_t> sizes,
                        std::span<const std::int64_t> values) {
  Region r;
  r.low.assign(sizes.size(), 0);
  r.high.assign(sizes.begin(), sizes.end());
  for (const Index& c : mask.conditions) {
    HalfSpace h{.constant = c.base.at(values),
                .coefficients = std::vector<std::int64_t>(sizes.size())};
    const std::size_t rank = c.dims.size(), skip = rank > sizes.size() ? rank - sizes.size() : 0;
    int slanted = 0;
    std::size_t only = 0;
    for (std::size_t j = skip; j < rank; ++j) {
      const std::size_t at = sizes.size() - (rank - j);
      if (c.dims[j].size > 1 && c.dims[j].coefficient != 0)
        h.coefficients[at] = c.dims[j].coefficient, ++slanted, only = at;
    }
    if (slanted == 0) {
      if (h.constant < 0 && !r.high.empty())
        r.high[0] = 0;
    } else if (slanted == 1) {
      const std::int64_t k = h.coefficients[only];
      if (k > 0) // e >= -constant / k
        r.low[only] = std::max(r.low[only], -floor_div(h.constant, k));
      else
        r.high[only] = std::min(r.high[only], floor_div(h.constant, -k) + 1);
    } else {
      r.slopes.push_back(std::move(h));
    }
  }
  return r;
}

/// Calls f(place, low, high) for every row: `place` has the leading dimensions, the last one runs
/// from low to high. A region without dimensions is one place.
template <typename F> void for_rows(const Region& r, F f) {
  if (r.is_empty())
    return;
  if (r.low.empty()) {
    f(std::span<const std::int64_t>{}, std::int64_t{0}, std::int64_t{1});
    return;
  }
  const std::size_t last = r.low.size() - 1;
  std::vector<std::int64_t> at(r.low.begin(), r.low.end() - 1);
  for (;;) {
    std::int64_t low = r.low[last], high = r.high[last];
    for (const HalfSpace& h : r.slopes) {
      std::int64_t rest = h.constant;
      for (std::size_t j = 0; j < last; ++j)
        rest += h.coefficients[j] * at[j];
      const std::int64_t k = h.coefficients[last];
      if (k > 0)
        low = std::max(low, -floor_div(rest, k));
      else if (k < 0)
        high = std::min(high, floor_div(rest, -k) + 1);
      else if (rest < 0)
        high = low;
    }
    if (low < high)
      f(std::span<const std::int64_t>(at), low, high);
    std::size_t j = last;
    while (j > 0) {
      if (++at[j - 1] < r.high[j - 1])
        break;
      at[j - 1] = r.low[j - 1];
      --j;
    }
    if (j == 0)
      return;
  }
}

} // namespace kw::nki
