// SPDX-License-Identifier: Apache-2.0
// After the search: the winners of all regimes in one solution, judged whole against the baseline.
#pragma once

#include "controller/regime_search.hpp"

#include <optional>
#include <vector>

namespace kw {

/// The winners of all regimes in one solution; nullopt where a regime has none.
Result<std::optional<Solution>> assemble_winner(const SearchContext& context,
                                                const std::vector<RegimeSearch>& searches);

/// Verifies, gates and confirms the assembled solution, promotes it if all hold; fills
/// outcome.champion and outcome.record. A regime without a correct kernel leaves both empty.
Status judge_winner(SearchContext& context, const std::vector<RegimeSearch>& searches,
                    OptimizeOutcome& outcome);

/// Nothing beat the baseline: then what it is worth beside the peers is the answer. Never promoted.
Status place_baseline(SearchContext& context, OptimizeOutcome& outcome);

} // namespace kw
