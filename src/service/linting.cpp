// SPDX-License-Identifier: Apache-2.0
#include "service/linting.hpp"

#include "formats/trace_set.hpp"
#include "os/files.hpp"
#include "service/judging.hpp"

#include <memory>

namespace kw {
namespace {

Result<std::vector<Task>> tasks_of(const Workspace& workspace, const std::string& target) {
  if (!is_dir(target) && !is_file(target)) {
    KW_TRY(Task task, find_task(workspace, target));
    return std::vector<Task>{std::move(task)};
  }
  KW_TRY(const Loaded loaded, load_any(target));
  KW_CHECK(first_error(loaded.issues));
  KW_CHECK(first_error(check_set(loaded.set)));
  std::vector<Task> out;
  for (const Definition& d : loaded.set.definitions) {
    Task task{.definition = d, .workloads = {}, .root = loaded.set.root};
    if (const auto w = loaded.set.workloads.find(d.name); w != loaded.set.workloads.end())
      task.workloads = w->second;
    out.push_back(std::move(task));
  }
  return out;
}

} // namespace

Result<std::vector<LintedTask>> lint(const Workspace& workspace,
                                     const std::vector<std::string>& targets,
                                     const LintSettings& settings) {
  std::vector<Task> tasks;
  for (const std::string& target :
       targets.empty() ? std::vector<std::string>{workspace.operators} : targets) {
    KW_TRY(std::vector<Task> some, tasks_of(workspace, target));
    std::move(some.begin(), some.end(), std::back_inserter(tasks));
  }
  KW_TRY(const std::shared_ptr<Builder> builder, open_builder(workspace));
  JudgingOptions judging;
  judging.stop = settings.task.stop;
  judging.allow_weak_sandbox = true; // nothing untrusted is loaded
  std::vector<LintedTask> out;
  for (const Task& task : tasks) {
    KW_TRY(const Bench bench, open_bench(workspace, task, judging, builder));
    bench.judge->begin(Seed{});
    Result<TaskLint> found =
        lint_task(bench.judge->trials(), bench.judge->workloads(), settings.task);
    if (!found) {
      Error error = found.error();
      error.where = task.definition.file + (error.where.empty() ? "" : " (" + error.where + ")");
      return fail(std::move(error));
    }
    out.push_back({.definition = task.definition.name,
                   .file = task.definition.file,
                   .lint = std::move(*found)});
    settings.finished(out.back());
  }
  return out;
}

} // namespace kw
