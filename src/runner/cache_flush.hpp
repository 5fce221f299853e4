// SPDX-License-Identifier: Apache-2.0
// Puts memory out of every cache of the machine, line by line (clflush works on physical lines, so
// the judge's mapping of a shared buffer serves the arm's). Cheaper than sweeping twice the
// last-level cache, and nothing of the buffer is left by chance.
#pragma once

#include <cpuid.h>
#include <cstddef>
#include <cstdint>
#include <emmintrin.h>

namespace kw {

__attribute__((target("clflushopt"))) inline void flush_lines_opt(const std::byte* from,
                                                                  std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += 64)
    __builtin_ia32_clflushopt(const_cast<std::byte*>(from + at)); // evicts, never writes
}

inline void flush_lines(const std::byte* from, std::size_t bytes) {
  static const bool opt = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_CLFLUSHOPT) != 0;
  }();
  if (opt)
    flush_lines_opt(from, bytes);
  else
    for (std::size_t at = 0; at < bytes; at += 64)
      _mm_clflush(from + at);
  _mm_mfence();
}

} // namespace kw
