// SPDX-License-Identifier: Apache-2.0
#include "tensor/selection.hpp"

#include "base/result.hpp"
#include "tensor/convert.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <numeric>

namespace kw {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// One row of the candidates.
struct Row {
  std::span<const double> ids, scores, magnitudes;
  std::vector<std::size_t> present; ///< those that are candidates, in order

  Row(const Candidates& all, std::int64_t row, std::int64_t n) {
    const auto at = static_cast<std::size_t>(row * n), count = static_cast<std::size_t>(n);
    ids = all.ids.subspan(at, count), scores = all.scores.subspan(at, count);
    if (!all.magnitudes.empty())
      magnitudes = all.magnitudes.subspan(at, count);
    for (std::size_t i = 0; i < count; ++i)
      if (ids[i] >= 0)
        present.push_back(i);
  }
  /// The k greatest first among `present`, in falling order, of equal ones the first.
  [[nodiscard]] std::vector<std::size_t> ordered(std::size_t k) const {
    std::vector<std::size_t> order = present;
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(k, order.size()));
    const auto score = [&](std::size_t i) { return std::isnan(scores[i]) ? -infinity : scores[i]; };
    std::partial_sort(order.begin(), end, order.end(), [&](std::size_t a, std::size_t b) {
      return score(a) != score(b) ? score(a) > score(b) : a < b;
    });
    return order;
  }
};

class Checker {
 public:
  explicit Checker(const SelectionData& data)
      : d_(data), k_(static_cast<std::size_t>(data.k)), got_(k_) {}

  SelectionResult run() {
    result_.rows = static_cast<std::uint64_t>(d_.rows);
    result_.elements = result_.rows * k_;
    for (std::int64_t r = 0; r < d_.rows && k_ > 0; ++r) {
      const Row row(d_.candidates, r, d_.n);
      const std::uint64_t bad = check(row, r);
      result_.bad += bad;
      result_.bad_rows += bad != 0;
    }
    return std::move(result_);
  }

 private:
  std::uint64_t check(const Row& row, std::int64_t r) {
    to_double(d_.ids_dtype, d_.ids.subspan(byte_size(d_.ids_dtype, r * d_.k)), got_);
    const std::size_t m = std::min(k_, row.present.size());
    std::vector<std::size_t> by_id = row.present;
    std::sort(by_id.begin(), by_id.end(),
              [&](std::size_t a, std::size_t b) { return row.ids[a] < row.ids[b]; });
    taken_.assign(static_cast<std::size_t>(d_.n), 0);
    chosen_.clear();
    std::uint64_t bad = 0;
    for (std::size_t j = 0; j < k_; ++j) {
      const SelectionFault fault = entry(row, by_id, j, m);
      if (fault != SelectionFault::none && bad++ == 0)
        note(row, r, j, fault, none_left_out);
    }
    return bad != 0 || row.present.size() <= k_ ? bad : weigh(row, r);
  }

  SelectionFault entry(const Row& row, const std::vector<std::size_t>& by_id, std::size_t j,
                       std::size_t m) {
    const double id = got_[j];
    if (j >= m)
      return id == -1 ? SelectionFault::none : SelectionFault::padding;
    if (id == -1)
      return SelectionFault::missing;
    const auto found =
        std::lower_bound(by_id.begin(), by_id.end(), id,
                         [&](std::size_t at, double wanted) { return row.ids[at] < wanted; });
    if (found == by_id.end() || row.ids[*found] != id)
      return SelectionFault::unreachable;
    if (taken_[*found] != 0)
      return SelectionFault::repeated;
    taken_[*found] = 1;
    chosen_.push_back(*found);
    return SelectionFault::none;
  }

  [[nodiscard]] double error(const Row& row, std::size_t at) const {
    return d_.eta * d_.unit * row.magnitudes[at];
  }

  /// Rows with more candidates than places, all entries of which are candidates.
  std::uint64_t weigh(const Row& row, std::int64_t r) {
    double reach = infinity; ///< no taken score can be greater than this and be the least of them
    std::size_t least = 0, worst = 0;
    for (std::size_t j = 0; j < chosen_.size(); ++j) {
      const std::size_t at = chosen_[j];
      if (const double high = row.scores[at] + error(row, at); !(high >= reach))
        reach = high, worst = j;
      if (row.scores[at] < row.scores[chosen_[least]])
        least = j;
    }
    std::uint64_t above = 0;
    double floor = -infinity;
    std::size_t missed = none_left_out, best = none_left_out;
    for (const std::size_t at : row.present) {
      if (taken_[at] != 0)
        continue;
      const double low = row.scores[at] - error(row, at);
      above += !(low <= reach);
      if (missed == none_left_out || !(low <= floor))
        floor = low, missed = at;
      if (best == none_left_out || row.scores[at] > row.scores[best])
        best = at;
    }
    if (above != 0) {
      note(row, r, worst, SelectionFault::not_greatest, missed);
      return std::min<std::uint64_t>(above, k_);
    }
    const std::size_t last = chosen_[least];
    if (const double gap = row.scores[best] - row.scores[last]; gap > 0)
      result_.max_eta = std::max(result_.max_eta,
                                 gap / (d_.unit * (row.magnitudes[best] + row.magnitudes[last])));
    count(row);
    return 0;
  }

  /// How hard a row was that is right.
  void count(const Row& row) {
    ++result_.contested;
    const std::vector<std::size_t> order = row.ordered(k_);
    double low = infinity, high = -infinity;
    bool same = true;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const double e = error(row, order[i]);
      if (i < k_)
        low = std::min(low, row.scores[order[i]] - e), same = same && taken_[order[i]] != 0;
      else
        high = std::max(high, row.scores[order[i]] + e);
    }
    result_.open += high >= low;
    result_.other += !same;
  }

  void note(const Row& row, std::int64_t r, std::size_t j, SelectionFault fault,
            std::size_t missed) {
    if (result_.fault != SelectionFault::none)
      return;
    const std::vector<std::size_t> right = row.ordered(k_);
    const std::size_t m = std::min(k_, row.present.size());
    result_.fault = fault;
    result_.first_bad = static_cast<std::uint64_t>(r) * k_ + j;
    result_.got = got_[j];
    result_.want = missed != none_left_out ? row.ids[missed] : j < m ? row.ids[right[j]] : -1;
    switch (fault) {
    case SelectionFault::unreachable:
      result_.words =
          fmt::format("{} is none of the {} candidates of its row", got_[j], row.present.size());
      break;
    case SelectionFault::repeated:
      result_.words = fmt::format("{} appears twice, as number {} and {}", got_[j],
                                  std::find(got_.begin(), got_.end(), got_[j]) - got_.begin(), j);
      break;
    case SelectionFault::missing:
      result_.words = fmt::format("-1 as number {}, and its row has {} candidates for {} places", j,
                                  row.present.size(), k_);
      break;
    case SelectionFault::padding:
      result_.words = fmt::format("{} as number {}, where the {} candidates of its row leave -1",
                                  got_[j], j, row.present.size());
      break;
    case SelectionFault::not_greatest: {
      const std::size_t at = chosen_[j];
      result_.words = fmt::format(
          "{} was taken (score {:.9g}, at most {:.2g} off) and {} left out ({:.9g}, {:.2g})",
          row.ids[at], row.scores[at], error(row, at), row.ids[missed], row.scores[missed],
          error(row, missed));
      break;
    }
    case SelectionFault::none:
      break;
    }
  }

  static constexpr std::size_t none_left_out = SIZE_MAX;
  const SelectionData& d_;
  std::size_t k_;
  std::vector<double> got_;
  std::vector<char> taken_;
  std::vector<std::size_t> chosen_; ///< candidates by place in the answer
  SelectionResult result_;
};

} // namespace

std::string_view name(SelectionFault f) {
  switch (f) {
  case SelectionFault::none:
    return "";
  case SelectionFault::unreachable:
    return "unreachable";
  case SelectionFault::repeated:
    return "taken twice";
  case SelectionFault::missing:
    return "missing";
  case SelectionFault::padding:
    return "padding";
  case SelectionFault::not_greatest:
    return "not among the greatest";
  }
  return "";
}

SelectionResult check_selection(const SelectionData& data) {
  const auto places = static_cast<std::size_t>(data.rows * data.n);
  KW_ASSERT(data.rows >= 0 && data.n >= 0 && data.k >= 0 && data.eta >= 0 && data.unit > 0);
  KW_ASSERT(data.candidates.ids.size() >= places && data.candidates.scores.size() >= places &&
            data.candidates.magnitudes.size() >= places);
  KW_ASSERT(data.ids.size() >= byte_size(data.ids_dtype, data.rows * data.k));
  return Checker(data).run();
}

std::vector<double> greatest_ids(const Candidates& candidates, std::int64_t rows, std::int64_t n,
                                 std::int64_t k) {
  std::vector<double> out(static_cast<std::size_t>(rows * k), -1);
  for (std::int64_t r = 0; r < rows; ++r) {
    const Row row(candidates, r, n);
    const std::vector<std::size_t> order = row.ordered(static_cast<std::size_t>(k));
    const std::size_t m = std::min(order.size(), static_cast<std::size_t>(k));
    for (std::size_t j = 0; j < m; ++j)
      out[static_cast<std::size_t>(r * k) + j] = row.ids[order[j]];
  }
  return out;
}

} // namespace kw
