// SPDX-License-Identifier: Apache-2.0
// Reading whole folders: the FlashInfer-Bench trace set and Kernwright's authoring form, the
// operator folder (docs/formats.md shows both). One bad record costs that record, not the set.
#pragma once

#include "base/result.hpp"
#include "formats/issue.hpp"
#include "model/trace.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace kw {

struct Loaded {
  TraceSet set;
  Issues issues; ///< in the order of the files
};

/// root/{definitions,solutions}/**/*.json, root/{workloads,traces}/**/*.jsonl; safetensors inputs
/// are looked up. Errors: root is no folder, or holds none of the four.
Result<Loaded> load_trace_set(const std::string& root);

/// Any tree with *.definition.json, beside each the files it names, <name>.workloads.jsonl and
/// *.solution.json. Errors: root is no folder, or holds no definition.
Result<Loaded> load_operator_folder(const std::string& root);

/// Whichever of these `path` is: a trace set, an operator folder, a folder with a solution
/// (config.toml), or one file: definition, solution, or lines of workloads and traces.
Result<Loaded> load_any(const std::string& path);

/// Rules between records: names that must exist, axes that must match, types of scalars,
/// expressions that must have a value, and what upstream accepts in the schema but fails on at run
/// time.
Issues check_set(const TraceSet& set);

/// The workloads of `definition` whose uuid an earlier one of them has.
Issues repeated_uuids(const std::string& definition, const std::vector<Workload>& workloads);

/// True for the text that git-LFS leaves in place of a file that was not pulled.
[[nodiscard]] bool is_lfs_pointer(std::string_view head);

} // namespace kw
