// SPDX-License-Identifier: Apache-2.0
// CPU time beyond the declared threads: work hidden on threads nobody knows of.
#pragma once

#include <vector>

namespace kw {

/// `shares`: CPU time over wall time of the same intervals, one figure per round. The wall interval
/// encloses the accounted one, so honest rounds cannot exceed `threads`, whatever the load or the
/// latency of a freeze; 5 % is for the resolution of the clocks. Strong evidence only: at least six
/// rounds, and the median of them beyond the limit.
[[nodiscard]] bool exceeds_threads(const std::vector<double>& shares, int threads);

} // namespace kw
