// SPDX-License-Identifier: Apache-2.0
// Verdicts of one `evaluate` call, for continuous integration.
#pragma once

#include "model/verdict.hpp"

#include <string>
#include <vector>

namespace kw {

struct EvaluatedSolution {
  std::string name;
  std::string file; ///< solution.json as the user named it, may be empty
  Verdict verdict;
  std::string replay_command;
};

struct EvaluateReport {
  std::string definition;
  std::string version; ///< Kernwright's own
  std::vector<EvaluatedSolution> solutions;
};

/// JUnit XML as Jenkins, GitLab and GitHub actions read it: one test case per solution. Rejected
/// and undecided candidates are failures, infrastructure trouble is an error.
[[nodiscard]] std::string junit_xml(const EvaluateReport& report);

/// SARIF 2.1.0: one result per compiler diagnostic and per finding, none for accepted solutions.
[[nodiscard]] std::string sarif_json(const EvaluateReport& report);

} // namespace kw
