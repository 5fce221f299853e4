// SPDX-License-Identifier: Apache-2.0
// Loads a library.
#include <cstdint>
#include <dlfcn.h>

extern "C" int kernel(const float*, float*, std::int64_t, std::int64_t) {
  return dlopen("libopenblas.so.0", RTLD_NOW) == nullptr ? 1 : 0;
}
