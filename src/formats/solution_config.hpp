// SPDX-License-Identifier: Apache-2.0
// config.toml beside a solution's sources, as the FlashInfer-Bench starter kit lays it out.
#pragma once

#include "formats/issue.hpp"

#include <optional>
#include <string>
#include <vector>

namespace kw {

struct SolutionConfig {
  std::string name, definition, author, description;      ///< [solution]
  std::string language, entry_point, binding;             ///< [build]
  std::optional<bool> destination_passing_style;          ///< [build]
  std::vector<std::string> target_hardware, dependencies; ///< [build]
};

/// Unknown keys are warned about. Errors: not TOML, a value of the wrong type.
Result<SolutionConfig> read_solution_config(const std::string& path, Issues& issues);

} // namespace kw
