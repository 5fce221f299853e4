// SPDX-License-Identifier: Apache-2.0
#include "tensor/error_units.hpp"

#include "base/result.hpp"
#include "tensor/compare.hpp"
#include "tensor/convert.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace kw {
namespace {

constexpr std::size_t block_size = 512; // even: float4 packs two in a byte

} // namespace

void ErrorUnits::add(DType dtype, std::span<const std::byte> got, std::span<const double> want,
                     std::span<const double> magnitude, double u_acc, std::int64_t row) {
  KW_ASSERT(got.size() >= byte_size(dtype, static_cast<std::int64_t>(want.size())));
  KW_ASSERT(magnitude.empty() || magnitude.size() == want.size());
  const double u_out = unit_roundoff(dtype), least = min_normal(dtype);
  const auto columns = static_cast<std::size_t>(std::max<std::int64_t>(row, 1));
  std::array<double, block_size> have{}, nearest{};
  std::array<std::byte, block_size * 8> stored{};
  double row_rms = 0;
  for (std::size_t at = 0; at < want.size(); at += block_size) {
    const std::size_t n = std::min(block_size, want.size() - at);
    to_double(dtype, got.subspan(byte_size(dtype, static_cast<std::int64_t>(at))),
              std::span(have).first(n));
    from_double(dtype, want.subspan(at, n), stored);
    to_double(dtype, stored, std::span(nearest).first(n));
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t index = at + i;
      if (magnitude.empty() && index % columns == 0)
        row_rms = kw::rms(want.subspan(index, std::min(columns, want.size() - index)));
      const double w = want[index];
      if (!std::isfinite(w) || !std::isfinite(have[i]))
        continue;
      const double y = std::max(std::fabs(w), least), error = std::fabs(have[i] - w);
      const double s = magnitude.empty() ? 0 : std::fabs(magnitude[index]);
      const double unit = magnitude.empty() ? u_out * std::max(y, row_rms)
                                            : u_out * y + (std::isfinite(s) ? u_acc * s : 0);
      const double units = error / unit;
      ++elements;
      squares += units * units;
      max = std::max(max, units);
      beyond_rounding += error > 4 * u_out * y ? 1 : 0;
      inexact += have[i] != nearest[i] ? 1 : 0;
    }
  }
}

double ErrorUnits::rms() const {
  return elements == 0 ? 0 : std::sqrt(squares / static_cast<double>(elements));
}

} // namespace kw
