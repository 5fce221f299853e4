// SPDX-License-Identifier: Apache-2.0
// kernwright.toml: what a project's people would otherwise type each time. A plain reading of it;
// which settings exist is known to the command line, which holds the names against its options.
#pragma once

#include "base/result.hpp"

#include <map>
#include <string>
#include <vector>

namespace kw {

struct ProjectSetting {
  std::vector<std::string>
      values;        ///< as they would be typed; an array is an option given repeatedly
  std::string where; ///< "kernwright.toml:4"
};

struct ProjectFile {
  std::string path;   ///< "" = there is none
  std::string folder; ///< relative paths in the file start here
  /// By section, then key. Keys outside of any section are in section "".
  std::map<std::string, std::map<std::string, ProjectSetting>> sections;
};

/// Errors (with line and column): no TOML; a value that is no text, number, true, false or list of
/// these.
Result<ProjectFile> parse_project_file(const std::string& text, const std::string& path);

/// `path`, which must exist; or, when it is "", kernwright.toml in the current folder if there is
/// one.
Result<ProjectFile> read_project_file(const std::string& path);

} // namespace kw
