// SPDX-License-Identifier: Apache-2.0
#include "judge/mismatch.hpp"

#include "runner/poison.hpp"
#include "tensor/error_regions.hpp"
#include "tensor/wrong_place.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace kw {
namespace {

MismatchPlace place_of(const BoundOutput& output, std::span<const std::byte> got,
                       std::span<const double> want, const CompareResult& c) {
  const WrongPlace& p = *c.place;
  MismatchPlace out{.cluster = std::string(p.cluster),
                    .text = place_text(p, output.shape),
                    .rows = p.rows,
                    .columns = p.columns,
                    .bad_rows = p.bad_rows,
                    .bad_columns = p.bad_columns,
                    .first_row = p.first_row,
                    .last_row = p.last_row,
                    .first_column = p.first_column,
                    .last_column = p.last_column};
  const ErrorRegions e = error_regions(output.dtype, got, want, output.row);
  out.relative_error = e.relative;
  out.worst_row = e.worst_row, out.worst_row_error = e.worst_row_error;
  out.worst_tile_row = e.worst_tile_row, out.worst_tile_column = e.worst_tile_column;
  out.worst_tile_error = e.worst_tile_error;
  out.max_abs = c.max_abs, out.max_eta = c.max_eta;
  out.max_ulp = max_ulp(output.dtype, got, want);
  return out;
}

} // namespace

bool never_written(const BoundOutput& output, std::span<const std::byte> got,
                   std::uint64_t first_bad, std::uint64_t bad, std::uint32_t poison) {
  const std::size_t pair = byte_size(output.dtype, 2),
                    packed = pair == 1 ? 2 : 1; // float4: two in a byte
  const std::size_t size = pair * packed / 2;
  return holds_poison(got, size, first_bad / packed, poison) &&
         2 * packed * count_poisoned(got, size, poison) >= bad;
}

std::vector<std::int64_t> coordinates(std::uint64_t flat, const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> at(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    const auto size = static_cast<std::uint64_t>(std::max<std::int64_t>(shape[i], 1));
    at[i] = static_cast<std::int64_t>(flat % size);
    flat /= size;
  }
  return at;
}

std::string figure(double v) {
  return std::isnan(v) ? "nan" : fmt::format("{:.9g}", v);
}

Mismatch describe_mismatch(const BoundOutput& output, std::span<const std::byte> got,
                           std::span<const double> want, const CompareResult& result,
                           std::uint32_t poison) {
  Mismatch m;
  m.output = output.name;
  m.at = coordinates(result.first_bad, output.shape);
  m.got = result.got, m.want = result.want, m.bound = result.bound;
  m.bad_elements = result.bad, m.elements = result.elements;
  m.pattern = never_written(output, got, result.first_bad, result.bad, poison) ? "poison left"
                                                                               : result.pattern;
  if (result.place && want.size() == result.elements)
    m.place = place_of(output, got, want, result);
  return m;
}

std::string mismatch_detail(const Mismatch& m, const std::string& axes_text) {
  // What kind of wrong, where the place does not say it already.
  const bool told = m.place && m.pattern != "poison left" && m.pattern != "non-finite";
  return fmt::format("{} of {} elements of `{}` wrong on {} (inputs: {}), {}first at [{}]: got {}, "
                     "should be {} within {:.3g}{}",
                     m.bad_elements, m.elements, m.output, axes_text, m.input_class,
                     m.place ? m.place->text + "; " : "", fmt::join(m.at, ", "), figure(m.got),
                     figure(m.want), m.bound, told ? "" : "; pattern: " + m.pattern);
}

} // namespace kw
