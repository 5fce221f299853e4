// SPDX-License-Identifier: Apache-2.0
#include "formats/trace_set.hpp"

#include "base/json.hpp"
#include "formats/loading.hpp"
#include "formats/solution_files.hpp"
#include "os/files.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kw {
namespace {

constexpr std::string_view definition_ending = ".definition.json";

Status must_be_folder(const std::string& root) {
  if (!is_dir(root))
    return fail(ErrorKind::not_found,
                fmt::format("{} does not exist, or is neither a file nor a folder", root),
                "name an existing folder or file", root);
  return {};
}

void add_operator(SetBuilder& builder, const std::string& definition_file) {
  builder.add_definition(definition_file, ReferenceRule::may_be_in_file, Severity::error);
  const std::string stem =
      definition_file.substr(0, definition_file.size() - definition_ending.size());
  if (is_file(stem + ".workloads.jsonl"))
    builder.add_lines(stem + ".workloads.jsonl", SetBuilder::Lines::workloads);
}

/// The file must be named after its definition, else its workloads file would not be found.
void check_names(Loaded& loaded) {
  for (const Definition& d : loaded.set.definitions)
    if (base_name(d.file) != d.name + std::string(definition_ending))
      loaded.issues.push_back(
          {Severity::error,
           {ErrorKind::invalid_input,
            fmt::format("the definition `{}` is in a file of another name", d.name),
            fmt::format("rename the file to {}{}, and its workloads likewise", d.name,
                        definition_ending),
            d.file}});
}

Result<Loaded> load_file(const std::string& path) {
  Loaded loaded;
  loaded.set.root = parent_path(path);
  SetBuilder builder(loaded);
  if (path.ends_with(definition_ending)) {
    add_operator(builder, path);
    check_names(loaded);
  } else if (path.ends_with(".jsonl")) {
    builder.add_lines(path, SetBuilder::Lines::either);
  } else if (path.ends_with(".json")) {
    KW_TRY(const std::string text, read_file(path));
    const auto j = parse_json({.file = path, .text = text});
    if (!j)
      loaded.issues.push_back({Severity::error, j.error()});
    else if (j->contains("workload"))
      builder.add_lines(path, SetBuilder::Lines::either);
    else if (j->contains("spec") || j->contains("sources"))
      builder.add_solution(path);
    else if (j->contains("axes") || j->contains("op_type") || j->contains("reference"))
      builder.add_definition(path, ReferenceRule::required, Severity::warning);
    else
      return fail(ErrorKind::invalid_input,
                  fmt::format("{} is neither definition, solution nor trace", path),
                  "docs/formats.md lists the keys of each", path);
  } else {
    return fail(ErrorKind::invalid_input,
                fmt::format("{} has an ending that nothing here reads", path),
                "name a folder, a .json or a .jsonl file", path);
  }
  check_blobs(loaded.set, loaded.issues);
  return loaded;
}

} // namespace

Result<Loaded> load_trace_set(const std::string& root) {
  KW_CHECK(must_be_folder(root));
  Loaded loaded;
  loaded.set.root = root;
  SetBuilder builder(loaded);
  bool any = false;
  for (const char* part : {"definitions", "solutions", "workloads", "traces"})
    any = any || is_dir(join_path(root, part));
  if (!any)
    return fail(ErrorKind::not_found, fmt::format("{} is no trace set", root),
                "it needs definitions/, workloads/, solutions/ or traces/", root);
  KW_TRY(const auto definitions, files_below(join_path(root, "definitions"), ".json"));
  for (const std::string& file : definitions)
    builder.add_definition(file, ReferenceRule::required, Severity::warning);
  KW_TRY(const auto solutions, files_below(join_path(root, "solutions"), ".json"));
  for (const std::string& file : solutions)
    builder.add_solution(file);
  KW_TRY(const auto workloads, files_below(join_path(root, "workloads"), ".jsonl"));
  for (const std::string& file : workloads)
    builder.add_lines(file, SetBuilder::Lines::workloads);
  KW_TRY(const auto traces, files_below(join_path(root, "traces"), ".jsonl"));
  for (const std::string& file : traces)
    builder.add_lines(file, SetBuilder::Lines::traces);
  check_layout(loaded.set, loaded.issues);
  check_blobs(loaded.set, loaded.issues);
  return loaded;
}

Result<Loaded> load_operator_folder(const std::string& root) {
  KW_CHECK(must_be_folder(root));
  Loaded loaded;
  loaded.set.root = root;
  SetBuilder builder(loaded);
  KW_TRY(const auto definitions, files_below(root, definition_ending));
  if (definitions.empty())
    return fail(ErrorKind::not_found, fmt::format("no *{} below {}", definition_ending, root),
                "`kernwright init op NAME` makes one", root);
  for (const std::string& file : definitions)
    add_operator(builder, file);
  check_names(loaded);
  KW_TRY(const auto solutions, files_below(root, ".solution.json"));
  for (const std::string& file : solutions)
    builder.add_solution(file);
  check_blobs(loaded.set, loaded.issues);
  return loaded;
}

Result<Loaded> load_any(const std::string& path) {
  if (is_file(path))
    return load_file(path);
  KW_CHECK(must_be_folder(path));
  if (is_dir(join_path(path, "definitions")))
    return load_trace_set(path);
  KW_TRY(const auto definitions, files_below(path, definition_ending));
  if (!definitions.empty())
    return load_operator_folder(path);
  if (is_file(join_path(path, "config.toml"))) {
    Loaded loaded;
    loaded.set.root = path;
    auto solution = pack_solution(path, {}, loaded.issues);
    if (solution)
      loaded.set.solutions.push_back(std::move(*solution));
    else
      loaded.issues.push_back({Severity::error, std::move(solution.error())});
    return loaded;
  }
  for (const char* part : {"solutions", "workloads", "traces"})
    if (is_dir(join_path(path, part)))
      return load_trace_set(path);
  return fail(ErrorKind::not_found, fmt::format("nothing to read in {}", path),
              "a trace set has definitions/, an operator folder has *.definition.json, a solution "
              "folder has config.toml",
              path);
}

} // namespace kw
