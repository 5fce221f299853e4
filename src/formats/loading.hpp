// SPDX-License-Identifier: Apache-2.0
// Shared by the loaders of trace sets and operator folders.
#pragma once

#include "formats/definition_json.hpp"
#include "formats/trace_set.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

/// Files below `root` whose path ends with `ending`, sorted; links to files count (data-set caches
/// are made of them), links to folders are not followed. Absent folder: none.
Result<std::vector<std::string>> files_below(const std::string& root, std::string_view ending);

/// Adds records to a set and keeps names unique.
class SetBuilder {
 public:
  explicit SetBuilder(Loaded& out) : out_(out) {}

  void add_definition(const std::string& file, ReferenceRule rule, Severity missing_source);
  void add_solution(const std::string& file);
  enum class Lines { workloads, traces, either };
  void add_lines(const std::string& file, Lines expected);

 private:
  bool read(const std::string& file, std::string& text);
  void issue(Severity severity, std::string where, std::string message, std::string remedy);

  Loaded& out_;
  std::map<std::string, std::string> definition_files_, solution_files_; ///< name -> file
};

/// Fills reference, oracle, baseline and peer texts from the files beside `definition`; `text` is
/// its JSON, for positions. `missing` is how an absent source file is reported.
void read_sources(Definition& definition, std::string_view text, Severity missing, Issues& issues);

/// Where flashinfer-bench's `validate` expects each record of a trace set; its loader, like ours,
/// takes any depth, but what stands elsewhere is skipped there without a word. Warnings.
void check_layout(const TraceSet& set, Issues& issues);

/// Safetensors inputs: the file exists, is no git-LFS pointer, has the key, the dtype and the
/// shape.
void check_blobs(const TraceSet& set, Issues& issues);

} // namespace kw
