// SPDX-License-Identifier: Apache-2.0
// Listening to people during a run: what they said is an effect, like everything from outside.
#pragma once

#include "controller/search_context.hpp"

#include <string>
#include <vector>

namespace kw {

/// What was said since the last time, at most `wait_seconds` from now: returns as soon as there is
/// something. Adds it to the ledger of the run and to its log. Errors: interrupted while waiting.
Result<std::vector<Steering>> hear(SearchContext& context, const std::string& key,
                                   double wait_seconds);

} // namespace kw
