// SPDX-License-Identifier: Apache-2.0
// What people say to a run while it goes on (`kernwright steer`): a ledger of one JSON object per
// line, `runs/ID/steering.jsonl`. Format: docs/archive.md.
#pragma once

#include "base/json.hpp"
#include "base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace kw {

struct Steering {
  std::string kind;      ///< "prefer", "block", "note", "hand-over", "approve", "decline"
  std::string direction; ///< of prefer and block
  std::string text;      ///< in their own words, may be empty
  std::string by, at;    ///< who; ISO 8601 UTC
  double minutes = 0;    ///< of that person's time
};

/// Errors: an unknown kind or direction, a direction where none belongs or none where one does,
/// minutes that are negative or more than a day.
Status check_steering(const Steering& steering);
[[nodiscard]] Json to_json(const Steering& steering);
Result<Steering> steering_from_json(const Json& json);

/// Appends durably. Errors: check_steering's; a file that cannot be written.
Status append_steering(const std::string& path, const Steering& steering);
/// All from line `from` (0 = the first) on; a line that is damaged is left out and counts. No file:
/// none.
struct SteeringLines {
  std::vector<Steering> steerings;
  std::size_t lines = 0; ///< in the whole file: where to go on
};
Result<SteeringLines> read_steering(const std::string& path, std::size_t from);

} // namespace kw
