// SPDX-License-Identifier: Apache-2.0
// Leaves by longjmp.
#include <csetjmp>
#include <cstdint>

extern "C" int kernel(const float*, float*, std::int64_t, std::int64_t) {
  static jmp_buf somewhere;
  longjmp(somewhere, 1);
}
