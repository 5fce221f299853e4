// SPDX-License-Identifier: Apache-2.0
// Trace lines <-> JSON. A Trace with neither solution nor evaluation is how workloads are stored.
#pragma once

#include "formats/issue.hpp"
#include "model/trace.hpp"

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

/// One line of JSON Lines; `line` is its number. Empty when it has an error.
std::optional<Trace> decode_trace(std::string_view text, const std::string& file, int line,
                                  Issues& issues);
/// All non-empty lines; bad ones are reported and left out.
std::vector<Trace> decode_traces(std::string_view text, const std::string& file, Issues& issues);

/// A bare Workload object, as some tools keep it.
std::optional<Workload> decode_workload(std::string_view text, const std::string& file,
                                        Issues& issues);

/// One line without newline. Errors: a cross-rule of the format is broken (evaluation without
/// solution, status with the wrong set of figures, negative or non-finite times, empty names).
Result<std::string> encode_trace(const Trace& trace);
/// The workload as a Trace line of `definition`.
[[nodiscard]] std::string encode_workload_line(const Workload& workload,
                                               const std::string& definition);

/// The rules of encode_trace alone.
Status check_trace(const Trace& trace);

} // namespace kw
