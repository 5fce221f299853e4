// SPDX-License-Identifier: Apache-2.0
// Blocks that fit the first-level cache are decoded and checked by a vector loop; only a block with
// something to say (a bad element, or a NaN or infinity on either side) is walked element by
// element.
#include "tensor/compare.hpp"

#include "base/result.hpp"
#include "tensor/convert.hpp"
#include "tensor/simd.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace kw {
namespace {

constexpr std::size_t block_size = 512;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double largest = std::numeric_limits<double>::max();

/// Below the least normal number rounding is absolute: |y| counts at least as that number.
struct Limits {
  Bound bound;
  double least_normal = 0;
};

/// Largest errors so far: absolute, relative, in units of u_out y + u_acc S.
struct Records {
  double abs = 0, rel = 0, eta = 0;
};

struct Count {
  std::int64_t to_walk = 0;     ///< bad, or NaN or infinity on either side
  std::int64_t new_records = 0; ///< plain elements that beat a record
};

/// Counts only, so that there is neither a division nor a maximum in the loop: records fall in
/// about ln(blocks) blocks, which are then measured on their own.
template <bool with_magnitude> struct CheckBlock {
  KW_INLINE Count run(const double* got, const double* want, const double* magnitude, std::size_t n,
                      Limits limits, Records records) {
    const Bound b = limits.bound;
    std::int64_t to_walk = 0, new_records = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double w = want[i], g = got[i];
      const double y = std::fabs(w);
      const double floored = y > limits.least_normal ? y : limits.least_normal;
      const double s = with_magnitude ? std::fabs(magnitude[i]) : 0.0;
      const double unit = b.u_out * floored + b.u_acc * (s <= largest ? s : 0.0);
      const double bound = b.eta * unit + b.atol + b.rtol * floored;
      const double error = std::fabs(g - w);
      const bool plain = (y <= largest) & (std::fabs(g) <= largest);
      const bool ok = plain & (error <= bound) & (bound <= largest);
      const bool record = plain & ((error > records.abs) | (error > records.rel * y) |
                                   (error > records.eta * unit));
      to_walk += ok ? 0 : 1;
      new_records += record ? 1 : 0;
    }
    return {to_walk, new_records};
  }
};

/// Where the bad elements lie.
class Layout {
 public:
  explicit Layout(std::int64_t row)
      : row_(static_cast<std::uint64_t>(std::max<std::int64_t>(row, 1))), least_column_(row_) {}

  void add(std::uint64_t index) {
    const std::uint64_t row = index / row_, column = index % row_;
    if (rows_ == 0 || row != last_row_)
      ++rows_;
    last_row_ = row;
    last_ = index;
    least_column_ = std::min(least_column_, column);
    greatest_column_ = std::max(greatest_column_, column);
  }

  [[nodiscard]] std::string pattern(const CompareResult& r) const {
    if (r.bad == 0)
      return "";
    // "Nearly all" leaves room for wrong values that happen to lie within the bound.
    const auto most = [&](std::uint64_t of) {
      return static_cast<double>(r.bad) >= 0.9 * static_cast<double>(of);
    };
    if (2 * r.class_mismatches >= r.bad)
      return "non-finite";
    if (static_cast<double>(r.bad) >= 0.95 * static_cast<double>(r.elements))
      return "all";
    const std::uint64_t width = row_ - least_column_;
    const bool row_tails = greatest_column_ == row_ - 1 && 4 * width <= row_ && most(width * rows_);
    if (row_tails || (last_ == r.elements - 1 && most(r.elements - r.first_bad)))
      return "tail";
    return row_ > 1 && most(row_ * rows_) ? "rows" : "scattered";
  }

 private:
  std::uint64_t row_, rows_ = 0, last_row_ = 0, last_ = 0, least_column_, greatest_column_ = 0;
};

struct Comparison {
  DType dtype;
  Limits limits;
  Layout layout;
  WrongMap map;
  double threshold;
  bool may_saturate;
  CompareResult result;

  Comparison(DType t, const Bound& b, std::uint64_t elements, std::int64_t row)
      : dtype(t), limits{b, is_float(t) ? min_normal(t) : 0}, layout(row), map(elements, row),
        threshold(overflow_threshold(t)),
        may_saturate(t == DType::float8_e4m3fn || t == DType::float8_e5m2) {}

  void bad(std::uint64_t index, double got, double want, double limit, bool class_mismatch) {
    if (result.bad++ == 0) {
      result.first_bad = index;
      result.got = got, result.want = want, result.bound = limit;
    }
    if (class_mismatch) {
      ++result.class_mismatches;
      result.max_abs = result.max_rel = result.max_eta = infinity;
    }
    layout.add(index);
    map.add(index);
  }

  /// `got` is the largest number of a saturating format where `want` is beyond it.
  [[nodiscard]] bool saturated(double got, double want) const {
    return may_saturate && std::fabs(got) == max_finite(dtype) &&
           std::fabs(want) > max_finite(dtype) && std::signbit(got) == std::signbit(want);
  }
  /// `got` is what overflow of `want` stores.
  [[nodiscard]] bool overflowed(double got, double want) const {
    return has_infinity(dtype) ? std::isinf(got) && std::signbit(got) == std::signbit(want)
                               : std::isnan(got) && has_nan(dtype);
  }

  void element(std::uint64_t index, double got, double want, double magnitude) {
    const Bound& b = limits.bound;
    const double y = std::fabs(want), s = std::fabs(magnitude);
    const double floored = std::max(y, limits.least_normal);
    const double unit = b.u_out * floored + b.u_acc * (s <= largest ? s : 0.0);
    double limit = b.eta * unit + b.atol + b.rtol * floored;
    limit = limit <= largest ? limit : -1; // no bound, no pass
    if (!std::isfinite(want)) {
      const double stored = round_to(dtype, want);
      const bool same = std::isnan(stored) ? std::isnan(got) : got == stored;
      if (!same && !(std::isinf(want) && saturated(got, want)))
        bad(index, got, want, 0, true);
    } else if (!std::isfinite(got)) {
      if (!(y + limit >= threshold && overflowed(got, want)))
        bad(index, got, want, limit, true);
    } else if (!(std::fabs(got - want) <= limit) && !saturated(got, want)) {
      bad(index, got, want, limit, false);
    }
  }

  /// Records of one element with both sides finite.
  void measure(double got, double want, double magnitude) {
    if (!std::isfinite(got) || !std::isfinite(want))
      return;
    const double error = std::fabs(got - want);
    const double y = std::fabs(want), s = std::fabs(magnitude);
    const double unit = limits.bound.u_out * std::max(y, limits.least_normal) +
                        limits.bound.u_acc * (s <= largest ? s : 0.0);
    if (error == 0)
      return;
    result.max_abs = std::max(result.max_abs, error);
    result.max_rel = std::max(result.max_rel, error / y);
    result.max_eta = std::max(result.max_eta, error / unit);
  }
};

void compare_bounded(Comparison& c, std::span<const std::byte> got, std::span<const double> want,
                     std::span<const double> magnitude) {
  alignas(64) std::array<double, block_size> block{};
  for (std::size_t at = 0; at < want.size(); at += block_size) {
    const std::size_t n = std::min(block_size, want.size() - at);
    const double* const w = want.data() + at;
    const double* const m = magnitude.empty() ? nullptr : magnitude.data() + at;
    to_double(c.dtype, got.subspan(byte_size(c.dtype, static_cast<std::int64_t>(at))),
              std::span(block).first(n));
    const Records records{c.result.max_abs, c.result.max_rel, c.result.max_eta};
    const Count count = m ? run_widest<CheckBlock<true>>(block.data(), w, m, n, c.limits, records)
                          : run_widest<CheckBlock<false>>(block.data(), w, w, n, c.limits, records);
    if (count.new_records != 0)
      for (std::size_t i = 0; i < n; ++i)
        c.measure(block[i], w[i], m ? m[i] : 0.0);
    if (count.to_walk != 0)
      for (std::size_t i = 0; i < n; ++i)
        c.element(at + i, block[i], w[i], m ? m[i] : 0.0);
  }
}

/// Integers are held against each other as stored: a double cannot tell large int64 apart.
void compare_exact(Comparison& c, std::span<const std::byte> got, std::span<const double> want) {
  std::array<std::byte, block_size * 8> expected{};
  std::array<double, block_size> have{}, should{};
  for (std::size_t at = 0; at < want.size(); at += block_size) {
    const std::size_t n = std::min(block_size, want.size() - at);
    const std::size_t bytes = byte_size(c.dtype, static_cast<std::int64_t>(n));
    const auto stored = got.subspan(byte_size(c.dtype, static_cast<std::int64_t>(at)), bytes);
    from_double(c.dtype, want.subspan(at, n), expected);
    if (std::memcmp(stored.data(), expected.data(), bytes) == 0)
      continue;
    to_double(c.dtype, stored, std::span(have).first(n));
    to_double(c.dtype, expected, std::span(should).first(n));
    const std::size_t width = bytes / n; // 0 for float4, which is compared by value
    for (std::size_t i = 0; i < n; ++i) {
      const bool same_bytes = width != 0 && std::memcmp(stored.data() + i * width,
                                                        expected.data() + i * width, width) == 0;
      const bool same_value = is_float(c.dtype) && (have[i] == should[i] ||
                                                    (std::isnan(have[i]) && std::isnan(should[i])));
      if (same_bytes || same_value)
        continue;
      const bool classes_agree = std::isfinite(have[i]) && std::isfinite(should[i]);
      if (classes_agree) {
        const double error = std::fabs(have[i] - should[i]);
        c.result.max_abs = std::max(c.result.max_abs, error);
        c.result.max_rel =
            std::max(c.result.max_rel, should[i] != 0 ? error / std::fabs(should[i]) : infinity);
        c.result.max_eta = infinity;
      }
      c.bad(at + i, have[i], want[at + i], 0, !classes_agree);
    }
  }
}

} // namespace

CompareResult compare(DType dtype, std::span<const std::byte> got, std::span<const double> want,
                      std::span<const double> magnitude, const Bound& bound, std::int64_t row) {
  KW_ASSERT(got.size() >= byte_size(dtype, static_cast<std::int64_t>(want.size())));
  KW_ASSERT(magnitude.empty() || magnitude.size() == want.size());
  Comparison c(dtype, bound, want.size(), row);
  c.result.elements = want.size();
  if (bound.exact)
    compare_exact(c, got, want);
  else
    compare_bounded(c, got, want, magnitude);
  if (bound.u_out == 0 && bound.u_acc == 0)
    c.result.max_eta = 0; // no unit to count in
  c.result.pattern = c.layout.pattern(c.result);
  if (c.result.bad > 0)
    c.result.place = c.map.place();
  return std::move(c.result);
}

double rms(std::span<const double> want) {
  std::array<double, 4> sums{};
  std::array<std::uint64_t, 4> counts{};
  for (std::size_t i = 0; i < want.size(); ++i) {
    const bool finite = std::fabs(want[i]) <= largest;
    sums[i % 4] += finite ? want[i] * want[i] : 0.0;
    counts[i % 4] += finite;
  }
  const std::uint64_t n = counts[0] + counts[1] + counts[2] + counts[3];
  return n == 0 ? 0 : std::sqrt((sums[0] + sums[1] + sums[2] + sums[3]) / static_cast<double>(n));
}

} // namespace kw
