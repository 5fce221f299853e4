// SPDX-License-Identifier: Apache-2.0
#include "judge/sampled.hpp"

#include <algorithm>
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

} // namespace

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

} // namespace kw
