// SPDX-License-Identifier: Apache-2.0
#include "tensor/freivalds.hpp"

#include "tensor/convert.hpp"
#include "tensor/random.hpp"
#include "tensor/simd.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

namespace kw {
namespace {

/// Tensor numbers no input has: sequences of the checks are apart from those of the inputs.
constexpr std::uint32_t signs_tensor = 0xffffff00u, positions_tensor = 0xffffff10u;

constexpr auto block = static_cast<std::size_t>(freivalds_block);

/// Signed sum and sum of squares of one full block, in eight fixed lanes.
struct ProjectBlock {
  KW_INLINE void run(const double* y, const double* sign, std::size_t blocks, double* sum,
                     double* norm) {
    for (std::size_t b = 0; b < blocks; ++b) {
      std::array<double, 8> s{}, q{};
      for (std::size_t j = 0; j < block; j += 8)
        for (std::size_t lane = 0; lane < 8; ++lane) {
          const double v = y[b * block + j + lane];
          s[lane] += v * sign[b * block + j + lane];
          q[lane] += v * v;
        }
      sum[b] = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
      norm[b] = __builtin_sqrt(((q[0] + q[4]) + (q[2] + q[6])) + ((q[1] + q[5]) + (q[3] + q[7])));
    }
  }
};

} // namespace

FreivaldsSigns FreivaldsSigns::of(std::int64_t cols, const Seed& seed, std::uint64_t trial) {
  const auto n = static_cast<std::size_t>(cols);
  const RandomStream stream = RandomStream::of(seed, trial, signs_tensor);
  FreivaldsSigns result;
  result.blocks = (cols + freivalds_block - 1) / freivalds_block;
  result.sign.resize(n);
  for (std::size_t j = 0; j < n; ++j) {
    const RandomWords words = stream.at(Channel::words, j / 128);
    result.sign[j] = (words[(j / 32) % 4] >> (j % 32)) & 1u ? -1.0 : 1.0;
  }
  return result;
}

std::vector<double> FreivaldsSigns::matrix() const {
  const auto r = static_cast<std::size_t>(blocks);
  std::vector<double> x(sign.size() * r, 0.0);
  for (std::size_t j = 0; j < sign.size(); ++j)
    x[j * r + j / block] = sign[j];
  return x;
}

Projection project_blocks(DType dtype, std::span<const std::byte> y, std::int64_t rows,
                          std::int64_t cols, const FreivaldsSigns& signs) {
  KW_ASSERT(bit_width(dtype) >= 8 && static_cast<std::int64_t>(signs.sign.size()) == cols);
  KW_ASSERT(y.size() >= byte_size(dtype, rows * cols));
  const auto r = static_cast<std::size_t>(signs.blocks);
  const auto n = static_cast<std::size_t>(cols);
  Projection p{std::vector<double>(static_cast<std::size_t>(rows) * r),
               std::vector<double>(static_cast<std::size_t>(rows) * r)};
  // Tiles of 16 blocks stay in the first-level cache; a last short block is padded with zeros.
  constexpr std::size_t tile = 16 * block;
  std::array<double, tile> values{}, sign{};
  for (std::size_t at = 0; at < n; at += tile) {
    const std::size_t width = std::min(tile, n - at);
    const std::size_t blocks = (width + block - 1) / block;
    std::copy_n(signs.sign.begin() + static_cast<std::ptrdiff_t>(at), width, sign.begin());
    std::fill(values.begin() + static_cast<std::ptrdiff_t>(width), values.end(), 0.0);
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto start = static_cast<std::size_t>(row) * n + at;
      to_double(dtype, y.subspan(start * byte_size(dtype, 1)), std::span(values).first(width));
      const std::size_t to = static_cast<std::size_t>(row) * r + at / block;
      run_widest<ProjectBlock>(static_cast<const double*>(values.data()),
                               static_cast<const double*>(sign.data()), blocks, p.sum.data() + to,
                               p.norm.data() + to);
    }
  }
  return p;
}

Result<FreivaldsResult> check_projection(const Projection& projection, std::span<const double> yx,
                                         std::span<const double> magx, std::int64_t blocks,
                                         const FreivaldsBound& bound) {
  const std::size_t n = projection.sum.size();
  KW_ASSERT(yx.size() == n && magx.size() == n && blocks > 0);
  FreivaldsResult result;
  result.checks = n;
  const double c =
      std::sqrt(2 * std::log(2 * std::max<double>(static_cast<double>(n), 1) / bound.alpha));
  if (!(c * bound.stores * bound.u_out < 0.5))
    return fail(
        ErrorKind::unsupported,
        "a random projection cannot tell errors from rounding in an output format this coarse",
        "compare the whole output with the oracle instead");
  constexpr double largest = std::numeric_limits<double>::max();
  for (std::size_t i = 0; i < n; ++i) {
    const double limit = c * (bound.stores * bound.u_out * projection.norm[i] +
                              bound.eta * bound.u_acc * std::fabs(magx[i]));
    const double residual = std::fabs(projection.sum[i] - yx[i]);
    const bool ok = residual <= limit && limit <= largest; // NaN and infinity fail
    if (residual > 0)
      result.worst =
          std::max(result.worst,
                   ok ? residual / limit : std::max(residual / limit, std::nextafter(1.0, 2.0)));
    if (ok)
      continue;
    if (!(residual <= largest))
      result.worst = std::numeric_limits<double>::infinity();
    if (result.bad++ == 0) {
      result.row = static_cast<std::int64_t>(i) / blocks;
      result.column = static_cast<std::int64_t>(i) % blocks * freivalds_block;
      result.residual = residual, result.bound = limit;
    }
  }
  return result;
}

std::vector<std::int64_t> exact_positions(std::int64_t extent, std::int64_t count, const Seed& seed,
                                          std::uint64_t trial, std::uint32_t axis) {
  std::set<std::int64_t> chosen;
  if (extent <= count) {
    for (std::int64_t i = 0; i < extent; ++i)
      chosen.insert(i);
  } else {
    const RandomStream stream = RandomStream::of(seed, trial, positions_tensor + axis);
    chosen = {0, extent - 1};
    // Multiply-shift of 64 random bits: the bias is below extent / 2^64. Repeats are drawn again.
    for (std::uint64_t i = 0;
         static_cast<std::int64_t>(chosen.size()) < std::max<std::int64_t>(count, 2); ++i) {
      const RandomWords w = stream.at(Channel::words, i);
      const std::uint64_t bits = (std::uint64_t{w[0]} << 32) | w[1];
      chosen.insert(static_cast<std::int64_t>(
          (static_cast<unsigned __int128>(bits) * static_cast<std::uint64_t>(extent)) >> 64));
    }
  }
  return {chosen.begin(), chosen.end()};
}

std::vector<std::byte> gather(DType dtype, std::span<const std::byte> y, std::int64_t cols,
                              std::span<const std::int64_t> at_rows,
                              std::span<const std::int64_t> at_cols) {
  KW_ASSERT(bit_width(dtype) >= 8);
  const std::size_t width = byte_size(dtype, 1);
  std::vector<std::byte> out(at_rows.size() * at_cols.size() * width);
  std::byte* to = out.data();
  for (const std::int64_t row : at_rows)
    for (const std::int64_t col : at_cols) {
      const std::size_t from = static_cast<std::size_t>(row * cols + col) * width;
      KW_ASSERT(from + width <= y.size());
      std::memcpy(to, y.data() + from, width);
      to += width;
    }
  return out;
}

} // namespace kw
