// SPDX-License-Identifier: Apache-2.0
// bottleneck: vectorisation
// workload: row_product_f32-rows32-n4096
// threads: 1
// part: held out
// A product in the order of the source, which the compiler may not change.
#include <cstdint>

extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  for (std::int64_t r = 0; r < rows; ++r, x += n) {
    float product = 1;
    for (std::int64_t i = 0; i < n; ++i)
      product *= x[i];
    y[r] = product;
  }
  return 0;
}
