// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace kw {

struct SourceFile {
  std::string path; ///< relative, no "..", unique within the solution
  std::string content;
  std::string unknown = {};
};

struct BuildSpec {
  std::string language = "cpp"; ///< python | triton | cpp | cuda | tilelang
  std::vector<std::string> target_hardware = {"cpu"};
  std::string entry_point; ///< "file::function"
  std::vector<std::string> dependencies;
  bool destination_passing_style = true;
  std::optional<std::string> binding; ///< "tvm-ffi", "torch"; ours: "kernwright" (plain C entry)
  std::string unknown;

  [[nodiscard]] std::string entry_file() const {
    return entry_point.substr(0, entry_point.find("::"));
  }
  [[nodiscard]] std::string entry_function() const {
    const std::size_t at = entry_point.find("::");
    return at == std::string::npos ? std::string{} : entry_point.substr(at + 2);
  }
};

/// Sources + build spec + entry point for one Definition and target.
struct Solution {
  std::string name;
  std::string definition;
  std::string author;
  BuildSpec spec;
  std::vector<SourceFile> sources;
  std::string description;
  std::string unknown;
  std::string file; ///< where it was read from ("" if made in memory)
};

} // namespace kw
