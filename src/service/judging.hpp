// SPDX-License-Identifier: Apache-2.0
// Shared by every use case that judges: finding definitions and solutions, opening a judge.
#pragma once

#include "base/result.hpp"
#include "compile/build.hpp"
#include "judge/judge.hpp"
#include "model/definition.hpp"
#include "model/probe.hpp"
#include "model/solution.hpp"
#include "model/trace.hpp"
#include "service/workspace.hpp"

#include <memory>
#include <string>
#include <vector>

namespace kw {

/// A Definition with its workloads and where relative blobs resolve.
struct Task {
  Definition definition;
  std::vector<Workload> workloads;
  std::string root;
  std::vector<Solution> solutions = {}; ///< that lie beside the definition
};

struct JudgingOptions {
  bool allow_weak_sandbox = false;
  std::string required_tier; ///< "" = the definition's
  SandboxDenials deny;       ///< facilities to do without: how the red team reaches weaker tiers
  std::vector<std::string> workloads; ///< uuids or "axis=value" filters; empty = all
  int threads = 0;                    ///< 0 = the definition's
  bool shares_cpus =
      false; ///< other judges run beside this one: sleep instead of spinning, pin nothing
  bool fib_calls = false; ///< JudgeContext::fib_calls
  std::function<bool()> stop = [] { return false; };
  std::function<void(const std::string&)> note = [](const std::string&) {
  }; ///< why it takes longer, for people
  std::function<void(const std::string&, std::uint64_t, std::uint64_t)> progress =
      [](const std::string&, std::uint64_t, std::uint64_t) {};
};

/// Errors: unknown name (with the nearest), a set that does not pass its own checks.
Result<Task> find_task(const Workspace& workspace, const std::string& definition);
Result<TraceSet> load_operators(const Workspace& workspace);

/// A solution.json, a folder with config.toml, or a bare C++ source (then `definition` is required
/// and `entry` defaults to its only extern "C" function).
Result<Solution> load_solution(const std::string& path, const std::string& definition,
                               const std::string& entry);

/// The Definition's plain baseline as a Solution. Errors: none is declared.
Result<Solution> baseline_solution(const Definition& definition);

/// The Definition's peers and the streaming copies of its footprint.
[[nodiscard]] std::vector<PeerSpec> peers_of(const Definition& definition);

/// The judge with what it borrows, kept alive together.
struct Bench {
  std::shared_ptr<Builder> builder;
  std::unique_ptr<Target> target;
  Environment environment; ///< of the probes it judges
  std::unique_ptr<Judge> judge;
};
/// `builder`: shared between benches; null = one of its own.
Result<Bench> open_bench(const Workspace& workspace, const Task& task,
                         const JudgingOptions& options, std::shared_ptr<Builder> builder = nullptr);
Result<std::shared_ptr<Builder>> open_builder(const Workspace& workspace);

} // namespace kw
