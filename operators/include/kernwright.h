/* SPDX-License-Identifier: Apache-2.0
 * What a kernel may use besides freestanding C++ and intrinsics. Including this header is optional.
 *
 * Entry point (extern "C", one exported symbol):
 *     int NAME(const T0* in0, ..., U0* out0, ..., int64_t axis0, ...)
 * inputs in Definition order (scalars by value in their place), outputs in Definition order,
 * variable axes in Definition order. Const axes are macros: -DKW_AXIS_<name>=<value>.
 * Return 0 when done, non-zero for a shape outside your contract.
 * bfloat16/float16 arrive as uint16_t bit patterns, fp8 as uint8_t, bool as uint8_t.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 64-byte aligned scratch of at least `bytes`, undefined contents, valid during this call. The same
 * block every time: ask once. Null when more is asked than the runner reserved (64 MiB by default). */
void* kw_workspace(size_t bytes);

/* Threads this run may use (>= 1). */
int kw_threads(void);

/* Runs body(context, i) for i in [0, count) on up to kw_threads() threads; returns when all are done. */
void kw_parallel_for(int64_t count, void (*body)(void* context, int64_t i), void* context);

/* From the math library, provided by the runner: expf exp logf log powf pow sinf cosf tanhf sqrtf
 * fmaf rsqrt is yours to write; memcpy memset memmove come with it. */

#ifdef __cplusplus
}
#endif
