// SPDX-License-Identifier: Apache-2.0
// One frame larger than the whole stack, beyond its guard's first page.
#include <cstdint>

extern "C" int kernel(const float*, float*, std::int64_t, std::int64_t) {
  volatile char* deep =
      static_cast<volatile char*>(__builtin_alloca((std::size_t{8} << 20) + (std::size_t{1} << 19)));
  deep[0] = 1;
  return deep[0] - 1;
}
