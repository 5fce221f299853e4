// SPDX-License-Identifier: Apache-2.0
// Attacks on the judge with expected verdicts, and honest controls that must be accepted.
#pragma once

#include "base/result.hpp"
#include "service/judging.hpp"
#include "service/workspace.hpp"

#include <functional>
#include <string>
#include <vector>

namespace kw {

struct RedteamCase {
  std::string id;      ///< "RH-01", "OK-04"
  std::string title, why, definition, entry, file;
  std::vector<std::pair<std::string, std::int64_t>> axes;
  std::vector<std::string> expected; ///< finding names, "CORRECT", "NOT_FASTER", "ACCEPTED"
  std::string gate = "gate";
  bool timing = false;
  double max_gain = 1.02;
  int repeats = 1;
};

struct RedteamResult {
  RedteamCase what;
  std::string observed; ///< finding name, or the verdict's word
  std::string detail;
  bool as_expected = false;
  double ms = 0;
};

struct RedteamOptions {
  std::string folder;          ///< "" = the shipped corpus
  std::vector<std::string> only; ///< ids; empty = all
  int repeats = 1;
  std::function<void(const RedteamResult&)> finished = [](const RedteamResult&) {};
};

/// Errors: a case file that does not parse.
Result<std::vector<RedteamCase>> load_redteam(const std::string& folder);
Result<std::vector<RedteamResult>> run_redteam(const Workspace& workspace, const RedteamOptions& options);

} // namespace kw
