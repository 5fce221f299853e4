// SPDX-License-Identifier: Apache-2.0
// From the winners of the regimes to one solution: where each takes over is measured between the
// listed shapes, and what asking costs is measured too.
#pragma once

#include "controller/regime_search.hpp"

#include <string>
#include <vector>

namespace kw {

/// Where the lower kernel stops: after the point from which on the higher one is faster in sum.
/// `points`: ascending, those not held out count; without any: `assumed`.
[[nodiscard]] double place_border(double below, double above, double assumed,
                                  const std::vector<BorderPoint>& points);
/// Up to `count` whole numbers between the two, exclusive, spaced by ratio.
[[nodiscard]] std::vector<std::int64_t> border_values(double below, double above, int count);

/// The solution to be judged whole. Measures borders and cost where there are several branches;
/// each measurement is an effect of the run. Errors: infrastructure; a kernel that cannot be a
/// branch.
Result<Solution> dispatch(SearchContext& context, const std::vector<RegimeSearch>& searches,
                          DispatchRecord& record);
/// One kernel for all: the winner of the regime with the most weight, if it applies everywhere.
Result<std::optional<Solution>> single_kernel(const SearchContext& context,
                                              const std::vector<RegimeSearch>& searches);

} // namespace kw
