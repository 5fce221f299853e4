// SPDX-License-Identifier: Apache-2.0
// bottleneck: dependency
// workload: row_product_f32-rows32-n4096
// threads: 1
// part: held out
// One running product of four lanes: a chain of multiplications.
#include <cstdint>

using Q = float __attribute__((vector_size(16), aligned(4), may_alias)); // 4 lanes

extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  for (std::int64_t r = 0; r < rows; ++r, x += n) {
    Q product = {1, 1, 1, 1};
    for (std::int64_t i = 0; i < n; i += 4)
      product *= *reinterpret_cast<const Q*>(x + i);
    y[r] = product[0] * product[1] * product[2] * product[3];
  }
  return 0;
}
