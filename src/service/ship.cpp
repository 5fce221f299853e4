// SPDX-License-Identifier: Apache-2.0
#include "service/ship.hpp"

#include "archive/sqlite_archive.hpp"
#include "formats/export.hpp"
#include "formats/solution_files.hpp"
#include "formats/solution_json.hpp"
#include "formats/verdict_json.hpp"
#include "os/files.hpp"
#include "service/c_api.hpp"
#include "service/history.hpp"
#include "service/judging.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace kw {
namespace {

Status require_empty(const std::string& folder) {
  if (is_file(folder))
    return fail(ErrorKind::refused, "there is a file of that name", "choose another folder",
                folder);
  if (!is_dir(folder))
    return {};
  KW_TRY(const std::vector<TreeEntry> entries, list_tree(folder));
  if (!entries.empty())
    return fail(ErrorKind::refused, "the folder is not empty",
                "choose an empty or new one; nothing was written", folder);
  return {};
}

/// Adds the probe's solution once. Its name is its key in a trace set: another solution of that
/// name gives this one a suffix of its hash.
void add_solution(Probe& probe, TraceSet& set) {
  // A name that is no file name must not keep the others from being exported.
  std::string plain = probe.solution.name.substr(0, 120);
  for (char& c : plain)
    if (c < '!' || c > '~' ||
        std::string_view("/\\\"'<>|*?:&;$`").find(c) != std::string_view::npos)
      c = '_';
  if (plain.empty() || plain.front() == '.')
    plain.insert(0, 1, '_');
  if (plain != probe.solution.name)
    probe.solution.name = plain + "_" + probe.solution_hash.substr(0, 12);
  const auto same_name = [&](const Solution& s) { return s.name == probe.solution.name; };
  auto found = std::find_if(set.solutions.begin(), set.solutions.end(), same_name);
  if (found != set.solutions.end() && fib_hash(*found) != fib_hash(probe.solution)) {
    probe.solution.name += "_" + probe.solution_hash.substr(0, 12);
    found = std::find_if(set.solutions.begin(), set.solutions.end(), same_name);
  }
  if (found == set.solutions.end())
    set.solutions.push_back(probe.solution);
}

/// One trace per probe and workload it was judged on. What the format has no word for (correct but
/// not timed, open, an infrastructure failure) stands in the side-car only.
Status add_traces(std::vector<Probe>& probes, TraceSet& set) {
  for (Probe& probe : probes) {
    add_solution(probe, set);
    for (const Workload& workload : set.workloads[probe.definition]) {
      const bool judged = std::any_of(
          probe.verdict.workloads.begin(), probe.verdict.workloads.end(),
          [&](const WorkloadTrials& t) { return t.uuid == workload.uuid && t.trials > 0; });
      if (!judged && probe.verdict.build.outcome == Outcome::pass)
        continue;
      Result<Trace> trace = to_trace(probe, *set.definition(probe.definition), workload);
      if (trace)
        set.traces.push_back(std::move(*trace));
      else if (trace.error().kind != ErrorKind::refused)
        return fail(trace.error());
    }
  }
  return {};
}

} // namespace

Result<std::vector<std::string>> ship_record(const Workspace& workspace, const std::string& id,
                                             const std::string& folder) {
  KW_CHECK(require_empty(folder));
  KW_TRY(const std::unique_ptr<Archive> archive,
         open_sqlite_archive(workspace.state_dir, {.read_only = true}));
  KW_TRY(const ArchivedProbe stored, find_entry(*archive, id));
  KW_TRY(const Probe probe, decode_probe(stored.json));
  if (probe.verdict.correctness.outcome != Outcome::pass)
    return fail(ErrorKind::refused,
                fmt::format("probe {:.12} did not pass: {}", probe.id, probe.reason),
                "ship a promoted record; `kernwright archive list --records` shows them");
  KW_TRY(const Task task, find_task(workspace, probe.definition));
  KW_TRY(const ShippedLibrary library, make_library(workspace, task.definition, probe));
  KW_CHECK(make_dirs(folder));
  std::vector<std::string> written;
  for (const auto& [file, content] : library.files) {
    const std::string path = join_path(folder, file);
    KW_CHECK(make_dirs(parent_path(path)));
    KW_CHECK(write_file_atomic(path, content, file.ends_with(".so") ? 0755 : 0644));
    written.push_back(path);
  }
  return written;
}

Result<std::vector<std::string>> ship_trace_set(const Workspace& workspace,
                                                const std::string& folder, bool with_traces) {
  KW_CHECK(require_empty(folder));
  KW_TRY(TraceSet set, load_operators(workspace));
  for (const Definition& d : set.definitions)
    if (d.ext.baseline) {
      KW_TRY(Solution baseline, baseline_solution(d));
      baseline.name = d.name + "_" + baseline.name;
      // A set that was exported before holds it already.
      if (std::none_of(set.solutions.begin(), set.solutions.end(),
                       [&](const Solution& s) { return s.name == baseline.name; }))
        set.solutions.push_back(std::move(baseline));
    }
  std::vector<Probe> probes;
  if (with_traces) {
    KW_TRY(const std::unique_ptr<Archive> archive,
           open_sqlite_archive(workspace.state_dir, {.read_only = true}));
    KW_TRY(const std::vector<ProbeRow> rows, archive->list_probes({}));
    for (const ProbeRow& row : rows) {
      KW_TRY(const ArchivedProbe stored, archive->get_probe(row.id));
      KW_TRY(Probe probe, decode_probe(stored.json));
      if (set.definition(probe.definition) != nullptr)
        probes.push_back(std::move(probe));
    }
    KW_CHECK(add_traces(probes, set));
  }
  KW_CHECK(export_trace_set(set, folder));
  for (const Probe& probe : probes)
    KW_CHECK(append_sidecar(probe, *set.definition(probe.definition), folder));
  KW_TRY(const std::vector<TreeEntry> entries, list_tree(folder));
  std::vector<std::string> files;
  for (const TreeEntry& e : entries)
    files.push_back(join_path(folder, e.path));
  return files;
}

} // namespace kw
