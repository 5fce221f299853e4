// SPDX-License-Identifier: Apache-2.0
// Kills its parent.
#include <csignal>
#include <cstdint>
#include <unistd.h>

extern "C" int kernel(const float*, float*, std::int64_t, std::int64_t) {
  kill(getppid(), SIGKILL);
  return 0;
}
