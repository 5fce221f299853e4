// SPDX-License-Identifier: Apache-2.0
// A folder that people or tools drop solutions into while the run goes on. How each fared is
// written to `results/NAME.json` in it.
#pragma once

#include "controller/proposer.hpp"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace kw {

/// `stop`: asked ten times a second while waiting. Errors: no such folder.
Result<std::unique_ptr<Proposer>> make_directory_proposer(std::string folder,
                                                          std::function<bool()> stop);

} // namespace kw
