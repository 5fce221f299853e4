// SPDX-License-Identifier: Apache-2.0
// Work of the judge itself (drawing inputs, comparing outputs) over the CPUs that nobody else uses.
#pragma once

#include <cstdint>
#include <functional>

namespace kw {

/// Calls f(begin, end) on disjoint ranges that cover [0, count), on up to `workers` threads, this one
/// among them, and returns when all are done. Ranges begin at multiples of `grain`; a count below two
/// grains stays on this thread: a thread costs about 30 us. `f` must not throw.
void parallel_ranges(int workers, std::int64_t count, std::int64_t grain,
                     const std::function<void(std::int64_t begin, std::int64_t end)>& f);

} // namespace kw
