// SPDX-License-Identifier: Apache-2.0
// A folder with solutions as people and programs leave them: each source file, solution.json or
// subfolder in it is one.
#pragma once

#include "base/result.hpp"
#include "model/solution.hpp"

#include <string>
#include <vector>

namespace kw {

/// One entry of the folder, usable or not.
struct FoundSolution {
  std::string name; ///< of the file or subfolder
  Result<Solution> solution;
};

/// In the order of their names. Hidden entries, "results" and files that are no solution (.md,
/// .txt, other .json) are left out. A solution for another definition, and one of more than 1 MiB,
/// is an error of that entry. Errors: no such folder.
Result<std::vector<FoundSolution>> solutions_in(const std::string& folder,
                                                const std::string& definition);

/// The size of all sources together.
[[nodiscard]] std::size_t source_bytes(const Solution& solution);
/// SHA-256 over names, contents and entry: two proposals of equal identity are the same.
[[nodiscard]] std::string source_identity(const Solution& solution);

} // namespace kw
