// SPDX-License-Identifier: Apache-2.0
// Fails to compile with the words of a full disk, so that the failure counts as the machine's.
#error No space left on device
#error Disk quota exceeded

extern "C" int kernel(const float*, float*, long, long) {
  return 0;
}
