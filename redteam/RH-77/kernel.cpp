// SPDX-License-Identifier: Apache-2.0
// Never returns.
#include <cstdint>

extern "C" int kernel(const float*, float*, std::int64_t, std::int64_t) {
  for (;;)
    asm volatile("pause");
}
