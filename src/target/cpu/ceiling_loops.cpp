// SPDX-License-Identifier: Apache-2.0
#include "target/cpu/ceiling_loops.hpp"

#include "os/cpu.hpp"

#include <immintrin.h>

namespace kw {
namespace {

constexpr int inner = 64;        ///< FMAs per accumulator and repetition
constexpr int accumulators = 12; ///< latency 4-5 cycles x 2 ports, with room

#define KW_WIDE __attribute__((target("avx512f,avx512dq"), noinline))
#define KW_NARROW __attribute__((target("avx2,fma"), noinline))

/// Keeps the value alive and opaque, so that the loop can neither be folded nor dropped.
#define KW_OPAQUE(v) asm volatile("" : "+v"(v))

KW_WIDE void fma_512(long repetitions) {
  __m512 a[accumulators];
  for (int i = 0; i < accumulators; ++i)
    a[i] = _mm512_set1_ps(static_cast<float>(i));
  __m512 x = _mm512_set1_ps(0.999F), y = _mm512_set1_ps(1e-3F);
  KW_OPAQUE(x);
  KW_OPAQUE(y);
  for (long r = 0; r < repetitions * inner; ++r)
#pragma GCC unroll 12
    for (int i = 0; i < accumulators; ++i)
      a[i] = _mm512_fmadd_ps(a[i], x, y);
  for (int i = 0; i < accumulators; ++i)
    KW_OPAQUE(a[i]);
}

KW_NARROW void fma_256(long repetitions) {
  __m256 a[accumulators];
  for (int i = 0; i < accumulators; ++i)
    a[i] = _mm256_set1_ps(static_cast<float>(i));
  __m256 x = _mm256_set1_ps(0.999F), y = _mm256_set1_ps(1e-3F);
  KW_OPAQUE(x);
  KW_OPAQUE(y);
  for (long r = 0; r < repetitions * inner; ++r)
#pragma GCC unroll 12
    for (int i = 0; i < accumulators; ++i)
      a[i] = _mm256_fmadd_ps(a[i], x, y);
  for (int i = 0; i < accumulators; ++i)
    KW_OPAQUE(a[i]);
}

bool has_512() {
  static const bool yes = cpu_info().has("avx512f");
  return yes;
}

/// Reads sum into one value that every write stores: each source byte is used, nothing is dropped.
KW_WIDE void stream_512(float* const* base, int reads, int writes, std::size_t floats,
                        bool streaming) {
  __m512 sink = _mm512_setzero_ps();
  for (std::size_t i = 0; i < floats; i += 64) {
    __m512 v[4] = {_mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps(),
                   _mm512_setzero_ps()};
    for (int r = 0; r < reads; ++r)
#pragma GCC unroll 4
      for (int u = 0; u < 4; ++u)
        v[u] = r == 0 ? _mm512_loadu_ps(base[r] + i + 16 * u)
                      : _mm512_add_ps(v[u], _mm512_loadu_ps(base[r] + i + 16 * u));
    for (int w = reads; w < reads + writes; ++w)
#pragma GCC unroll 4
      for (int u = 0; u < 4; ++u)
        streaming ? _mm512_stream_ps(base[w] + i + 16 * u, v[u])
                  : _mm512_storeu_ps(base[w] + i + 16 * u, v[u]);
    if (writes == 0)
      sink = _mm512_or_ps(sink, _mm512_or_ps(_mm512_or_ps(v[0], v[1]), _mm512_or_ps(v[2], v[3])));
  }
  KW_OPAQUE(sink);
  if (streaming)
    _mm_sfence();
}

KW_NARROW void stream_256(float* const* base, int reads, int writes, std::size_t floats,
                          bool streaming) {
  __m256 sink = _mm256_setzero_ps();
  for (std::size_t i = 0; i < floats; i += 32) {
    __m256 v[4] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(),
                   _mm256_setzero_ps()};
    for (int r = 0; r < reads; ++r)
#pragma GCC unroll 4
      for (int u = 0; u < 4; ++u)
        v[u] = r == 0 ? _mm256_loadu_ps(base[r] + i + 8 * u)
                      : _mm256_add_ps(v[u], _mm256_loadu_ps(base[r] + i + 8 * u));
    for (int w = reads; w < reads + writes; ++w)
#pragma GCC unroll 4
      for (int u = 0; u < 4; ++u)
        streaming ? _mm256_stream_ps(base[w] + i + 8 * u, v[u])
                  : _mm256_storeu_ps(base[w] + i + 8 * u, v[u]);
    if (writes == 0)
      sink = _mm256_or_ps(sink, _mm256_or_ps(_mm256_or_ps(v[0], v[1]), _mm256_or_ps(v[2], v[3])));
  }
  KW_OPAQUE(sink);
  if (streaming)
    _mm_sfence();
}

} // namespace

void fma_pass(long repetitions, bool wide) {
  wide&& has_512() ? fma_512(repetitions) : fma_256(repetitions);
}

double fma_flops(bool wide) {
  return 2.0 * (wide && has_512() ? 16 : 8) * accumulators * inner;
}

void stream_pass(float* const* base, int reads, int writes, std::size_t floats, bool streaming) {
  has_512() ? stream_512(base, reads, writes, floats, streaming)
            : stream_256(base, reads, writes, floats, streaming);
}

} // namespace kw
