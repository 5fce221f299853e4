// SPDX-License-Identifier: Apache-2.0
// Where things are: the user's archive, the build cache, the shipped operators, the runner.
// Precedence per path: command line, environment, default.
#pragma once

#include "base/result.hpp"

#include <string>

namespace kw {

struct WorkspaceOptions {
  std::string operators; ///< operator folder or trace set; "" = the shipped ones
  std::string state_dir; ///< archive, runs, reports; "" = ./.kernwright
  std::string cache_dir; ///< builds, measured ceilings; "" = $XDG_CACHE_HOME/kernwright
};

struct Workspace {
  std::string operators, state_dir, cache_dir;
  std::string include_dir; ///< folder of kernwright.h
  std::string runner;      ///< kernwright-runner
  std::string redteam;     ///< shipped exploit corpus, "" if not installed
};

/// Errors: shipped operators or the runner not found beside the binary (broken installation).
Result<Workspace> open_workspace(const WorkspaceOptions& options);

} // namespace kw
