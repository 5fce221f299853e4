// SPDX-License-Identifier: Apache-2.0
// Where things are: the user's archive, the build cache, the shipped operators, the runner.
// Precedence per path: command line, environment, project file, default.
#pragma once

#include "base/result.hpp"

#include <string>
#include <vector>

namespace kw {

struct WorkspaceSettings {
  std::string operators; ///< operator folder or trace set; "" = the shipped ones
  std::string state_dir; ///< archive, runs, reports; "" = ./.kernwright
  std::string cache_dir; ///< builds, measured ceilings; "" = $XDG_CACHE_HOME/kernwright
  std::string compiler;  ///< name or path; "" = the first of g++-12, g++, clang++-19, clang++
};

struct WorkspaceOptions : WorkspaceSettings { ///< as typed
  WorkspaceSettings project;                  ///< as kernwright.toml has them
  std::string project_file;                   ///< "" = there is none
};

/// A resolved value and where it came from: "command line", "KERNWRIGHT_STATE", "kernwright.toml",
/// "default".
struct ResolvedSetting {
  std::string name, value, origin;
};

struct Workspace {
  std::string operators, state_dir, cache_dir;
  std::string compiler;                  ///< "" = the first that is there
  std::string include_dir;               ///< folder of kernwright.h
  std::string runner;                    ///< kernwright-runner
  std::vector<ResolvedSetting> resolved; ///< operators, state, cache, compiler
  std::string redteam;                   ///< shipped exploit corpus, "" if not installed
};

/// Errors: shipped operators or the runner not found beside the binary (broken installation).
Result<Workspace> open_workspace(const WorkspaceOptions& options);

} // namespace kw
