// SPDX-License-Identifier: Apache-2.0
// Checking a matrix product too large to recompute (Freivalds 1977, for rounded arithmetic).
//
// C = A B is the true product, Y [rows, cols] what the kernel stored. The columns are cut into
// blocks of 64, and every column gets a secret random sign x_j, drawn after Y is fixed. For row i,
// block b:
//     residual = sum_{j in b} x_j Y_ij - sum_{j in b} x_j C_ij = sum_{j in b} x_j e_ij.
// The judge forms the first sum from the output; the oracle gives the second as A (B X), where X
// [cols, blocks] holds x_j in column b of row j and zeros elsewhere: 64 times cheaper than A B.
//
// A kernel that keeps its contract errs by |e_ij| <= t_ij = stores u_out |Y_ij| + eta u_acc S_ij,
// with S_ij = sum_k |a_ik| |b_kj|: one rounding of the store (`stores` = 1), the accumulation
// within eta. The signs do not depend on e, so Hoeffding's inequality holds for the fixed numbers
// e_ij:
//     P(|residual| > c sqrt(sum e_ij^2)) <= 2 exp(-c^2 / 2).
// By Minkowski, and because a 2-norm is at most a 1-norm,
//     sqrt(sum t_ij^2) <= stores u_out |Y_ib|_2 + eta u_acc MAGX_ib,  MAGX_ib = sum_{j in b} S_ij,
// which needs only what the oracle's projection returns. With c = sqrt(2 ln(2 checks / alpha)) the
// chance that any of rows x blocks checks alarms on an honest output is below alpha (1e-9).
//
// Power: one wrong element shows with certainty once its error exceeds about twice the bound; in
// bfloat16 at 4096 x 4096 the bound is about 0.27 of the root mean square of the output. Several
// errors in one block may cancel in one trial, but not for long: the signs are new in each.
// |Y| enters the bound, so a kernel could widen it with a huge element; while c stores u_out < 1/2
// that element's own error is more than twice what it buys (float8_e5m2 is refused for that
// reason). Outputs with infinities or NaN always fail: use this only on inputs without them.
#pragma once

#include "base/result.hpp"
#include "tensor/generate.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kw {

constexpr std::int64_t freivalds_block = 64;

/// Secret signs of one trial.
struct FreivaldsSigns {
  std::vector<double> sign; ///< +1 or -1 per column
  std::int64_t blocks = 0;  ///< ceil(cols / 64)

  static FreivaldsSigns of(std::int64_t cols, const Seed& seed, std::uint64_t trial);
  /// X [cols, blocks], row-major, as the oracle's projection takes it.
  [[nodiscard]] std::vector<double> matrix() const;
};

/// Y X and the 2-norms of Y per row and block, both [rows, blocks], in fp64.
struct Projection {
  std::vector<double> sum, norm;
};
Projection project_blocks(DType dtype, std::span<const std::byte> y, std::int64_t rows,
                          std::int64_t cols, const FreivaldsSigns& signs);

struct FreivaldsBound {
  double stores = 1; ///< roundings to the output dtype per element
  double eta = 8;    ///< units of u_acc S allowed to the accumulation
  double u_out = 0, u_acc = 0;
  double alpha = 1e-9; ///< chance of a false alarm over the whole output
};

struct FreivaldsResult {
  std::uint64_t checks = 0, bad = 0;
  std::int64_t row = 0, column = 0; ///< first bad: row, and first column of its block
  double residual = 0, bound = 0;   ///< there
  double worst = 0;                 ///< largest residual / bound
};

/// `yx` and `magx` [rows, blocks] come from the oracle. Error: the format is too coarse for the
/// test.
Result<FreivaldsResult> check_projection(const Projection& projection, std::span<const double> yx,
                                         std::span<const double> magx, std::int64_t blocks,
                                         const FreivaldsBound& bound);

/// `count` distinct secret positions in [0, extent), ascending, the first and the last among them;
/// all of them where there are no more. `axis` tells rows (0) from columns (1).
std::vector<std::int64_t> exact_positions(std::int64_t extent, std::int64_t count, const Seed& seed,
                                          std::uint64_t trial, std::uint32_t axis);

/// Y[rows, cols] at the given rows and columns, as one dense matrix in the same dtype (not float4).
std::vector<std::byte> gather(DType dtype, std::span<const std::byte> y, std::int64_t cols,
                              std::span<const std::int64_t> at_rows,
                              std::span<const std::int64_t> at_cols);

} // namespace kw
