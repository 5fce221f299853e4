// SPDX-License-Identifier: Apache-2.0
// One pass over a row decides: the smallest score taken is the k-th greatest if exactly as many
// scores lie above it as were taken from above it. Only a wrong row is sorted, for the words.
#include "tensor/ranking.hpp"

#include "base/result.hpp"
#include "tensor/convert.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <vector>

namespace kw {
namespace {

constexpr std::int64_t greatest_key = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t least_key = std::numeric_limits<std::int64_t>::min();

/// Ascends with the score; equal scores have equal keys.
std::int64_t key_of(double v) {
  if (std::isnan(v))
    return greatest_key;
  const auto bits = std::bit_cast<std::int64_t>(v);
  return bits < 0 ? least_key - bits : bits; // -0 becomes 0
}

std::string figure(double v) {
  return std::isnan(v) ? "nan" : fmt::format("{:.9g}", v);
}

class Checker {
 public:
  explicit Checker(const RankingData& data)
      : d_(data), n_(static_cast<std::size_t>(data.n)), k_(static_cast<std::size_t>(data.k)),
        scores_(n_), keys_(n_), places_(k_), values_(data.values.empty() ? 0 : k_), taken_(n_, 0) {}

  RankingResult run() {
    result_.rows = static_cast<std::uint64_t>(d_.rows);
    result_.elements = result_.rows * k_;
    for (std::int64_t r = 0; r < d_.rows && k_ > 0; ++r)
      row(r);
    return std::move(result_);
  }

 private:
  void load(std::int64_t r) {
    const auto part = [&](DType t, std::span<const std::byte> all, std::size_t length) {
      return all.subspan(byte_size(t, r * static_cast<std::int64_t>(length)));
    };
    to_double(d_.scores_dtype, part(d_.scores_dtype, d_.scores, n_), scores_);
    to_double(d_.places_dtype, part(d_.places_dtype, d_.places, k_), places_);
    if (!values_.empty())
      to_double(d_.scores_dtype, part(d_.scores_dtype, d_.values, k_), values_);
    std::transform(scores_.begin(), scores_.end(), keys_.begin(), key_of);
    ++stamp_;
  }
  [[nodiscard]] std::size_t place(std::size_t j) const {
    return static_cast<std::size_t>(places_[j]);
  }
  [[nodiscard]] bool in_range(std::size_t j) const {
    return places_[j] >= 0 && places_[j] < static_cast<double>(n_);
  }
  [[nodiscard]] bool same_value(std::size_t j) const {
    return values_.empty() || key_of(values_[j]) == keys_[place(j)];
  }

  void row(std::int64_t r) {
    load(r);
    std::uint64_t bad = 0;
    std::int64_t least = greatest_key, before = greatest_key;
    for (std::size_t j = 0; j < k_; ++j) {
      RankingFault fault = RankingFault::none;
      if (!in_range(j)) {
        fault = RankingFault::out_of_range;
      } else if (taken_[place(j)] == stamp_) {
        fault = RankingFault::repeated;
      } else {
        taken_[place(j)] = stamp_;
        const std::int64_t key = keys_[place(j)];
        fault = !same_value(j) ? RankingFault::other_value
                : key > before ? RankingFault::order
                               : RankingFault::none;
        before = key;
        least = std::min(least, key);
      }
      if (fault == RankingFault::none)
        continue;
      if (bad++ == 0)
        note(r, j, fault);
    }
    if (bad == 0)
      bad = left_out(r, least);
    result_.bad += bad;
    result_.bad_rows += bad != 0;
  }

  /// Scores above `least` that were not taken; where there are none, the row's margin.
  std::uint64_t left_out(std::int64_t r, std::int64_t least) {
    std::uint64_t above = 0, equal = 0;
    std::int64_t next = least_key;
    bool any_below = false;
    for (const std::int64_t key : keys_) {
      above += key > least;
      equal += key == least;
      any_below |= key < least;
      next = key < least ? std::max(next, key) : next;
    }
    std::uint64_t taken_above = 0, taken_equal = 0;
    for (std::size_t j = 0; j < k_; ++j)
      ++(keys_[place(j)] > least ? taken_above : taken_equal);
    if (above != taken_above) {
      note(r, first_too_small(), RankingFault::not_greatest);
      return std::min<std::uint64_t>(above - taken_above, k_);
    }
    if (equal > taken_equal)
      ++result_.tied_rows;
    else if (any_below)
      result_.least_margin = std::min(result_.least_margin, margin(least, next));
    return 0;
  }
  [[nodiscard]] double margin(std::int64_t high, std::int64_t low) const {
    const auto score = [&](std::int64_t key) {
      return scores_[static_cast<std::size_t>(std::find(keys_.begin(), keys_.end(), key) -
                                              keys_.begin())];
    };
    return steps_between(d_.scores_dtype, score(high), score(low));
  }

  /// The k greatest in descending order, of equal ones the first.
  [[nodiscard]] std::vector<std::size_t> right_order() const {
    std::vector<std::size_t> order(n_);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k_), order.end(),
                      [&](std::size_t a, std::size_t b) {
                        return keys_[a] != keys_[b] ? keys_[a] > keys_[b] : a < b;
                      });
    order.resize(k_);
    return order;
  }
  [[nodiscard]] std::size_t first_too_small() const {
    const std::vector<std::size_t> right = right_order();
    for (std::size_t j = 0; j < k_; ++j)
      if (keys_[place(j)] < keys_[right[j]])
        return j;
    return 0;
  }

  void note(std::int64_t r, std::size_t j, RankingFault fault) {
    if (result_.fault != RankingFault::none)
      return;
    result_.fault = fault;
    result_.first_bad = static_cast<std::uint64_t>(r) * k_ + j;
    const std::vector<std::size_t> right = right_order();
    result_.got = places_[j];
    result_.want = static_cast<double>(right[j]);
    result_.words = words(j, fault, right);
  }
  [[nodiscard]] std::string score(std::size_t at) const {
    return fmt::format("{}[{}] = {}", d_.scores_name, at, figure(scores_[at]));
  }
  [[nodiscard]] std::string words(std::size_t j, RankingFault fault,
                                  const std::vector<std::size_t>& right) const {
    switch (fault) {
    case RankingFault::out_of_range:
      return fmt::format("place {} is outside [0, {})", places_[j], n_);
    case RankingFault::repeated: {
      std::size_t first = 0;
      while (places_[first] != places_[j])
        ++first;
      return fmt::format("place {} appears twice, as number {} and {}", place(j), first, j);
    }
    case RankingFault::other_value:
      return fmt::format("{}, but `{}` has {} there", score(place(j)), d_.values_name,
                         figure(values_[j]));
    case RankingFault::order:
      return fmt::format("{} stands behind {}: not in descending order", score(place(j)),
                         score(place(j - 1)));
    case RankingFault::not_greatest: {
      std::size_t missed = right[j];
      for (const std::size_t at : right)
        if (taken_[at] != stamp_ && keys_[at] > keys_[place(j)]) {
          missed = at;
          break;
        }
      return fmt::format("{} was taken and {} left out, which is greater by {:.4g} steps of {}",
                         score(place(j)), score(missed),
                         steps_between(d_.scores_dtype, scores_[missed], scores_[place(j)]),
                         kw::name(d_.scores_dtype));
    }
    case RankingFault::none:
      break;
    }
    return {};
  }

  const RankingData& d_;
  std::size_t n_, k_;
  std::vector<double> scores_;
  std::vector<std::int64_t> keys_;
  std::vector<double> places_, values_;
  std::vector<std::uint64_t> taken_; ///< equals the stamp: taken in this row
  std::uint64_t stamp_ = 0;
  RankingResult result_;
};

} // namespace

std::string_view name(RankingFault f) {
  switch (f) {
  case RankingFault::none:
    return "";
  case RankingFault::out_of_range:
    return "out of range";
  case RankingFault::repeated:
    return "repeated";
  case RankingFault::other_value:
    return "other value";
  case RankingFault::order:
    return "order";
  case RankingFault::not_greatest:
    return "not the greatest";
  }
  return "";
}

double steps_between(DType dtype, double a, double b) {
  if (!std::isfinite(a) || !std::isfinite(b))
    return std::numeric_limits<double>::infinity();
  const double at = std::max(std::min(std::fabs(a), std::fabs(b)), min_normal(dtype));
  return std::fabs(a - b) / std::ldexp(2 * unit_roundoff(dtype), std::ilogb(at));
}

RankingResult check_ranking(const RankingData& data) {
  KW_ASSERT(data.rows >= 0 && data.n >= 0 && data.k >= 0 && data.k <= data.n);
  KW_ASSERT(data.scores.size() >= byte_size(data.scores_dtype, data.rows * data.n));
  KW_ASSERT(data.places.size() >= byte_size(data.places_dtype, data.rows * data.k));
  KW_ASSERT(data.values.empty() ||
            data.values.size() >= byte_size(data.scores_dtype, data.rows * data.k));
  return Checker(data).run();
}

} // namespace kw
