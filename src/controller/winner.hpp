// SPDX-License-Identifier: Apache-2.0
// After the search: the winners of all regimes in one solution, judged whole against the baseline.
#pragma once

#include "controller/regime_search.hpp"

#include <vector>

namespace kw {

/// Verifies, gates and confirms the assembled solution, promotes it if all hold; fills
/// outcome.champion and outcome.record. A dispatcher that does not build or is wrong falls back to
/// one kernel for all, where there is one. Every regime has a winner.
Status judge_winner(SearchContext& context, const std::vector<RegimeSearch>& searches,
                    const Solution& assembled, OptimizeOutcome& outcome);

/// Nothing beat the baseline: then what it is worth beside the peers is the answer. Never promoted.
Status place_baseline(SearchContext& context, OptimizeOutcome& outcome);

} // namespace kw
