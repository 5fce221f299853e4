// SPDX-License-Identifier: Apache-2.0
#include "service/judging.hpp"

#include "base/strings.hpp"
#include "controller/recorder.hpp"
#include "formats/solution_files.hpp"
#include "formats/trace_set.hpp"
#include "judge/precision.hpp"
#include "oracle/copy_peer.hpp"
#include "os/cpu.hpp"
#include "os/files.hpp"
#include "target/cpu/ceilings.hpp"
#include "target/cpu/cpu_target.hpp"
#include "tensor/safetensors.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace kw {
namespace {

/// "m=16" or the beginning of a uuid.
bool matches(const Workload& workload, const std::string& filter) {
  const std::size_t equals = filter.find('=');
  if (equals == std::string::npos)
    return !filter.empty() && workload.uuid.starts_with(filter);
  for (const auto& [axis, value] : workload.axes)
    if (axis == filter.substr(0, equals) && std::to_string(value) == filter.substr(equals + 1))
      return true;
  return false;
}

/// Reads one tensor of a safetensors file below the set's root.
Result<std::vector<std::byte>> read_tensor(const std::string& root, const SafetensorsInput& input,
                                           DType dtype, std::span<const std::int64_t> shape) {
  const std::string path = input.path.starts_with('/') ? input.path : join_path(root, input.path);
  KW_TRY(const std::string bytes, read_file(path, std::size_t{8} << 30));
  const auto view = std::as_bytes(std::span(bytes));
  KW_TRY(const SafetensorsFile file, read_safetensors_header(view, bytes.size()));
  if (const SafetensorsEntry* found = file.find(input.tensor_key)) {
    const SafetensorsEntry& t = *found;
    if (t.dtype != dtype || !std::equal(t.shape.begin(), t.shape.end(), shape.begin(), shape.end()))
      return fail(ErrorKind::invalid_input,
                  fmt::format("tensor `{}` has another dtype or shape than the definition asks for",
                              t.name),
                  "regenerate the file or correct the workload", path);
    const std::span<const std::byte> content = view.subspan(t.begin, t.end - t.begin);
    return std::vector<std::byte>(content.begin(), content.end());
  }
  return fail(ErrorKind::not_found, fmt::format("no tensor `{}` in the file", input.tensor_key),
              "correct tensor_key in the workload", path);
}

/// The definition that `wanted` is a typo or the beginning of; "" when none is.
std::string nearest(const std::string& wanted, const TraceSet& set) {
  std::vector<std::string> names;
  for (const Definition& d : set.definitions)
    names.push_back(d.name);
  if (std::string typo = nearest_name(wanted, names); !typo.empty())
    return typo;
  const auto begun = std::find_if(names.begin(), names.end(),
                                  [&](const std::string& n) { return n.starts_with(wanted); });
  return begun == names.end() ? "" : *begun;
}

/// Operator folders name the file after the definition: then only that folder needs to be read.
std::string folder_of(const std::string& operators, const std::string& definition) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(operators, error))
    if (is_file(entry.path().string() + "/" + definition + ".definition.json"))
      return entry.path().string();
  return {};
}

} // namespace

Result<TraceSet> load_operators(const Workspace& workspace) {
  KW_TRY(Loaded loaded, load_any(workspace.operators));
  KW_CHECK(first_error(loaded.issues));
  return std::move(loaded.set);
}

Result<Task> find_task(const Workspace& workspace, const std::string& definition) {
  if (definition.empty())
    return fail(ErrorKind::invalid_input, "no definition was named",
                "give one with -d; `kernwright check --list` shows them");
  const bool path = definition.find('/') != std::string::npos || definition.ends_with(".json");
  Workspace where = workspace;
  if (path)
    where.operators = is_dir(definition) ? definition : parent_path(definition);
  if (!path)
    if (const std::string folder = folder_of(where.operators, definition); !folder.empty())
      where.operators = folder;
  KW_TRY(const Loaded loaded, load_any(where.operators));
  const auto& [set, issues] = loaded;
  const Definition* found = set.definition(definition);
  if (path && found == nullptr)
    for (const Definition& d : set.definitions)
      if (set.definitions.size() == 1 || d.file.ends_with(base_name(definition)))
        found = &d;
  if (found == nullptr) {
    KW_CHECK(first_error(issues));
    const std::string near = nearest(definition, set);
    return fail(ErrorKind::not_found, fmt::format("there is no definition `{}`", definition),
                set.definitions.empty() ? "give a folder with definitions by --operators"
                : near.empty()
                    ? "`kernwright check --list` shows all"
                    : fmt::format("did you mean `{}`? `kernwright check --list` shows all", near),
                where.operators);
  }
  // Only what this task is made of has to be sound.
  for (const Issue& i : issues)
    if (i.severity == Severity::error && i.error.where.find(found->name) != std::string::npos)
      return fail(i.error);
  Task task{.definition = *found, .workloads = {}, .root = set.root};
  if (const auto w = set.workloads.find(found->name); w != set.workloads.end())
    task.workloads = w->second;
  for (const Solution& s : set.solutions)
    if (s.definition == found->name)
      task.solutions.push_back(s);
  // Everything that is said of a workload names it by its uuid.
  KW_CHECK(first_error(repeated_uuids(found->name, task.workloads)));
  return task;
}

Result<Solution> load_solution(const std::string& path, const std::string& definition,
                               const std::string& entry) {
  Issues issues;
  PackOptions options;
  if (!path.ends_with(".json")) {
    options.definition = definition;
    options.entry_point = entry;
    if (definition.empty() && is_file(path))
      return fail(ErrorKind::invalid_input, "a bare source does not say which definition it solves",
                  "name it with -d; `kernwright check --list` shows the definitions", path);
    options.author = "local";
    options.language = "cpp";
  }
  Result<Solution> solution = read_solution(path, options, issues);
  if (!solution) {
    KW_CHECK(first_error(issues));
    return fail(solution.error());
  }
  KW_CHECK(first_error(issues));
  return solution;
}

Result<Solution> baseline_solution(const Definition& definition) {
  std::optional<Solution> baseline = trusted_baseline(definition);
  if (!baseline)
    return fail(ErrorKind::unsupported,
                fmt::format("`{}` declares no baseline to be faster than", definition.name),
                "add x_kernwright.baseline, or name a solution with --baseline", definition.file);
  return *std::move(baseline);
}

std::vector<PeerSpec> peers_of(const Definition& definition) {
  std::vector<PeerSpec> out = definition.ext.peers;
  for (PeerSpec& peer : copy_peers(definition))
    out.push_back(std::move(peer));
  return out;
}

Result<std::shared_ptr<Builder>> open_builder(const Workspace& workspace) {
  KW_TRY(Builder builder, Builder::open({.cache_dir = workspace.cache_dir + "/build",
                                         .compiler = workspace.compiler}));
  return std::make_shared<Builder>(std::move(builder));
}

Result<Bench> open_bench(const Workspace& workspace, const Task& task,
                         const JudgingOptions& options, std::shared_ptr<Builder> builder) {
  Bench bench;
  bench.builder = std::move(builder);
  if (!bench.builder) {
    KW_TRY(bench.builder, open_builder(workspace));
  }
  bench.target = std::make_unique<CpuTarget>(*bench.builder, workspace.include_dir);
  bench.environment = describe_environment();
  bench.environment.compiler = bench.builder->compiler().describe();
  bench.environment.flags = bench.builder->flag_text(BuildMode::candidate);

  Definition definition = task.definition;
  if (options.threads > 0) {
    definition.ext.threads = options.threads;
    bench.environment.more["threads"] =
        std::to_string(options.threads); // so that a replay uses as many
  }
  if (definition.ext.threads > cpu_info().online)
    return fail(ErrorKind::unsupported,
                fmt::format("{} threads are declared, this machine has {} CPUs",
                            definition.ext.threads, cpu_info().online),
                "declare fewer with --threads");
  std::vector<Workload> workloads;
  for (const Workload& w : task.workloads)
    if (options.workloads.empty() ||
        std::any_of(options.workloads.begin(), options.workloads.end(),
                    [&](const std::string& f) { return matches(w, f); }))
      workloads.push_back(w);
  if (workloads.empty() && !options.workloads.empty())
    return fail(ErrorKind::not_found, "no workload matches the filter",
                "use the beginning of a uuid or axis=value, as in --workload m=16");

  JudgeContext context;
  context.target = bench.target.get();
  context.session.runner = workspace.runner;
  context.session.required_tier =
      options.required_tier.empty() ? definition.ext.min_tier : options.required_tier;
  context.session.allow_weak = options.allow_weak_sandbox;
  context.session.deny = options.deny;
  // The judge spins on one CPU, arms run on another; with one CPU nobody is pinned.
  if (options.shares_cpus) {
    context.session.doorbell = Doorbell::futex;
  } else if (cpu_info().online >= 2 && definition.ext.threads == 1) {
    context.session.cpu_judge = 0;
    context.session.cpu_arm = 1;
  }
  context.workers = options.shares_cpus ? 1 : cpu_info().online;
  context.oracle = {.builder = bench.builder.get(),
                    .include_dir = workspace.include_dir,
                    .scratch_dir = workspace.cache_dir + "/python"};
  context.read_input = [root = task.root](const SafetensorsInput& input, DType dtype,
                                          std::span<const std::int64_t> shape) {
    return read_tensor(root, input, dtype, shape);
  };
  context.fib_calls = options.fib_calls;
  context.stop = options.stop;
  context.progress = options.progress;
  // The floor needs measured ceilings; measuring takes seconds, so only a stored measurement is
  // used here. `doctor` and the first `optimize` take it.
  if (const Result<Ceilings> ceilings = stored_ceilings(workspace.cache_dir))
    context.floor_ns = [c = *ceilings, threads = definition.ext.threads](const BoundWorkload& w) {
      return c.floor_ns(w.flops, w.bytes_read, w.bytes_written, threads);
    };
  context.fresh_floor_ns = [folder = workspace.cache_dir,
                            threads = definition.ext.threads](const BoundWorkload& w) {
    const Result<Ceilings> c = improve_ceilings(folder);
    return c ? c->floor_ns(w.flops, w.bytes_read, w.bytes_written, threads) : 0.0;
  };
  KW_TRY(Judge judge, Judge::open(std::move(definition), workloads, std::move(context)));
  bench.judge = std::make_unique<Judge>(std::move(judge));
  return bench;
}

} // namespace kw
