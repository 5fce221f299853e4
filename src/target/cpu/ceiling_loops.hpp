// SPDX-License-Identifier: Apache-2.0
// The inner loops whose rates are the machine's ceilings. Compiled for the widest vectors the CPU
// offers by function-level targets, so that the binary itself stays portable.
#pragma once

#include <cstddef>

namespace kw {

/// One repetition = fma_flops() floating-point operations on independent accumulators.
void fma_pass(long repetitions, bool wide);
[[nodiscard]] double fma_flops(bool wide);

/// One pass over `reads` source and `writes` destination arrays of `floats` elements (a multiple of
/// 64) each: base[0..reads) are read, base[reads..) written. `streaming` = non-temporal stores.
void stream_pass(float* const* base, int reads, int writes, std::size_t floats, bool streaming);

} // namespace kw
