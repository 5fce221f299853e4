// SPDX-License-Identifier: Apache-2.0
// Times two kernels against each other at shapes that no workload lists.
#pragma once

#include "service/judging.hpp"

#include <vector>

namespace kw {

/// ln(t_lower / t_higher) per shape, the median of a few paired rounds; 0 where the calls are too
/// short to tell. Errors: a kernel that does not build, or is wrong there; infrastructure.
Result<std::vector<double>> crossover(const Workspace& workspace, const Task& task,
                                      const JudgingOptions& judging, const Solution& lower,
                                      const Solution& higher, const std::vector<Workload>& shapes);

} // namespace kw
