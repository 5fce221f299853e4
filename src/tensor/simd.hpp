// SPDX-License-Identifier: Apache-2.0
// One loop body, compiled for several instruction sets, chosen once at run time.
// A body is a struct with an always-inline static `run`; it gives the same bits in every variant,
// because this library is built without contraction and uses only correctly rounded operations.
#pragma once

#if defined(__x86_64__)
#define KW_TARGET_V3 __attribute__((target("avx2,fma,bmi,bmi2")))
#if defined(__clang__)
#define KW_TARGET_V4                                                                               \
  __attribute__((target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi,bmi2")))
#else
#define KW_TARGET_V4                                                                               \
  __attribute__((target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi,bmi2,"           \
                        "prefer-vector-width=512")))
#endif
#endif
#define KW_INLINE [[gnu::always_inline]] static inline

namespace kw {

enum class Isa { baseline, v3, v4 };
/// The widest variant this CPU can run (x86-64-v3: AVX2, v4: AVX-512); the environment variable
/// KW_ISA=baseline|v3 narrows it, so that tests can hold the variants against each other.
Isa isa();

#if defined(__x86_64__)
template <class Body, class... Args> KW_TARGET_V4 auto run_v4(Args... args) {
  return Body::run(args...);
}
template <class Body, class... Args> KW_TARGET_V3 auto run_v3(Args... args) {
  return Body::run(args...);
}
#endif
template <class Body, class... Args> auto run_baseline(Args... args) {
  return Body::run(args...);
}

template <class Body, class... Args> auto run_as(Isa which, Args... args) {
#if defined(__x86_64__)
  if (which == Isa::v4)
    return run_v4<Body>(args...);
  if (which == Isa::v3)
    return run_v3<Body>(args...);
#endif
  (void)which;
  return run_baseline<Body>(args...);
}
template <class Body, class... Args> auto run_widest(Args... args) {
  return run_as<Body>(isa(), args...);
}

} // namespace kw
