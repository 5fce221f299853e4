// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/probe.hpp"
#include "service/judging.hpp"
#include "service/workspace.hpp"

#include <string>
#include <vector>

namespace kw {

struct ReplayOptions {
  std::string gate;           ///< "" = the gate the probe was judged at
  std::uint64_t trials = 0;   ///< of every workload, on fresh inputs; 0 = as the gate says
  bool all_workloads = false; ///< also those that were not judged before
  bool timing = true;         ///< repeat the confirmation where the probe had one
  bool fresh_seed = false;    ///< false = the revealed seed: the very same inputs
  double timing_seconds = 120;
  JudgingOptions judging;
};

/// A re-judged probe beside the archived one.
struct Replay {
  Probe before, after;
  std::vector<std::string> drift; ///< sentences; empty = everything asked for holds again
};

/// `id`: record or probe id, or a unique prefix.
Result<Replay> replay(const Workspace& workspace, const std::string& id,
                      const ReplayOptions& options);

} // namespace kw
