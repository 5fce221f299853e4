// SPDX-License-Identifier: Apache-2.0
#include "service/packing.hpp"

#include "formats/solution_files.hpp"
#include "formats/solution_json.hpp"
#include "os/files.hpp"

namespace kw {
namespace {

Packed describe(const Solution& solution) { return {.name = solution.name, .fib_hash = fib_hash(solution), .sources = solution.sources.size()}; }

} // namespace

Result<Packed> pack_to_file(const std::string& from, const std::string& to, const PackRequest& request) {
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
  return describe(*solution);
}

} // namespace kw
