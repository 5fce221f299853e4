// SPDX-License-Identifier: Apache-2.0
// Is a task worth judging by? Every null solution must fail the task's own check by a margin: with
// all bounds ten times as wide (lint_margin) it must still be wrong somewhere. No candidate is
// built or run; the oracle answers for honest and for falsified inputs.
#pragma once

#include "base/result.hpp"
#include "judge/null_solutions.hpp"
#include "judge/trial.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kw {

struct LintOptions {
  double seconds = 60; ///< per task; looked at between calls of the oracle
  std::size_t workloads =
      4; ///< the cheapest ones; the second is asked where the first did not tell
  std::function<bool()> stop = [] { return false; };
};

/// A null solution, and how it fared over the trials it was held against.
struct NullOutcome {
  std::string null;   ///< "zeros as `y`"
  bool fails = false; ///< by the margin, in one trial at least
  double margin = 0;  ///< if not: its error in the worst trial as a multiple of the bound
  std::string detail; ///< if not: a sentence
  std::string remedy;
};

struct TaskLint {
  std::string word;  ///< VALID | INVALID | UNDECIDED (ran out of time)
  double margin = 0; ///< that is asked for
  std::vector<NullOutcome> nulls;
  std::vector<std::string> workloads; ///< asked, as "rows=1 n=512"
  std::vector<std::string> notes;
  std::uint64_t trials = 0, oracle_calls = 0;
  double seconds = 0;
};

/// Workloads are asked from the cheapest on until every null solution has failed. The inputs are
/// those of the gates: all ordinary classes, two trials each, `normal` first.
/// Errors: the oracle fails; interrupted.
Result<TaskLint> lint_task(TrialRunner& trials, const std::vector<BoundWorkload>& workloads,
                           const LintOptions& options);

} // namespace kw
