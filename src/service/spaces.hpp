// SPDX-License-Identifier: Apache-2.0
// The schedule spaces and kernel templates that a Definition lists.
#pragma once

#include "controller/optimize.hpp"

#include <vector>

namespace kw {

/// Empty if it lists none. Errors: a file that cannot be read or parsed.
Result<std::vector<LoadedSpace>> load_spaces(const Definition& definition);

/// Builds and judges (two trials) the first seed of every space that applies to a workload on this
/// machine; returns how many. Error: the first one that does not build or is wrong.
Result<std::size_t> run_seeds(Judge& judge, const std::vector<LoadedSpace>& spaces);

} // namespace kw
