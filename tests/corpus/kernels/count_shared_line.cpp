// SPDX-License-Identifier: Apache-2.0
// bottleneck: threading
// workload: count_i32-n1048576
// threads: 2
// part: tuning
// Counters of their own, but in one line: every store takes it from the other thread.
#include <cstdint>
#include "kernwright.h"

namespace {

struct alignas(64) Counting {
  volatile std::int32_t counts[2][8]; // one line
  const std::int32_t* c;
  std::int64_t n;
};

void one_half(void* context, std::int64_t half) {
  Counting& all = *static_cast<Counting*>(context);
  for (std::int64_t i = half * (all.n / 2); i < (half + 1) * (all.n / 2); ++i)
    all.counts[half][all.c[i]] = all.counts[half][all.c[i]] + 1;
}

} // namespace

extern "C" int kernel(const std::int32_t* c, std::int32_t* y, std::int64_t n) {
  Counting all{};
  all.c = c, all.n = n;
  kw_parallel_for(2, one_half, &all);
  for (int b = 0; b < KW_AXIS_bins; ++b)
    y[b] = all.counts[0][b] + all.counts[1][b];
  return 0;
}
