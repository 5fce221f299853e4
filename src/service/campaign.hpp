// SPDX-License-Identifier: Apache-2.0
// `optimize` over several definitions, one after the other, with a replay of what it promoted.
// Campaign files: docs/formats.md. What is done is kept: the same command goes on where it stopped.
#pragma once

#include "report/campaign_report.hpp"
#include "service/optimizing.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kw {

struct Campaign {
  std::string name, description;
  Objective objective = Objective::weighted;
  std::string gate = "accept";
  std::uint64_t replay_trials = 0;                         ///< per workload; 0 = no replay
  std::vector<std::pair<std::string, std::string>> tracks; ///< track, definition; in file order
};
/// Errors: not found, not of the schema, an unknown objective or gate, a definition named twice.
Result<Campaign> read_campaign(const std::string& path);

struct CampaignRequest {
  std::string file;
  bool fresh = false; ///< forget what was done
  /// For every definition; definition, objective and gate come from the campaign.
  OptimizeRequest base;
};

struct CampaignResult {
  CampaignReport report;
  bool interrupted = false;
  std::string folder; ///< campaigns/NAME below the state: progress.json, results.md
};

/// A definition that is not there is a row of its own. Errors: the campaign file; the archive.
Result<CampaignResult> run_campaign(const Workspace& workspace, const CampaignRequest& request);

} // namespace kw
