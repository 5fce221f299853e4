// SPDX-License-Identifier: Apache-2.0
#include "target/cpu/cpu_target.hpp"

#include "os/files.hpp"
#include "target/cpu/admit.hpp"
#include "target/cpu/object_loops.hpp"
#include "target/cpu/pipeline_estimate.hpp"
#include "target/cpu/remarks.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <utility>

namespace kw {
namespace {

std::string first_error(const std::vector<Diagnostic>& diagnostics) {
  for (const Diagnostic& d : diagnostics)
    if (d.severity == "error")
      return d.line > 0 ? fmt::format("{}:{}: {}", d.file, d.line, d.message) : d.message;
  return "the compiler gave no reason";
}

/// Why it did not build, as a finding: limits are a resource matter, the rest is the source's.
void describe_failure(const BuildOutcome& outcome, TargetBuild& build) {
  build.finding = Finding::build;
  if (outcome.failure_kind == "timeout" || outcome.failure_kind == "memory") {
    build.finding = Finding::resource;
    build.summary = fmt::format("the compiler ran out of {}",
                                outcome.failure_kind == "timeout" ? "time" : "memory");
    build.details = {"remedy: less template or constexpr work, smaller constant tables"};
    return;
  }
  build.summary =
      (outcome.failure_kind == "forbidden" ? "not allowed in a kernel: " : "does not compile: ") +
      first_error(outcome.diagnostics);
}

/// -ffast-math as far as it concerns the code: the flag itself links a constructor.
std::vector<std::string> fast_math_flags() {
  return {"-fassociative-math", "-freciprocal-math", "-fno-signed-zeros", "-ffinite-math-only"};
}

BuildRequest request_for(const Solution& solution, const Definition& definition,
                         const std::string& include_dir) {
  BuildRequest request;
  request.sources = solution.sources;
  request.entry_file = solution.spec.entry_file();
  request.entry = solution.spec.entry_function();
  request.defines = axis_defines(definition);
  request.include_dirs = {include_dir};
  return request;
}

} // namespace

std::vector<std::string> axis_defines(const Definition& definition) {
  std::vector<std::string> out;
  for (const Axis& axis : definition.axes)
    if (!axis.is_variable())
      out.push_back(fmt::format("KW_AXIS_{}={}", axis.name, *axis.value));
  return out;
}

Result<TargetBuild> CpuTarget::build(const Solution& solution, const Definition& definition) {
  return build_with(solution, definition, {});
}

Result<TargetBuild> CpuTarget::build_variant(const Solution& solution, const Definition& definition,
                                             BuildVariant variant) {
  return build_with(
      solution, definition,
      variant == BuildVariant::fast_math
          ? fast_math_flags()
          : std::vector<std::string>{"-fno-tree-vectorize", "-fno-tree-slp-vectorize"});
}

Result<TargetBuild> CpuTarget::build_with(const Solution& solution, const Definition& definition,
                                          std::vector<std::string> more_flags) {
  TargetBuild build;
  build.entry = solution.spec.entry_function();
  build.compiler = builder_.compiler().describe();
  build.options = builder_.flag_text(BuildMode::candidate);
  if (!accepts(solution)) {
    build.finding = Finding::build;
    build.summary =
        fmt::format("the cpu target builds C++ solutions, not `{}`", solution.spec.language);
    build.details = {"remedy: set spec.language to \"cpp\""};
    return build;
  }
  if (solution.spec.binding && *solution.spec.binding != "kernwright") {
    build.finding = Finding::build;
    build.summary =
        fmt::format("the cpu target calls plain C entries, not those of the binding `{}`",
                    *solution.spec.binding);
    build.details = {"remedy: export a function as docs/abi.md describes, and set spec.binding to "
                     "\"kernwright\""};
    return build;
  }
  if (!solution.spec.destination_passing_style) {
    build.finding = Finding::build;
    build.summary =
        "the cpu target passes outputs as pointers, but the solution wants to return them";
    build.details = {"remedy: take the outputs after the inputs (docs/abi.md), and set "
                     "spec.destination_passing_style to true"};
    return build;
  }
  BuildRequest request = request_for(solution, definition, include_dir_);
  request.more_flags = std::move(more_flags);
  KW_TRY(const BuildOutcome outcome, builder_.build(request));
  build.diagnostics = outcome.diagnostics;
  build.cached = outcome.cached;
  build.ms = outcome.ms;
  build.key = outcome.key;
  if (!outcome.ok) {
    describe_failure(outcome, build);
    return build;
  }
  KW_TRY(const std::string bytes, read_file(outcome.object_path));
  KW_TRY(const Admission admission, admit(std::as_bytes(std::span(bytes)),
                                          {.entry = build.entry, .sources = solution.sources}));
  build.flags_raised = admission.flags;
  if (!admission.admitted()) {
    build.finding = Finding::admission;
    const Refusal& first = admission.refusals.front();
    build.summary = fmt::format("not admitted: {}{}", first.where.empty() ? "" : first.where + ": ",
                                first.message);
    for (const Refusal& r : admission.refusals)
      build.details.push_back(fmt::format("{}{}{}", r.where.empty() ? "" : r.where + ": ",
                                          r.message, r.remedy.empty() ? "" : "; " + r.remedy));
    return build;
  }
  build.ok = true;
  build.object = outcome.object_path;
  build.summary =
      fmt::format("{}, {:.0f} ms{}", build.compiler, build.ms, build.cached ? " (cached)" : "");
  return build;
}

Result<SideBuild> CpuTarget::build_side(const Solution& solution, const Definition& definition,
                                        const std::string& sanitizers,
                                        const std::vector<SourceFile>& driver) {
  SideBuild build;
  BuildRequest kernel = request_for(solution, definition, include_dir_);
  kernel.mode = BuildMode::sanitized;
  kernel.sanitizers = sanitizers;
  BuildRequest host;
  host.sources = driver;
  host.mode = BuildMode::driver;
  host.sanitizers = sanitizers;
  build.entry = kernel.entry;
  for (const auto& [request, path] :
       {std::pair{&host, &build.driver}, std::pair{&kernel, &build.object}}) {
    KW_TRY(const BuildOutcome outcome, builder_.build(*request));
    build.ms += outcome.ms;
    if (!outcome.ok) {
      build.failure =
          fmt::format("{} does not build with -fsanitize={}: {}",
                      request == &host ? "the driver" : "the kernel", sanitizers,
                      outcome.failure_kind == "compile" || outcome.failure_kind == "forbidden"
                          ? first_error(outcome.diagnostics)
                          : "the compiler ran out of " + outcome.failure_kind);
      return build;
    }
    *path = outcome.object_path;
  }
  build.ok = true;
  return build;
}

void CpuTarget::model_pipelines(Inspection& seen) {
  constexpr double matters = 0.1; // of the samples: below that no rule counts on a loop
  constexpr std::size_t most_code = 20'000;
  if (!pipeline_tool_)
    pipeline_tool_ = builder_.pipeline_tool();
  const Result<PipelineTool>& tool = *pipeline_tool_;
  const bool any = std::ranges::any_of(seen.loops, [](const ObjectLoop& l) { return l.hot; });
  if (!tool && any)
    seen.missing.push_back(
        fmt::format("a model of the pipeline: {}; {}", tool.error().message, tool.error().remedy));
  std::set<std::string> complaints;
  for (ObjectLoop& loop : seen.loops) {
    if (!loop.hot && loop.share < matters) {
      loop.code.clear();
      continue;
    }
    if (loop.calls > 0) {
      complaints.insert("a model of the pipeline: it cannot follow the call in the hot loop");
      continue;
    }
    if (!tool || loop.code.size() > most_code)
      continue;
    std::vector<std::pair<std::string, bool>> models;
    if (const std::string& own = tool->own_model(); !own.empty())
      models.emplace_back(own, true);
    models.emplace_back(reference_model, false);
    for (const auto& [model, own] : models) {
      const Result<std::string> said = tool->simulate(loop.code, model);
      Result<PipelineEstimate> estimate =
          said ? read_pipeline_estimate(*said) : Result<PipelineEstimate>(fail(said.error()));
      if (!estimate) {
        complaints.insert("a model of the pipeline: " + estimate.error().message);
        continue;
      }
      estimate->model = model, estimate->own = own, estimate->source = tool->describe();
      // Straight-line code: every branch inside the loop is taken for not taken.
      estimate->confidence = loop.branches > 1 ? 0.5 : 0.7;
      loop.pipeline.push_back(std::move(*estimate));
    }
  }
  seen.missing.insert(seen.missing.end(), complaints.begin(), complaints.end());
}

Result<Inspection> CpuTarget::inspect(const Solution& solution, const Definition& definition,
                                      const std::vector<std::uint64_t>& samples) {
  Inspection out;
  BuildRequest request = request_for(solution, definition, include_dir_);
  request.more_flags = {"-g1"}; // lines, and the same code
  KW_TRY(const BuildOutcome built, builder_.build(request));
  if (!built.ok) {
    out.missing.push_back("the machine code: it does not build");
    return out;
  }
  if (const Result<std::string> text = builder_.disassemble(built.object_path))
    out.loops = object_loops(*text, request.entry, samples);
  else
    out.missing.push_back(fmt::format("the loops of the machine code: {}; {}", text.error().message,
                                      text.error().remedy));
  model_pipelines(out);

  request.more_flags = remark_flags();
  std::optional<Builder> own;
  if (!builder_.compiler().clang)
    for (const char* name : {"clang++-19", "clang++"})
      if (Result<Builder> clang = Builder::open({.compiler = name}); clang && !own)
        own.emplace(std::move(*clang));
  if (!own && !builder_.compiler().clang) {
    out.missing.emplace_back(
        "why loops are not vectorised: that takes clang; apt install clang-19");
    return out;
  }
  Builder& clang = own ? *own : builder_;
  KW_TRY(const BuildOutcome said, clang.build(request));
  if (!said.ok) {
    out.missing.push_back("why loops are not vectorised: " + clang.compiler().describe() +
                          " does not build it: " + first_error(said.diagnostics));
    return out;
  }
  std::vector<std::string> files;
  for (const SourceFile& f : solution.sources)
    files.push_back(f.path);
  out.remarks = parse_remarks(said.remarks, files, clang.compiler().describe());
  return out;
}

} // namespace kw
