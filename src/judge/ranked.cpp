// SPDX-License-Identifier: Apache-2.0
#include "judge/ranked.hpp"

#include "judge/mismatch.hpp"
#include "judge/trial.hpp"
#include "tensor/convert.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace kw {

RankingResult check_places(const BoundWorkload& workload, std::size_t output,
                           std::span<const std::span<const std::byte>> outputs,
                           std::span<const std::byte> scores) {
  const BoundOutput& places = workload.outputs[output];
  KW_ASSERT(places.ranking.has_value());
  const BoundRanking& r = *places.ranking;
  const BoundInput& input = workload.inputs[r.input];
  RankingData data;
  data.scores_dtype = input.draw.dtype;
  data.scores = scores;
  data.places_dtype = places.dtype;
  data.places = outputs[output];
  data.rows = r.rows, data.n = r.n, data.k = places.row;
  data.scores_name = input.name;
  if (r.values) {
    data.values = outputs[*r.values];
    data.values_name = workload.outputs[*r.values].name;
  }
  return check_ranking(data);
}

RankingEvidence evidence(const RankingResult& right, const BoundOutput& places,
                         std::span<const std::byte> got, std::span<const double> oracle) {
  RankingEvidence out;
  out.rows = right.rows;
  out.tied = right.tied_rows;
  out.least_margin = std::isfinite(right.least_margin) ? right.least_margin : 0;
  std::vector<double> row(static_cast<std::size_t>(places.row));
  for (std::size_t at = 0; !row.empty() && at < oracle.size(); at += row.size()) {
    to_double(places.dtype, got.subspan(byte_size(places.dtype, static_cast<std::int64_t>(at))),
              row);
    out.reordered +=
        !std::equal(row.begin(), row.end(), oracle.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return out;
}

void add(std::optional<RankingEvidence>& sum, const std::optional<RankingEvidence>& one) {
  if (!one)
    return;
  if (!sum) {
    sum = one;
    return;
  }
  sum->rows += one->rows;
  sum->tied += one->tied;
  sum->reordered += one->reordered;
  if (one->least_margin > 0 && (sum->least_margin == 0 || one->least_margin < sum->least_margin))
    sum->least_margin = one->least_margin;
}

std::vector<double> only_answers(const BoundWorkload& workload, std::size_t output,
                                 std::span<const std::byte> scores,
                                 std::span<const double> oracle) {
  const BoundOutput& places = workload.outputs[output];
  const BoundInput& input = workload.inputs[places.ranking->input];
  const auto k = static_cast<std::size_t>(places.row);
  std::vector<std::byte> stored(byte_size(places.dtype, places.row));
  std::vector<double> out;
  for (std::int64_t r = 0; r < places.ranking->rows; ++r) {
    const std::span<const double> row = oracle.subspan(static_cast<std::size_t>(r) * k, k);
    from_double(places.dtype, row, stored);
    RankingData data;
    data.scores_dtype = input.draw.dtype;
    data.scores = scores.subspan(byte_size(input.draw.dtype, r * places.ranking->n));
    data.places_dtype = places.dtype;
    data.places = stored;
    data.rows = 1, data.n = places.ranking->n, data.k = places.row;
    if (const RankingResult one = check_ranking(data); one.bad == 0 && one.tied_rows == 0)
      out.insert(out.end(), row.begin(), row.end());
  }
  return out;
}

std::string ranking_sentence(const std::vector<WorkloadTrials>& workloads) {
  std::optional<RankingEvidence> all;
  for (const WorkloadTrials& w : workloads)
    add(all, w.ranking);
  if (!all)
    return {};
  std::string out = fmt::format("ranked rows: {}, {} of them tied at the boundary; {} answered in "
                                "another right way than the oracle's",
                                all->rows, all->tied, all->reordered);
  if (all->least_margin > 0)
    out += fmt::format("; least gap at a boundary without a tie: {:.3g} ulp", all->least_margin);
  return out;
}

bool TrialRunner::right_places(std::size_t output, const CallReport& report) const {
  return check_places(*workload_, output, report.outputs,
                      staged_[workload_->outputs[output].ranking->input])
             .bad == 0;
}

bool TrialRunner::check_ranked(std::size_t output, const CallReport& report,
                               const Expected& expected, TrialResult& result) const {
  const BoundOutput& places = workload_->outputs[output];
  const RankingResult found =
      check_places(*workload_, output, report.outputs, staged_[places.ranking->input]);
  if (found.bad == 0) {
    add(result.ranking,
        evidence(found, places, report.outputs[output], expected.outputs[output].y));
    return true;
  }
  // Values that were never written belong to no place either: then they are what is wrong.
  const auto left = [&](std::size_t o) {
    return never_written(workload_->outputs[o], report.outputs[o], found.first_bad, found.bad,
                         key_.poison);
  };
  const bool values_left =
      found.fault == RankingFault::other_value && left(*places.ranking->values);
  Mismatch m;
  m.workload = workload_->workload.uuid;
  m.input_class = std::string(name(key_.input_class));
  m.trial = key_.trial;
  m.output = values_left ? workload_->outputs[*places.ranking->values].name : places.name;
  m.at = coordinates(found.first_bad, places.shape);
  m.got = found.got, m.want = found.want;
  m.bad_elements = found.bad, m.elements = found.elements;
  m.pattern = values_left || left(output) ? "poison left" : name(found.fault);
  result.finding = Finding::wrong;
  result.detail =
      fmt::format("{} of {} rows of `{}` wrong on {} (inputs: {}), first at [{}]: {}; pattern: {}",
                  found.bad_rows, found.rows, m.output, workload_->axes_text, m.input_class,
                  fmt::join(m.at, ", "), found.words, m.pattern);
  result.mismatch = std::move(m);
  return false;
}

} // namespace kw
