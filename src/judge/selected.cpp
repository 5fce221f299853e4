// SPDX-License-Identifier: Apache-2.0
#include "judge/selected.hpp"

#include "judge/mismatch.hpp"
#include "judge/ranked.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace kw {

SelectionResult check_ids(const BoundOutput& output, std::span<const std::byte> ids,
                          const Expected::Tensor& expected, double eta) {
  KW_ASSERT(output.selection.has_value());
  SelectionData data;
  data.candidates = {expected.ids, expected.scores, expected.magnitude};
  data.ids_dtype = output.dtype;
  data.ids = ids;
  data.rows = output.selection->rows, data.n = output.selection->n, data.k = output.row;
  data.eta = eta;
  data.unit = unit_roundoff(output.tolerance.accumulate);
  return check_selection(data);
}

std::shared_ptr<const std::vector<double>> chosen_of(const BoundOutput& output,
                                                     const Expected::Tensor& tensor) {
  return std::make_shared<const std::vector<double>>(
      greatest_ids({tensor.ids, tensor.scores, tensor.magnitude}, output.selection->rows,
                   output.selection->n, output.row));
}

std::vector<std::size_t> oracle_bytes(const BoundOutput& output, bool magnitudes) {
  if (output.selection)
    return std::vector<std::size_t>(
        3, static_cast<std::size_t>(output.selection->rows * output.selection->n) * sizeof(double));
  return std::vector<std::size_t>(magnitudes ? 2 : 1,
                                  static_cast<std::size_t>(output.elements) * sizeof(double));
}

bool TrialRunner::check_selected(std::size_t output, const CallReport& report,
                                 const Expected& expected, double slack,
                                 TrialResult& result) const {
  const BoundOutput& ids = workload_->outputs[output];
  const double eta = bound_for(ids, expected.outputs[output], true).eta;
  const SelectionResult found =
      check_ids(ids, report.outputs[output], expected.outputs[output], slack * eta);
  result.max_eta = std::max(result.max_eta, found.max_eta);
  result.strain = std::max(result.strain, found.max_eta / eta);
  if (found.bad == 0) {
    if (found.contested > 0)
      add(result.ranking, RankingEvidence{.rows = found.contested,
                                          .tied = found.open,
                                          .reordered = found.other,
                                          .least_margin = 0});
    return true;
  }
  Mismatch m;
  m.workload = workload_->workload.uuid;
  m.input_class = std::string(name(key_.input_class));
  m.trial = key_.trial;
  m.output = ids.name;
  m.at = coordinates(found.first_bad, ids.shape);
  m.got = found.got, m.want = found.want;
  m.bad_elements = found.bad, m.elements = found.elements;
  m.pattern = never_written(ids, report.outputs[output], found.first_bad, found.bad, key_.poison)
                  ? "poison left"
                  : name(found.fault);
  result.finding = Finding::wrong;
  result.detail =
      fmt::format("{} of {} rows of `{}` wrong on {} (inputs: {}), first at [{}]: {}; pattern: {}",
                  found.bad_rows, found.rows, m.output, workload_->axes_text, m.input_class,
                  fmt::join(m.at, ", "), found.words, m.pattern);
  result.mismatch = std::move(m);
  return false;
}

} // namespace kw
