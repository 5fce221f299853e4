// SPDX-License-Identifier: Apache-2.0
// Why an attempt was kept or rejected: what it changed against what it was compared with, what was
// measured, what became of it.
#pragma once

#include "base/result.hpp"
#include "model/probe.hpp"
#include "service/workspace.hpp"

#include <string>
#include <vector>

namespace kw {

struct Why {
  Probe probe;
  std::string against;                ///< hypothesis or name of the champion of its time
  std::vector<std::string> changed;   ///< "U: 1 -> 4", where both are parameter vectors
  std::size_t children = 0, kept = 0; ///< later probes of the run that were compared with it
};

/// Errors: not_found, ambiguous.
Result<Why> why(const Workspace& workspace, const std::string& id);
/// Sentences, most important first.
[[nodiscard]] std::vector<std::string> sentences(const Why& why);
/// "U=1 R=2" against "U=4 R=2": {"U: 1 -> 4"}. Words without "=" are left out.
[[nodiscard]] std::vector<std::string> changed_parameters(const std::string& before,
                                                          const std::string& after);

} // namespace kw
