// SPDX-License-Identifier: Apache-2.0
#include "formats/export.hpp"

#include "base/strings.hpp"
#include "formats/definition_json.hpp"
#include "formats/python_scan.hpp"
#include "formats/solution_json.hpp"
#include "formats/trace_json.hpp"
#include "formats/verdict_json.hpp"
#include "os/files.hpp"

#include <filesystem>
#include <fmt/format.h>
#include <set>

namespace kw {
namespace {
namespace fs = std::filesystem;

Status must_name_a_file(const std::string& name, const char* what, const std::string& where) {
  if (is_inner_path(name) && name.find('/') == std::string::npos && name.size() < 200 &&
      !name.starts_with('.'))
    return {};
  return fail(ErrorKind::invalid_input,
              fmt::format("the {} `{}` cannot be a file name", what, name),
              "names become folders and files of the trace set: no slashes, no leading dot", where);
}

struct Line {
  std::string path; ///< relative to the trace set
  std::string text;
};

/// Everything that will be written, checked and in memory before the first byte goes to disk.
struct Plan {
  std::map<std::string, std::string> files; ///< path -> content
  std::vector<Line> appended;
  std::map<std::string, std::string> blobs; ///< path in the set -> source file
};

class Planner {
 public:
  Planner(const TraceSet& set, Plan& plan) : set_(set), plan_(plan) {}

  Status run() {
    for (const Definition& d : set_.definitions)
      KW_CHECK(definition(d));
    for (const auto& [name, workloads] : set_.workloads)
      KW_CHECK(workloads_of(name, workloads));
    for (const Solution& s : set_.solutions)
      KW_CHECK(solution(s));
    for (const Trace& t : set_.traces)
      KW_CHECK(trace(t));
    return {};
  }

 private:
  Status put(const std::string& path, std::string content, const std::string& where) {
    if (!plan_.files.emplace(path, std::move(content)).second)
      return fail(ErrorKind::invalid_input, fmt::format("two records would be written to {}", path),
                  "names are unique in a set", where);
    return {};
  }
  Result<const Definition*> find(const std::string& name, const std::string& where) {
    const Definition* d = set_.definition(name);
    if (d == nullptr)
      return fail(ErrorKind::not_found, fmt::format("the definition `{}` is not in the set", name),
                  "export it along", where);
    return d;
  }

  Status definition(const Definition& d) {
    KW_CHECK(must_name_a_file(d.name, "definition name", d.file));
    KW_CHECK(must_name_a_file(d.op_type, "op_type", d.file));
    if (!names_.insert(d.name).second)
      return fail(ErrorKind::invalid_input,
                  fmt::format("two definitions have the name `{}`", d.name),
                  "names are unique in a set", d.file);
    if (!scan_python(d.reference).top_level_run)
      return fail(ErrorKind::invalid_input,
                  fmt::format("`{}` has no Python reference with a top-level `def run`", d.name),
                  "the format requires one: add reference.py", d.file);
    return put(fmt::format("definitions/{}/{}.json", d.op_type, d.name),
               encode_definition(d, SourceForm::inlined), d.file);
  }
  Status blobs(const Workload& w) {
    for (const auto& [input, spec] : w.inputs)
      if (const auto* blob = std::get_if<SafetensorsInput>(&spec)) {
        if (blob->path.starts_with('/'))
          continue;
        if (!is_inner_path(blob->path))
          return fail(ErrorKind::invalid_input,
                      fmt::format("the path `{}` of input `{}` leaves the set", blob->path, input),
                      {}, w.where);
        const std::string source = join_path(set_.root, blob->path);
        if (!is_file(source))
          return fail(ErrorKind::not_found, fmt::format("{} does not exist", source),
                      "the workload needs it", w.where);
        plan_.blobs[blob->path] = source;
      }
    return {};
  }
  Status workloads_of(const std::string& name, const std::vector<Workload>& workloads) {
    KW_TRY(const Definition* d, find(name, workloads.empty() ? "" : workloads.front().where));
    std::string content;
    for (const Workload& w : workloads) {
      Trace t;
      t.definition = name;
      t.workload = w;
      KW_CHECK(check_trace(t));
      KW_CHECK(blobs(w));
      content += encode_workload_line(w, name) + "\n";
    }
    return put(fmt::format("workloads/{}/{}.jsonl", d->op_type, name), std::move(content), d->file);
  }
  Status solution(const Solution& s) {
    KW_CHECK(check_solution(s));
    KW_CHECK(must_name_a_file(s.name, "solution name", s.file));
    KW_CHECK(must_name_a_file(s.author, "author", s.file));
    if (!solutions_.emplace(s.name, s.author).second)
      return fail(ErrorKind::invalid_input, fmt::format("two solutions have the name `{}`", s.name),
                  "names are unique in a set", s.file);
    KW_TRY(const Definition* d, find(s.definition, s.file));
    return put(fmt::format("solutions/{}/{}/{}/{}.json", s.author, d->op_type, d->name, s.name),
               encode_solution(s), s.file);
  }
  Status trace(const Trace& t) {
    if (t.is_workload())
      return fail(ErrorKind::invalid_input, "a workload stands among the traces",
                  "put it under workloads", t.where);
    KW_TRY(const Definition* d, find(t.definition, t.where));
    const auto author = solutions_.find(t.solution.value_or(""));
    if (author == solutions_.end())
      return fail(
          ErrorKind::not_found,
          fmt::format("the solution `{}` of a trace is not in the set", t.solution.value_or("")),
          "export it along", t.where);
    KW_CHECK(blobs(t.workload));
    KW_TRY(std::string line, encode_trace(t));
    plan_.appended.push_back(
        {fmt::format("traces/{}/{}/{}.jsonl", author->second, d->op_type, d->name),
         std::move(line)});
    return {};
  }

  const TraceSet& set_;
  Plan& plan_;
  std::set<std::string> names_;
  std::map<std::string, std::string> solutions_; ///< name -> author
};

Status copy_blob(const std::string& from, const std::string& to) {
  KW_CHECK(make_dirs(parent_path(to)));
  std::error_code error;
  if (fs::exists(to, error) && fs::equivalent(from, to, error))
    return {};
  const std::string part = to + ".part"; // renamed when whole
  fs::copy_file(from, part, fs::copy_options::overwrite_existing, error);
  if (!error)
    fs::rename(part, to, error);
  if (error)
    return fail(ErrorKind::infrastructure,
                fmt::format("cannot copy {} to {}: {}", from, to, error.message()),
                "check free space and permissions", to);
  return {};
}

/// Lines that are already in the file are not written again, so that an export can be repeated.
Status append_new(const std::string& path, const std::vector<std::string>& lines) {
  KW_CHECK(make_dirs(parent_path(path)));
  std::set<std::string, std::less<>> there;
  std::string old;
  if (is_file(path)) {
    KW_TRY(old, read_file(path, std::size_t{1} << 30));
  }
  for (std::size_t start = 0; start < old.size();) {
    const std::size_t end = std::min(old.find('\n', start), old.size());
    there.insert(old.substr(start, end - start));
    start = end + 1;
  }
  for (const std::string& line : lines)
    if (there.insert(line).second)
      KW_CHECK(append_line_durable(path, line));
  return {};
}

} // namespace

Status export_trace_set(const TraceSet& set, const std::string& folder) {
  Plan plan;
  KW_CHECK(Planner(set, plan).run());
  KW_CHECK(make_dirs(folder));
  for (const auto& [path, source] : plan.blobs) // before the workloads that name them
    KW_CHECK(copy_blob(source, join_path(folder, path)));
  for (const auto& [path, content] : plan.files) {
    const std::string file = join_path(folder, path);
    KW_CHECK(make_dirs(parent_path(file)));
    KW_CHECK(write_file_atomic(file, content));
  }
  std::map<std::string, std::vector<std::string>> by_file;
  for (Line& line : plan.appended)
    by_file[line.path].push_back(std::move(line.text));
  for (const auto& [path, lines] : by_file)
    KW_CHECK(append_new(join_path(folder, path), lines));
  return {};
}

Status append_sidecar(const Probe& probe, const Definition& definition, const std::string& folder) {
  const std::string author = probe.solution.author.empty() ? "unknown" : probe.solution.author;
  KW_CHECK(must_name_a_file(author, "author", probe.solution.file));
  KW_CHECK(must_name_a_file(definition.op_type, "op_type", definition.file));
  KW_CHECK(must_name_a_file(definition.name, "definition name", definition.file));
  return append_new(join_path(folder, fmt::format("sidecar/{}/{}/{}.jsonl", author,
                                                  definition.op_type, definition.name)),
                    {encode_probe(probe)});
}

} // namespace kw
