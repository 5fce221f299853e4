// SPDX-License-Identifier: Apache-2.0
// A Solution as a folder of sources, and the two hashes that identify one.
#pragma once

#include "base/result.hpp"
#include "formats/issue.hpp"
#include "model/definition.hpp"
#include "model/solution.hpp"

#include <optional>
#include <string>

namespace kw {

/// What pack_solution takes from the caller; empty members come from config.toml, then defaults:
/// name = folder name, author = "unknown", language by the entry file's ending.
struct PackOptions {
  std::string name;
  std::string definition;
  std::string author;
  std::string language;
  std::string
      entry_point; ///< "file::function", or a function alone; "" = the only one the sources export
  std::string binding;
  std::optional<bool> destination_passing_style;
};

/// Packs a folder, recursively: every regular text file becomes a source, in path order. With a
/// config.toml ([solution] name, definition, author, description; [build] language, entry_point,
/// destination_passing_style, binding, target_hardware, dependencies) the sources are taken from
/// the folder `solution/` beside it if there is one, as the starter kit lays it out, else from the
/// folder itself. Hidden files, solution.json and build outputs are left out with a warning where
/// they could have been meant. A single source file is packed as a solution of one source.
Result<Solution> pack_solution(const std::string& path, const PackOptions& options, Issues& issues);

/// Reads a solution.json, a folder or a source file. Errors carry the first issue.
Result<Solution> read_solution(const std::string& path, const PackOptions& options, Issues& issues);

/// Writes every source below `folder` (made if absent). Never follows a link out of it and never
/// overwrites: an existing file is an error.
Status unpack_solution(const Solution& solution, const std::string& folder);

/// Upstream's identity: SHA-1 over definition, language, entry point, binding, dependencies, then
/// path and content of each source, joined without separators. It ignores the calling style and
/// the target, and different solutions can collide; use it for exchange only.
[[nodiscard]] std::string fib_hash(const Solution& solution);

/// What a build depends on besides the sources.
struct BuildKey {
  std::string compiler; ///< "g++-12"
  std::string version;  ///< "12.2.0"
  std::string flags;
  std::string arch; ///< e.g. "x86-64 avx512f ..."
};

/// Our identity: SHA-256 over length-prefixed fields of everything that decides what runs and what
/// it is judged by: all of the solution but its name, author and prose, the definition, the build.
[[nodiscard]] std::string full_hash(const Solution& solution, const Definition& definition,
                                    const BuildKey& build);

} // namespace kw
