// SPDX-License-Identifier: Apache-2.0
// Where the time of one solution goes, on one workload.
#pragma once

#include "controller/optimize.hpp"
#include "model/profile.hpp"
#include "model/verdict.hpp"
#include "service/judging.hpp"

#include <string>

namespace kw {

struct ProfileOptions {
  std::string definition, entry; ///< for bare sources
  JudgingOptions judging;        ///< the first workload that passes its filters is profiled
  int calls = 15;
  double sample_seconds = 2; ///< at most, for where the time goes
  int rounds = 5;            ///< of each variant against the solution as it is
  std::string sweep_axis;    ///< variable axis to sweep over; "" = no size sweep
  bool scaling = false;      ///< with 1, 2, 4, ... threads, up to the machine's
  double sweep_seconds = 30; ///< for both together
};

struct Profiled {
  Profile profile;
  Verdict verdict; ///< build and correctness: a kernel that is wrong has no profile
  [[nodiscard]] bool ok() const { return verdict.finding == Finding::none; }
};

/// Errors: unknown definition or workload, no sandbox, infrastructure.
Result<Profiled> profile(const Workspace& workspace, const std::string& path,
                         const ProfileOptions& options);

/// What a GPU profiler's export says of the kernel with most time (formats/profile_import.hpp).
/// Nothing is built, run or verified. Errors: no such file, no such format, a damaged file.
Result<Profile> import_profile(const std::string& path);

/// For a search: ceilings, samples and loops in a second or less, no variant builds. Both must
/// outlive it. Empty where this machine's ceilings are not known.
[[nodiscard]] Profiler bottleneck_profiler(const Workspace& workspace, const Bench& bench);

} // namespace kw
