// SPDX-License-Identifier: Apache-2.0
#include "target/cpu/admit_symbols.hpp"

#include <algorithm>
#include <array>

namespace kw {
namespace {

using namespace std::string_view_literals;

// Sorted. Left out on purpose: lgamma writes the global signgam; nan parses strings; anything that
// returns through a pointer into library memory.
constexpr std::array allowed{
    "acos"sv,
    "acosf"sv,
    "acosh"sv,
    "acoshf"sv,
    "asin"sv,
    "asinf"sv,
    "asinh"sv,
    "asinhf"sv,
    "atan"sv,
    "atan2"sv,
    "atan2f"sv,
    "atanf"sv,
    "atanh"sv,
    "atanhf"sv,
    "cbrt"sv,
    "cbrtf"sv,
    "ceil"sv,
    "ceilf"sv,
    "cos"sv,
    "cosf"sv,
    "cosh"sv,
    "coshf"sv,
    "erf"sv,
    "erfc"sv,
    "erfcf"sv,
    "erff"sv,
    "exp"sv,
    "exp2"sv,
    "exp2f"sv,
    "expf"sv,
    "expm1"sv,
    "expm1f"sv,
    "fabs"sv,
    "fabsf"sv,
    "floor"sv,
    "floorf"sv,
    "fma"sv,
    "fmaf"sv,
    "fmax"sv,
    "fmaxf"sv,
    "fmin"sv,
    "fminf"sv,
    "fmod"sv,
    "fmodf"sv,
    "frexp"sv,
    "frexpf"sv,
    "hypot"sv,
    "hypotf"sv,
    "kw_parallel_for"sv,
    "kw_threads"sv,
    "kw_workspace"sv,
    "ldexp"sv,
    "ldexpf"sv,
    "llrint"sv,
    "llrintf"sv,
    "llround"sv,
    "llroundf"sv,
    "log"sv,
    "log10"sv,
    "log10f"sv,
    "log1p"sv,
    "log1pf"sv,
    "log2"sv,
    "log2f"sv,
    "logf"sv,
    "lrint"sv,
    "lrintf"sv,
    "lround"sv,
    "lroundf"sv,
    "memcmp"sv,
    "memcpy"sv,
    "memmove"sv,
    "memset"sv,
    "modf"sv,
    "modff"sv,
    "nearbyint"sv,
    "nearbyintf"sv,
    "pow"sv,
    "powf"sv,
    "remainder"sv,
    "remainderf"sv,
    "rint"sv,
    "rintf"sv,
    "round"sv,
    "roundf"sv,
    "scalbn"sv,
    "scalbnf"sv,
    "sin"sv,
    "sincos"sv,
    "sincosf"sv,
    "sinf"sv,
    "sinh"sv,
    "sinhf"sv,
    "sqrt"sv,
    "sqrtf"sv,
    "tan"sv,
    "tanf"sv,
    "tanh"sv,
    "tanhf"sv,
    "tgamma"sv,
    "tgammaf"sv,
    "trunc"sv,
    "truncf"sv,
};
static_assert(std::is_sorted(allowed.begin(), allowed.end()));

} // namespace

bool is_allowed_import(std::string_view symbol) {
  return std::binary_search(allowed.begin(), allowed.end(), symbol);
}

std::span<const std::string_view> allowed_imports() {
  return allowed;
}

} // namespace kw
