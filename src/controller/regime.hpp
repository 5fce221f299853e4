// SPDX-License-Identifier: Apache-2.0
// A regime is a group of workloads that the same schedule spaces apply to (m = 1 is another kernel
// than m = 4096). Each is searched on its own; the winners meet in one dispatching solution.
#pragma once

#include "base/result.hpp"
#include "judge/binding.hpp"
#include "search/space.hpp"

#include <map>
#include <string>
#include <vector>

namespace kw {

struct Regime {
  std::string name;                   ///< "m >= 64", or "all"
  std::vector<std::size_t> workloads; ///< indices, in file order
  std::vector<std::size_t> spaces;    ///< indices of the spaces that apply
  std::size_t representative = 0;     ///< workload index: the weighted median by cost
  std::size_t smallest = 0;           ///< cheapest workload, verified as well
  double weight = 0;                  ///< sum of workload weights
};

/// Errors: an `applies` that does not evaluate; a workload that no space applies to.
Result<std::vector<Regime>> find_regimes(const std::vector<BoundWorkload>& workloads,
                                         const std::vector<Space>& spaces);

} // namespace kw
