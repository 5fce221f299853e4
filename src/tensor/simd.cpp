// SPDX-License-Identifier: Apache-2.0
#include "tensor/simd.hpp"

#include <cstdlib>
#include <string_view>

namespace kw {
namespace {

Isa probe() {
#if defined(__x86_64__)
  const char* wish = std::getenv("KW_ISA");
  const std::string_view limit = wish ? wish : "";
  __builtin_cpu_init();
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                  __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  if (limit == "baseline" || !v3)
    return Isa::baseline;
  return limit == "v3" || !v4 ? Isa::v3 : Isa::v4;
#else
  return Isa::baseline;
#endif
}

} // namespace

Isa isa() {
  static const Isa found = probe();
  return found;
}

} // namespace kw
