// SPDX-License-Identifier: Apache-2.0
// The champions of one seed, judged correct and then timed in the same rounds.
#pragma once

#include "model/solution.hpp"
#include "service/ablation.hpp"
#include "service/judging.hpp"

#include <string>
#include <utility>
#include <vector>

namespace kw {

/// `champions`: hash and solution of each. Holds the timing lease. Errors: infrastructure; refused,
/// when the machine is too busy: nothing is decided, and the race may be held again.
Result<ChampionRace> race_champions(const Workspace& workspace, const AblationTask& task,
                                    const AblationOptions& options,
                                    const std::vector<std::pair<std::string, Solution>>& champions,
                                    const JudgingOptions& judging);

} // namespace kw
