// SPDX-License-Identifier: Apache-2.0
#include "formats/loading.hpp"

#include "base/json.hpp"
#include "base/strings.hpp"
#include "formats/solution_json.hpp"
#include "formats/trace_json.hpp"
#include "os/files.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kw {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t max_files = 100'000;
constexpr std::size_t max_side_source =
    4 << 20; // an oracle or reference larger than that is no source

} // namespace

bool is_lfs_pointer(std::string_view head) {
  return head.starts_with("version https://git-lfs.github.com/spec/");
}

Result<std::vector<std::string>> files_below(const std::string& root, std::string_view ending) {
  std::vector<std::string> out;
  std::error_code error;
  if (!fs::exists(root, error))
    return out;
  fs::recursive_directory_iterator at(root, fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    std::error_code ignored;
    const std::string name = at->path().string();
    if (!name.ends_with(ending) || !at->is_regular_file(ignored))
      continue;
    out.push_back(name);
    if (out.size() > max_files)
      return fail(ErrorKind::invalid_input,
                  fmt::format("more than {} files below {}", max_files, root),
                  "name a folder further down", root);
  }
  if (error)
    return fail(ErrorKind::infrastructure, fmt::format("cannot list {}: {}", root, error.message()),
                "check that the folder can be read", root);
  std::ranges::sort(out);
  return out;
}

void SetBuilder::issue(Severity severity, std::string where, std::string message,
                       std::string remedy) {
  out_.issues.push_back(
      {severity,
       {ErrorKind::invalid_input, std::move(message), std::move(remedy), std::move(where)}});
}

bool SetBuilder::read(const std::string& file, std::string& text) {
  auto content = read_file(file);
  if (!content) {
    if (content.error().where.empty())
      content.error().where = file;
    out_.issues.push_back({Severity::error, std::move(content.error())});
    return false;
  }
  if (is_lfs_pointer(*content)) {
    issue(Severity::error, file, "the file is a git-LFS pointer, its content was not downloaded",
          fmt::format("run `git lfs pull --include \"{}\"`", file));
    return false;
  }
  text = std::move(*content);
  return true;
}

void SetBuilder::add_definition(const std::string& file, ReferenceRule rule,
                                Severity missing_source) {
  std::string text;
  if (!read(file, text))
    return;
  auto d = decode_definition(text, file, out_.issues, rule);
  if (!d)
    return;
  const auto [at, fresh] = definition_files_.emplace(d->name, file);
  if (!fresh)
    return issue(Severity::error, locate({.file = file, .text = text}, "/name"),
                 fmt::format("the definition name `{}` is taken by {}", d->name, at->second),
                 "definition names are unique in a set");
  d->folder = parent_path(file);
  const std::size_t before = out_.issues.size();
  read_sources(*d, text, missing_source, out_.issues);
  const bool failed =
      std::any_of(out_.issues.begin() + static_cast<std::ptrdiff_t>(before), out_.issues.end(),
                  [](const Issue& i) { return i.severity == Severity::error; });
  if (!failed)
    out_.set.definitions.push_back(std::move(*d));
}

void SetBuilder::add_solution(const std::string& file) {
  std::string text;
  if (!read(file, text))
    return;
  auto s = decode_solution(text, file, out_.issues);
  if (!s)
    return;
  const auto [at, fresh] = solution_files_.emplace(s->name, file);
  if (!fresh)
    return issue(Severity::error, locate({.file = file, .text = text}, "/name"),
                 fmt::format("the solution name `{}` is taken by {}", s->name, at->second),
                 "solution names are unique in a set");
  out_.set.solutions.push_back(std::move(*s));
}

void SetBuilder::add_lines(const std::string& file, Lines expected) {
  std::string text;
  if (!read(file, text))
    return;
  for (Trace& t : decode_traces(text, file, out_.issues)) {
    if (t.is_workload() && expected != Lines::traces)
      out_.set.workloads[t.definition].push_back(std::move(t.workload));
    else if (!t.is_workload() && expected != Lines::workloads)
      out_.set.traces.push_back(std::move(t));
    else if (t.is_workload())
      issue(Severity::error, t.where, "a workload line stands among traces",
            "move it to workloads/; flashinfer-bench stops loading here");
    else
      issue(Severity::error, t.where, "a trace with a result stands among workloads",
            "move it to traces/; flashinfer-bench stops loading here");
  }
}

void read_sources(Definition& d, std::string_view text, Severity missing, Issues& issues) {
  const JsonSource source{.file = d.file, .text = text};
  const auto read = [&](const std::string& name, std::string& into, const std::string& pointer) {
    if (name.empty() || !into.empty())
      return;
    auto content = read_file(join_path(d.folder, name), max_side_source);
    if (content && is_utf8(*content)) {
      into = std::move(*content);
      return;
    }
    if (content) {
      issues.push_back({Severity::error,
                        {ErrorKind::invalid_input, fmt::format("`{}` is not UTF-8 text", name),
                         "save the file as UTF-8", locate(source, pointer)}});
      return;
    }
    Error e = std::move(content.error());
    e.where = locate(source, pointer);
    if (e.kind == ErrorKind::not_found) {
      e.message = fmt::format("`{}` does not exist in {}", name, d.folder);
      e.remedy = "add the file, or correct its name here";
    }
    issues.push_back({missing, std::move(e)});
  };
  if (d.reference.empty()) {
    const std::size_t before = issues.size();
    read(d.ext.reference_file, d.reference, "/x_kernwright/reference_file");
    if (issues.size() == before)
      check_reference(d, issues);
    else
      issues.back().severity = Severity::error;
  }
  read(d.ext.oracle.source, d.ext.oracle.source_text, "/x_kernwright/oracle/source");
  if (d.ext.baseline)
    read(d.ext.baseline->source, d.ext.baseline->source_text, "/x_kernwright/baseline/source");
  for (std::size_t i = 0; i < d.ext.peers.size(); ++i)
    read(d.ext.peers[i].source, d.ext.peers[i].source_text,
         fmt::format("/x_kernwright/peers/{}/source", i));
  for (std::size_t i = 0; i < d.ext.templates.size(); ++i)
    if (const std::string& name = d.ext.templates[i]; !is_file(join_path(d.folder, name)))
      issues.push_back({missing,
                        {ErrorKind::not_found,
                         fmt::format("the template `{}` does not exist in {}", name, d.folder),
                         "add the file, or take it off the list",
                         locate(source, fmt::format("/x_kernwright/templates/{}", i))}});
}

} // namespace kw
