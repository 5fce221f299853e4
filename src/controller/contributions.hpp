// SPDX-License-Identifier: Apache-2.0
// Who brought a run's winner about: proposers with what they put forward, reference kernels with
// their provenance, people with their time.
#pragma once

#include "controller/regime_search.hpp"

#include <vector>

namespace kw {

/// Proposers first, in the order of their first candidate; then references; then people.
[[nodiscard]] std::vector<Contribution> contributions(const SearchContext& context,
                                                      const std::vector<RegimeSearch>& searches);

/// "tuner", "agent" (a program), "human" (files and words of people), "replay", "reference".
[[nodiscard]] std::string role_of(const std::string& proposer);

} // namespace kw
