// SPDX-License-Identifier: Apache-2.0
// Our own records as JSON: what the archive stores, the side-car holds and `--json` prints. Every
// document names its schema and version ("kernwright.verdict/1"); a reader accepts absent keys
// (their default) and ignores keys it does not know, and refuses another schema or a later version.
// Non-finite numbers are written as the strings "NaN", "Infinity", "-Infinity".
#pragma once

#include "base/result.hpp"
#include "model/probe.hpp"
#include "model/profile.hpp"
#include "model/verdict.hpp"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace kw {

/// One line, no line breaks inside, valid UTF-8 (foreign bytes become U+FFFD).
[[nodiscard]] std::string encode_verdict(const Verdict& verdict);
[[nodiscard]] std::string encode_probe(const Probe& probe);
[[nodiscard]] std::string encode_record(const Record& record);
[[nodiscard]] std::string encode_run(const Run& run);

/// Errors: invalid_input (with line and column), unsupported (later schema version).
Result<Verdict> decode_verdict(std::string_view text);
Result<Probe> decode_probe(std::string_view text);
Result<Record> decode_record(std::string_view text);
Result<Run> decode_run(std::string_view text);

/// The same as a JSON value, for a caller that puts it into a larger document.
[[nodiscard]] nlohmann::ordered_json verdict_to_json(const Verdict& verdict);
[[nodiscard]] nlohmann::ordered_json probe_to_json(const Probe& probe);
[[nodiscard]] nlohmann::ordered_json profile_to_json(const Profile& profile);

} // namespace kw
