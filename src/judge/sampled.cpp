// SPDX-License-Identifier: Apache-2.0
#include "judge/sampled.hpp"

#include "tensor/convert.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace kw {
namespace {

std::vector<std::int64_t> all(std::int64_t n) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(n));
  std::iota(out.begin(), out.end(), std::int64_t{0});
  return out;
}

/// Keeps the worse of two results; positions are those of the first failure.
void merge(CompareResult& into, const CompareResult& other) {
  if (into.bad == 0 && other.bad > 0) {
    into.first_bad = other.first_bad;
    into.got = other.got, into.want = other.want, into.bound = other.bound;
    into.pattern = other.pattern;
  }
  into.bad += other.bad;
  into.max_abs = std::max(into.max_abs, other.max_abs);
  into.max_rel = std::max(into.max_rel, other.max_rel);
  into.max_eta = std::max(into.max_eta, other.max_eta);
  into.class_mismatches += other.class_mismatches;
}

/// Compares a sub-block and translates its first failure to the whole output's coordinates.
CompareResult compare_block(const BoundOutput& output, std::span<const std::byte> got,
                            std::int64_t cols, std::span<const std::int64_t> at_rows,
                            std::span<const std::int64_t> at_cols, std::span<const double> y,
                            std::span<const double> s, const Bound& bound) {
  const std::vector<std::byte> block = gather(output.dtype, got, cols, at_rows, at_cols);
  const auto width = static_cast<std::uint64_t>(at_cols.size());
  CompareResult c = compare(output.dtype, block, y, s, bound, static_cast<std::int64_t>(width));
  if (c.bad > 0)
    c.first_bad = static_cast<std::uint64_t>(at_rows[c.first_bad / width] * cols +
                                             at_cols[c.first_bad % width]);
  return c;
}

/// The first element that is no finite number, as a failure; its row may not be among the exact
/// ones.
CompareResult compare_finite(const BoundOutput& output, std::span<const std::byte> got) {
  CompareResult c;
  std::array<double, 4096> values{};
  for (std::int64_t at = 0; at < output.elements; at += std::ssize(values)) {
    const std::int64_t n = std::min<std::int64_t>(std::ssize(values), output.elements - at);
    const std::span<double> some = std::span(values).first(static_cast<std::size_t>(n));
    to_double(output.dtype, got.subspan(byte_size(output.dtype, at)), some);
    for (std::int64_t i = 0; i < n; ++i) {
      if (const double v = some[static_cast<std::size_t>(i)];
          std::isfinite(v) || ++c.class_mismatches > 1)
        continue;
      c.first_bad = static_cast<std::uint64_t>(at + i);
      c.got = some[static_cast<std::size_t>(i)];
      c.pattern = "an element that is not finite";
    }
  }
  c.bad = c.class_mismatches;
  return c;
}

} // namespace

bool can_sample(const BoundWorkload& workload, const Oracle& oracle) {
  if (oracle.block_entry == 0 || workload.outputs.size() != 1)
    return false;
  const BoundOutput& output = workload.outputs[0];
  // A projection cannot tell errors from rounding in the coarsest format.
  return !(oracle.project_entry != 0 && output.dtype == DType::float8_e5m2) &&
         !output.tolerance.exact && !output.has_many_answers();
}

Extent extent(const BoundOutput& output) {
  Extent e;
  e.cols = output.row;
  e.rows = output.row > 0 ? output.elements / output.row : 0;
  e.blocks = (e.cols + freivalds_block - 1) / freivalds_block;
  return e;
}

CompareResult compare_sampled(const BoundOutput& output, std::span<const std::byte> got,
                              const SampledExpectation& expected, const Bound& bound) {
  const Extent e = extent(output);
  CompareResult result;
  result.elements = static_cast<std::uint64_t>(output.elements);
  merge(result, compare_block(output, got, e.cols, expected.rows, all(e.cols), expected.row_y,
                              expected.row_s, bound));
  if (expected.signs.sign.empty()) {
    merge(result, compare_finite(output, got));
    return result;
  }
  merge(result, compare_block(output, got, e.cols, all(e.rows), expected.cols, expected.col_y,
                              expected.col_s, bound));
  const Projection projection = project_blocks(output.dtype, got, e.rows, e.cols, expected.signs);
  const Result<FreivaldsResult> check =
      check_projection(projection, expected.yx, expected.magx, e.blocks,
                       {.stores = 1, .eta = bound.eta, .u_out = bound.u_out, .u_acc = bound.u_acc});
  KW_ASSERT(check.has_value()); // the definition's dtype was checked when the oracle was prepared
  CompareResult blocks;
  blocks.bad = check->bad;
  blocks.first_bad = static_cast<std::uint64_t>(check->row * e.cols + check->column);
  blocks.got = check->residual;
  blocks.bound = check->bound;
  blocks.pattern = "a block of 64 columns does not project to the true product";
  merge(result, blocks);
  return result;
}

std::optional<RowEvidence> row_evidence(const BoundOutput& output,
                                        const SampledExpectation& expected) {
  if (!expected.signs.sign.empty())
    return std::nullopt;
  RowEvidence out;
  out.rows = static_cast<std::uint64_t>(extent(output).rows);
  out.compared = expected.rows.size();
  out.trials = 1;
  return out;
}

void add(std::optional<RowEvidence>& sum, const std::optional<RowEvidence>& one) {
  if (one && sum)
    sum->trials += one->trials;
  else if (one)
    sum = one;
  if (!sum)
    return;
  // The first and the last row are always there; the others are drawn anew for every trial.
  constexpr double missed = 0.05;
  const double drawn = static_cast<double>(sum->trials) * (static_cast<double>(sum->compared) - 2);
  sum->seen_share = sum->compared >= sum->rows ? 0 : 1 - std::pow(missed, 1 / drawn);
}

std::string row_sentence(const RowEvidence& rows) {
  return fmt::format("{} of {} rows compared in each of {} trial{}, the first, the last and others "
                     "drawn after the call: a fault in {:.2g} % of the rows would have been seen "
                     "with a probability of 95 %",
                     rows.compared, rows.rows, rows.trials, rows.trials == 1 ? "" : "s",
                     100 * rows.seen_share);
}

} // namespace kw
