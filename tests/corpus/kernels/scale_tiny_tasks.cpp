// SPDX-License-Identifier: Apache-2.0
// bottleneck: launch
// workload: scale_f32-n3145728
// threads: 2
// part: held out
// A task for every eight elements.
#include <cstdint>
#include "kernwright.h"

namespace {

struct Vectors {
  const float* x;
  float* y;
};

void eight(void* context, std::int64_t b) {
  const Vectors& all = *static_cast<const Vectors*>(context);
  for (std::int64_t i = 8 * b; i < 8 * b + 8; ++i)
    all.y[i] = 2.5f * all.x[i];
}

} // namespace

extern "C" int kernel(const float* x, float* y, std::int64_t n) {
  Vectors all{x, y};
  kw_parallel_for(n / 8, eight, &all);
  return 0;
}
