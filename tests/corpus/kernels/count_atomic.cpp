// SPDX-License-Identifier: Apache-2.0
// bottleneck: threading
// workload: count_i32-n1048576
// threads: 2
// part: tuning
// Both threads count in the same line, which travels between them with every increment.
#include <cstdint>
#include "kernwright.h"

namespace {

struct Counting {
  const std::int32_t* c;
  std::int32_t* y;
  std::int64_t n;
};

void one_part(void* context, std::int64_t part) {
  const Counting& all = *static_cast<const Counting*>(context);
  for (std::int64_t i = part * (all.n / 8); i < (part + 1) * (all.n / 8); ++i)
    __atomic_fetch_add(all.y + all.c[i], 1, __ATOMIC_RELAXED);
}

} // namespace

extern "C" int kernel(const std::int32_t* c, std::int32_t* y, std::int64_t n) {
  for (int b = 0; b < KW_AXIS_bins; ++b)
    y[b] = 0;
  Counting all{c, y, n};
  kw_parallel_for(8, one_part, &all);
  return 0;
}
