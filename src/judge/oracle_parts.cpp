// SPDX-License-Identifier: Apache-2.0
// The oracle's further entries: parts of outputs too large to recompute, and inputs with near-ties.
#include "judge/stopwatch.hpp"
#include "judge/trial.hpp"

#include <cstring>
#include <numeric>
#include <utility>

namespace kw {
namespace {

std::vector<double> doubles(std::span<const std::byte> bytes) {
  std::vector<double> out(bytes.size() / sizeof(double));
  std::memcpy(out.data(), bytes.data(), out.size() * sizeof(double));
  return out;
}

Argument input(std::size_t index) {
  return {.kind = Argument::Kind::input, .index = index};
}
Argument output_of(std::size_t index) {
  return {.kind = Argument::Kind::output, .index = index};
}
Argument integer(std::int64_t value) {
  return {.kind = Argument::Kind::integer, .index = SIZE_MAX, .integer = value};
}

} // namespace

std::vector<Argument> TrialRunner::oracle_arguments(const std::vector<Argument>& extras,
                                                    const std::vector<Argument>& outputs) const {
  std::vector<Argument> out, axes;
  for (const Argument& a : arguments()) {
    const bool axis = a.kind == Argument::Kind::integer && a.index >= scalars_.size();
    if (a.kind != Argument::Kind::output)
      (axis ? axes : out).push_back(a);
  }
  for (const std::vector<Argument>* more : {&extras, &outputs, &std::as_const(axes)})
    out.insert(out.end(), more->begin(), more->end());
  return out;
}

Status TrialRunner::make_near_ties() {
  for (std::size_t i = 0; i < workload_->inputs.size(); ++i) {
    const BoundInput& of = workload_->inputs[i];
    const auto entry = oracle_.near_ties_entries.find(of.name);
    if (entry == oracle_.near_ties_entries.end() || !of.fixed.empty())
      continue;
    const auto secret = static_cast<std::int64_t>(coin(~key_.trial));
    KW_TRY(const CallReport report,
           call_oracle(entry->second, oracle_arguments({integer(secret)}, {output_of(0)}),
                       {of.bytes}));
    std::memcpy(staged_[i].data(), report.outputs[0].data(), of.bytes);
    if (const auto held = held_.find(static_cast<std::uint32_t>(i)); held != held_.end())
      held->second.forget();
  }
  return {};
}

Result<Expected> TrialRunner::expect_sampled() {
  const Stopwatch watch(costs_["oracle"]);
  const BoundOutput& output = workload_->outputs[0];
  const Extent e = extent(output);
  const bool projects = oracle_.project_entry != 0;
  SampledExpectation sampled;
  // Drawn only now: the outputs they test are fixed already.
  sampled.rows =
      exact_positions(e.rows, projects ? exact_lines : exact_rows_alone, seed_, key_.trial, 0);
  std::vector<std::int64_t> all_rows, all_cols(static_cast<std::size_t>(e.cols));
  std::iota(all_cols.begin(), all_cols.end(), std::int64_t{0});
  std::vector<double> x;
  if (projects) {
    sampled.signs = FreivaldsSigns::of(e.cols, seed_, key_.trial);
    sampled.cols = exact_positions(e.cols, exact_lines, seed_, key_.trial, 1);
    all_rows.resize(static_cast<std::size_t>(e.rows));
    std::iota(all_rows.begin(), all_rows.end(), std::int64_t{0});
    x = sampled.signs.matrix();
  }

  // The inputs stay where they are: the extra ones come last.
  std::vector<std::size_t> sizes = input_bytes_;
  const std::size_t first = sizes.size();
  std::vector<std::span<const std::byte>> extra = {std::as_bytes(std::span(sampled.rows)),
                                                   std::as_bytes(std::span(all_cols))};
  if (projects)
    for (const std::span<const std::byte> more :
         {std::as_bytes(std::span(sampled.cols)), std::as_bytes(std::span(all_rows)),
          std::as_bytes(std::span(x))})
      extra.push_back(more);
  for (const std::span<const std::byte> bytes : extra)
    sizes.push_back(bytes.size());
  KW_TRY(const std::vector<std::span<std::byte>> views,
         session_.stage(sizes, key_.placement, canary()));
  for (std::size_t i = 0; i < first; ++i)
    KW_ASSERT(views[i].data() == staged_[i].data());
  for (std::size_t i = 0; i < std::size(extra); ++i)
    std::memcpy(views[first + i].data(), extra[i].data(), extra[i].size());

  const auto run = [&](std::size_t entry, const std::vector<Argument>& extras,
                       std::int64_t elements, std::vector<double>& y,
                       std::vector<double>& s) -> Status {
    const std::size_t bytes = static_cast<std::size_t>(elements) * sizeof(double);
    KW_TRY(
        const CallReport report,
        call_oracle(entry, oracle_arguments(extras, {output_of(0), output_of(1)}), {bytes, bytes}));
    y = doubles(report.outputs[0]);
    s = doubles(report.outputs[1]);
    return {};
  };
  const auto count = [](const std::vector<std::int64_t>& v) {
    return static_cast<std::int64_t>(v.size());
  };
  const Argument rows = input(first), columns = input(first + 1);
  KW_CHECK(run(oracle_.block_entry, {rows, integer(count(sampled.rows)), columns, integer(e.cols)},
               count(sampled.rows) * e.cols, sampled.row_y, sampled.row_s));
  if (projects) {
    KW_CHECK(
        run(oracle_.block_entry,
            {input(first + 3), integer(e.rows), input(first + 2), integer(count(sampled.cols))},
            e.rows * count(sampled.cols), sampled.col_y, sampled.col_s));
    KW_CHECK(run(oracle_.project_entry, {input(first + 4), integer(e.blocks)}, e.rows * e.blocks,
                 sampled.yx, sampled.magx));
  }
  // The next call may look at all of this arena: what this trial was checked with goes.
  for (std::size_t i = 0; i < std::size(extra); ++i)
    std::memset(views[first + i].data(), 0, views[first + i].size());
  Expected expected;
  expected.outputs.emplace_back();
  expected.sampled = std::move(sampled);
  return expected;
}

} // namespace kw
