// SPDX-License-Identifier: Apache-2.0
// From a finished run to its row in a campaign, and the row as JSON for the campaign's progress.
#pragma once

#include "base/json.hpp"
#include "report/campaign_report.hpp"
#include "service/optimizing.hpp"

namespace kw {

/// Everything but track, replay and state. The score is 0 unless something correct stands.
[[nodiscard]] CampaignRow campaign_row(const OptimizeResult& result);

[[nodiscard]] Json to_json(const CampaignRow& row);
/// Errors: a damaged progress file.
Result<CampaignRow> campaign_row_from_json(const Json& json);

} // namespace kw
