// SPDX-License-Identifier: Apache-2.0
// A proposal from a part of a space: around a known configuration, some parameters free.
#pragma once

#include "search/tuner.hpp"

#include <optional>

namespace kw {

/// Legal, new, and the best by the Parzen estimator among all (or a random pool) within `focus`.
std::optional<Config> best_within(const History& history, const Focus& focus, Random& chance);

/// Whether best_within() would find one. A focus too large to list counts as never used up.
bool any_within(const History& history, const Focus& focus);

} // namespace kw
