// SPDX-License-Identifier: Apache-2.0
// Rows through kw_parallel_for, on as many threads as the task declares.
#include "kernwright.h"

#include <cmath>
#include <cstdint>

namespace {

struct Rows {
  const float* x;
  float* y;
  std::int64_t n;
};

void one_row(void* context, std::int64_t r) {
  const auto& job = *static_cast<const Rows*>(context);
  const float* x = job.x + r * job.n;
  float* y = job.y + r * job.n;
  float top = x[0], total = 0;
  for (std::int64_t i = 1; i < job.n; ++i)
    top = x[i] > top ? x[i] : top;
  for (std::int64_t i = 0; i < job.n; ++i)
    total += y[i] = expf(x[i] - top);
  for (std::int64_t i = 0; i < job.n; ++i)
    y[i] /= total;
}

} // namespace

extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  Rows job{x, y, n};
  kw_parallel_for(rows, one_row, &job);
  return 0;
}
