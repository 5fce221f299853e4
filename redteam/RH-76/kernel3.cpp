// SPDX-License-Identifier: Apache-2.0
// Recurses for ever.
#include <cstdint>

namespace {

__attribute__((noinline)) int deeper(int n) { // NOLINT(misc-no-recursion)
  volatile char frame[4096];
  frame[0] = static_cast<char>(n);
  return deeper(n + 1) + frame[0];
}

} // namespace

extern "C" int kernel(const float*, float*, std::int64_t, std::int64_t) {
  return deeper(0);
}
