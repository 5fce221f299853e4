// SPDX-License-Identifier: Apache-2.0
#include "controller/solution_folder.hpp"

#include "base/hash.hpp"
#include "formats/solution_files.hpp"
#include "os/files.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace kw {
namespace {

constexpr std::size_t most_bytes = 1 << 20;

bool is_source(std::string_view name) {
  return name.ends_with(".cpp") || name.ends_with(".cc") || name.ends_with(".cxx") ||
         name.ends_with(".c") || name.ends_with(".solution.json") || name == "solution.json";
}

Result<Solution> read_one(const std::string& path, const std::string& definition) {
  Issues issues;
  // What says itself what it solves is not told otherwise.
  PackOptions options;
  if (!path.ends_with(".json") && !is_file(join_path(path, "config.toml")))
    options.definition = definition;
  KW_TRY(Solution solution, read_solution(path, options, issues));
  if (has_errors(issues))
    return fail(first_error(issues).error());
  if (solution.definition != definition)
    return fail(ErrorKind::invalid_input,
                fmt::format("it is a solution of {}, not of {}", solution.definition, definition),
                "put it into the folder of a run for that definition", path);
  if (source_bytes(solution) > most_bytes)
    return fail(ErrorKind::invalid_input, "its sources are larger than 1 MiB",
                "leave out what the kernel does not need", path);
  return solution;
}

} // namespace

std::size_t source_bytes(const Solution& solution) {
  std::size_t bytes = 0;
  for (const SourceFile& source : solution.sources)
    bytes += source.content.size();
  return bytes;
}

std::string source_identity(const Solution& solution) {
  std::string all = solution.spec.entry_point;
  for (const SourceFile& source : solution.sources)
    all += fmt::format("\n{} {} {}", source.path, source.content.size(), source.content);
  return sha256_hex(all);
}

Result<std::vector<FoundSolution>> solutions_in(const std::string& folder,
                                                const std::string& definition) {
  if (!is_dir(folder))
    return fail(ErrorKind::not_found, fmt::format("There is no folder {}", folder),
                "make it, or name another one", folder);
  KW_TRY(const std::vector<TreeEntry> tree, list_tree(folder));
  std::set<std::string> names;
  for (const TreeEntry& entry : tree) {
    const std::size_t slash = entry.path.find('/');
    const std::string name = entry.path.substr(0, slash);
    if (name.starts_with('.') || name == "results" ||
        (slash == std::string::npos && !is_source(name)))
      continue;
    names.insert(name);
  }
  std::vector<FoundSolution> out;
  for (const std::string& name : names)
    out.push_back({.name = name, .solution = read_one(join_path(folder, name), definition)});
  return out;
}

} // namespace kw
