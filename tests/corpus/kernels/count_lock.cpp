// SPDX-License-Identifier: Apache-2.0
// bottleneck: threading
// workload: count_i32-n1048576
// threads: 2
// part: held out
// One lock around every increment: the threads take turns.
#include <cstdint>
#include "kernwright.h"

namespace {

struct Counting {
  const std::int32_t* c;
  std::int32_t* y;
  std::int64_t n;
  int locked;
};

void one_part(void* context, std::int64_t part) {
  Counting& all = *static_cast<Counting*>(context);
  for (std::int64_t i = part * (all.n / 8); i < (part + 1) * (all.n / 8); ++i) {
    while (__atomic_exchange_n(&all.locked, 1, __ATOMIC_ACQUIRE) != 0)
      while (__atomic_load_n(&all.locked, __ATOMIC_RELAXED) != 0)
        __builtin_ia32_pause();
    ++all.y[all.c[i]];
    __atomic_store_n(&all.locked, 0, __ATOMIC_RELEASE);
  }
}

} // namespace

extern "C" int kernel(const std::int32_t* c, std::int32_t* y, std::int64_t n) {
  for (int b = 0; b < KW_AXIS_bins; ++b)
    y[b] = 0;
  Counting all{c, y, n, 0};
  kw_parallel_for(8, one_part, &all);
  return 0;
}
