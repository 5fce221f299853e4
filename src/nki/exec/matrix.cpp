// SPDX-License-Identifier: Apache-2.0
// TensorE: products with float32 sums, and transposes.
#include "nki/exec/work.hpp"

#include <algorithm>
#include <array>
#include <cblas.h>
#include <cmath>

namespace kw::nki {
namespace {

/// A tile as a float32 matrix [partitions, free]: where it lies, or a copy.
struct Operand2 {
  const float* data = nullptr;
  std::int64_t leading = 0, rows = 0, columns = 0;
  std::vector<float> copy;
};

bool is_identity(const Operand2& m) {
  for (std::int64_t r = 0; r < m.rows; ++r)
    for (std::int64_t c = 0; c < m.columns; ++c)
      if (m.data[r * m.leading + c] != (r == c ? 1.0F : 0.0F))
        return false;
  return true;
}

/// y[c, r] = x[r, c] by blocks that fit the cache.
void transpose_into(const float* x, std::int64_t x_leading, std::int64_t rows, std::int64_t columns,
                    float* y, std::int64_t y_leading) {
  constexpr std::int64_t block = 16;
  for (std::int64_t r0 = 0; r0 < rows; r0 += block)
    for (std::int64_t c0 = 0; c0 < columns; c0 += block)
      for (std::int64_t c = c0; c < std::min(c0 + block, columns); ++c)
        for (std::int64_t r = r0; r < std::min(r0 + block, rows); ++r)
          y[c * y_leading + r] = x[r * x_leading + c];
}

} // namespace

void Work::matmul() {
  const View &s = *instruction.sources[0].view(), &m = *instruction.sources[1].view();
  const auto masked = [&](const View& v) {
    return region_of(v.operand_mask ? *v.operand_mask : Mask{}, v.shape(), machine.values_);
  };
  Region rs = masked(s), rm = masked(m), rd = region(instruction.dst.shape());
  // A mask of the result spares the columns of the operands, and the other way round: what is cut
  // off leaves the result there as it is.
  const auto meet = [](Region& operand, Region& result, std::size_t dim) {
    operand.low[1] = result.low[dim] = std::max(operand.low[1], result.low[dim]);
    operand.high[1] = result.high[dim] = std::min(operand.high[1], result.high[dim]);
  };
  const bool plain = rs.low.size() == 2 && rm.low.size() == 2 && rd.low.size() == 2 &&
                     rs.slopes.empty() && rm.slopes.empty() && rd.slopes.empty();
  if (plain)
    meet(rs, rd, 0), meet(rm, rd, 1);
  if (rs.is_empty() || rm.is_empty() || rd.is_empty())
    return;
  Access from_s(machine, instruction, s, rs), from_m(machine, instruction, m, rm);
  if (!from_s.ok() || !from_m.ok())
    return;
  const auto load = [](Access& a, const Region& r, Operand2& out) {
    out.rows = r.high[0] - r.low[0];
    out.columns = 1;
    for (std::size_t j = 1; j < r.low.size(); ++j)
      out.columns *= r.high[j] - r.low[j];
    if (const float* in_place = a.matrix(out.leading, false)) {
      out.data = in_place;
      return true;
    }
    a.gather_matrix(out.copy);
    out.leading = out.columns;
    out.data = out.copy.data();
    return static_cast<std::int64_t>(out.copy.size()) == out.rows * out.columns;
  };
  Operand2 stationary, moving;
  if (!load(from_s, rs, stationary) || !load(from_m, rm, moving))
    return;
  const std::int64_t K = std::min(stationary.rows, moving.rows), M = stationary.columns,
                     N = moving.columns;
  Access to(machine, instruction, instruction.dst, rd);
  if (!to.ok())
    return;
  const bool as_transpose = instruction.transposes && K == N && is_identity(moving);
  std::int64_t leading = 0;
  float* out = !plain                   ? nullptr
               : instruction.accumulate ? to.matrix(leading, false, true)
                                        : to.matrix(leading, true);
  if (out != nullptr && instruction.accumulate)
    out = to.matrix(leading, true, true);
  const auto multiply = [&](float* c, std::int64_t ldc, float beta) {
    if (as_transpose && beta == 0)
      return transpose_into(stationary.data, stationary.leading, K, M, c, ldc);
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, static_cast<blasint>(M),
                static_cast<blasint>(N), static_cast<blasint>(K), 1.0F, stationary.data,
                static_cast<blasint>(stationary.leading), moving.data,
                static_cast<blasint>(moving.leading), beta, c, static_cast<blasint>(ldc));
  };
  std::vector<char> rows(static_cast<std::size_t>(M), 0), columns(static_cast<std::size_t>(N), 0);
  const bool undefined_rows = from_s.take_undefined_columns(rows),
             undefined_columns = from_m.take_undefined_columns(columns);
  const auto hand_on = [&] { // a sum with an undefined term is undefined
    if ((!undefined_rows && !undefined_columns) || !plain)
      return;
    for (std::int64_t r = 0; r < M; ++r) {
      const std::array<std::int64_t, 1> place = {rd.low[0] + r};
      const bool all = rows[static_cast<std::size_t>(r)] != 0;
      to.undefine_row(place, rd.low[1], all ? std::vector<char>(columns.size(), 1) : columns,
                      (undefined_rows ? from_s : from_m).origin());
    }
  };
  if (out != nullptr && !instruction.via) {
    multiply(out, leading, instruction.accumulate ? 1.0F : 0.0F);
    return hand_on();
  }
  std::vector<float> product(static_cast<std::size_t>(M * N));
  multiply(product.data(), N, 0.0F);
  round_via(product.data(), M * N);
  std::vector<float> scratch;
  for_rows(rd, [&](std::span<const std::int64_t> place, std::int64_t low, std::int64_t high) {
    std::int64_t column = 0;
    for (std::size_t j = 1; j < place.size(); ++j)
      column = column * instruction.dst.dims[j].size + place[j];
    column = instruction.dst.dims.size() > 1 ? column * instruction.dst.dims.back().size + low : 0;
    const std::int64_t first_row = plain ? rd.low[0] : 0, first_column = plain ? rd.low[1] : 0;
    float* row = product.data() + (place.empty() ? low : place[0] - first_row) * N +
                 (place.empty() ? 0 : column - first_column);
    if (instruction.accumulate) {
      const auto before = to.floats(place, low, high, scratch, true);
      for (std::int64_t i = 0; i < high - low; ++i)
        row[i] += before.data[i * before.step];
    }
    to.store(place, low, high, row, instruction.accumulate);
  });
  hand_on();
}

void Work::transpose() {
  const View& data = *instruction.sources[0].view();
  const Region r = region(data.shape());
  if (r.is_empty())
    return;
  Access from(machine, instruction, data, r);
  if (!from.ok())
    return;
  const std::vector<std::int64_t> sizes = data.shape(), target = instruction.dst.shape();
  // Where dimension j of the source goes: of DMA by its own rules, of an engine partitions and free
  // elements change places.
  std::vector<std::int64_t> order(instruction.numbers.begin(), instruction.numbers.end());
  std::vector<float> values(static_cast<std::size_t>(data.elements()), 0.0F);
  std::vector<float> scratch;
  const std::size_t rank = sizes.size();
  const std::int64_t partitions = sizes[0], free = data.free_elements();
  std::vector<std::int64_t> out_stride(rank, 1);
  if (!order.empty()) {
    std::int64_t stride = 1;
    for (std::size_t j = rank; j-- > 0;) {
      out_stride[static_cast<std::size_t>(order[j])] = stride;
      stride *= sizes[static_cast<std::size_t>(order[j])];
    }
  }
  std::vector<char> undefined(values.size(), 0), flags;
  bool any = false;
  for_rows(r, [&](std::span<const std::int64_t> place, std::int64_t low, std::int64_t high) {
    const auto row = from.floats(place, low, high, scratch);
    flags.assign(static_cast<std::size_t>(high - low), 0);
    any = from.take_undefined(flags) || any;
    if (order.empty()) {
      std::int64_t column = 0;
      for (std::size_t j = 1; j < place.size(); ++j)
        column = column * sizes[j] + place[j];
      column = rank > 1 ? column * sizes[rank - 1] + low : 0;
      const std::int64_t p = rank > 1 ? place[0] : low;
      for (std::int64_t i = 0; i < high - low; ++i) {
        const auto target_at = static_cast<std::size_t>((column + i) * partitions + p);
        values[target_at] = row.data[i * row.step];
        undefined[target_at] = flags[static_cast<std::size_t>(i)];
      }
      return;
    }
    std::int64_t at = 0;
    for (std::size_t j = 0; j + 1 < rank; ++j)
      at += place[j] * out_stride[j];
    for (std::int64_t i = low; i < high; ++i) {
      const auto target_at = static_cast<std::size_t>(at + i * out_stride[rank - 1]);
      values[target_at] = row.data[(i - low) * row.step];
      undefined[target_at] = flags[static_cast<std::size_t>(i - low)];
    }
  });
  round_via(values.data(), static_cast<std::int64_t>(values.size()));
  Region out;
  out.low.assign(target.size(), 0);
  out.high = target;
  if (order.empty() && out.low.size() == 2 && r.slopes.empty()) { // what the mask left out stays
    out.low = {r.low.size() > 1 ? r.low[1] : 0, r.low[0]};
    out.high = {r.low.size() > 1 ? r.high[1] : 1, r.high[0]};
    if (r.low.size() > 2)
      out.low[0] = 0, out.high[0] = free;
  }
  Access to(machine, instruction, instruction.dst, out);
  if (!to.ok())
    return;
  const std::int64_t width = target.empty() ? 1 : target.back();
  for_rows(out, [&](std::span<const std::int64_t> place, std::int64_t low, std::int64_t high) {
    std::int64_t row = 0;
    for (std::size_t j = 0; j < place.size(); ++j)
      row = row * target[j] + place[j];
    to.store(place, low, high, values.data() + row * width + low);
    if (any) {
      const auto begin = undefined.begin() + (row * width + low);
      to.undefine({begin, begin + (high - low)}, from.origin());
    }
  });
}

} // namespace kw::nki
