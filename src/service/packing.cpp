// SPDX-License-Identifier: Apache-2.0
#include "service/packing.hpp"

#include "formats/solution_files.hpp"
#include "formats/solution_json.hpp"
#include "os/files.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kw {
namespace {

Packed describe(const Solution& solution) {
  return {
      .name = solution.name, .fib_hash = fib_hash(solution), .sources = solution.sources.size()};
}

/// JSON strings are TOML basic strings.
std::string config_text(const Solution& s) {
  const auto quoted = [](const std::string& text) { return nlohmann::json(text).dump(); };
  std::string out =
      fmt::format("[solution]\nname = {}\ndefinition = {}\nauthor = {}\n\n[build]\nlanguage = "
                  "{}\nentry_point = {}\n"
                  "destination_passing_style = {}\n",
                  quoted(s.name), quoted(s.definition), quoted(s.author), quoted(s.spec.language),
                  quoted(s.spec.entry_point), s.spec.destination_passing_style);
  if (s.spec.binding)
    out += fmt::format("binding = {}\n", quoted(*s.spec.binding));
  return out;
}

} // namespace

Result<Packed> pack_to_file(const std::string& from, const std::string& to,
                            const PackRequest& request) {
  Issues issues;
  PackOptions options;
  options.name = request.name;
  options.definition = request.definition;
  options.author = request.author;
  options.entry_point = request.entry;
  Result<Solution> solution = pack_solution(from, options, issues);
  KW_CHECK(first_error(issues));
  if (!solution)
    return fail(solution.error());
  if (const std::string folder = parent_path(to); !folder.empty())
    KW_CHECK(make_dirs(folder));
  KW_CHECK(write_file_atomic(to, encode_solution(*solution) + "\n"));
  return describe(*solution);
}

Result<Packed> unpack_to_folder(const std::string& from, const std::string& folder) {
  Issues issues;
  Result<Solution> solution = read_solution(from, {}, issues);
  KW_CHECK(first_error(issues));
  if (!solution)
    return fail(solution.error());
  KW_CHECK(unpack_solution(*solution, folder));
  // With its configuration beside them the sources can be packed, or judged, as they lie there.
  if (const std::string config = join_path(folder, "config.toml"); !is_file(config))
    KW_CHECK(write_file_atomic(config, config_text(*solution)));
  return describe(*solution);
}

} // namespace kw
