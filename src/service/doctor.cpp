// SPDX-License-Identifier: Apache-2.0
#include "service/doctor.hpp"

#include "compile/compiler.hpp"
#include "oracle/python_reference.hpp"
#include "os/cpu.hpp"
#include "os/file_lock.hpp"
#include "os/interrupt.hpp"
#include "os/sandbox_probe.hpp"
#include "service/judging.hpp"
#include "service/lease.hpp"
#include "target/cpu/ceilings.hpp"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

namespace kw {
namespace {

std::string vector_words(const CpuInfo& cpu) {
  std::string out;
  for (const char* flag :
       {"avx2", "fma", "avx512f", "avx512_bf16", "avx512_fp16", "avx512_vnni", "amx_tile"})
    if (cpu.has(flag))
      out += (out.empty() ? "" : " ") + std::string(flag);
  return out.empty() ? "no vector extensions" : out;
}

void add_compilers(const Workspace& workspace, DoctorReport& report) {
  const Result<Compiler> gcc =
      probe_compiler(workspace.compiler.empty() ? "g++-12" : workspace.compiler);
  if (gcc) {
    report.lines.push_back({"target cpu", "ready",
                            fmt::format("{} · {}", gcc->describe(), vector_words(cpu_info())), "",
                            false});
  } else if (const Result<Compiler> any = probe_compiler(workspace.compiler)) {
    report.lines.push_back(
        {"target cpu", "ready", fmt::format("{} · {}", any->describe(), vector_words(cpu_info())),
         "results are comparable only with the same compiler: apt-get install g++-12", false});
  } else {
    report.lines.push_back(
        {"target cpu", "missing", any.error().message, any.error().remedy, true});
  }
  const Result<Compiler> clang = probe_compiler("clang++-19");
  report.lines.push_back(
      {"clang", clang ? "ready" : "absent",
       clang ? clang->describe() : "not needed to judge; the sanitizer and fuzz builds use it",
       clang ? "" : "apt-get install clang-19 (only to develop Kernwright)", false});
  report.lines.push_back({"target cuda", "none", "not in this version", "", false});
  report.lines.push_back({"target nki", "none", "not in this version", "", false});
}

/// Whether side builds find their runtimes: g++ brings them, clang keeps them in a package of its
/// own.
void add_sanitizers(const Workspace& workspace, DoctorReport& report) {
  const Result<Compiler> compiler = probe_compiler(workspace.compiler);
  if (!compiler)
    return; // said above
  std::string there, missing;
  for (const char* name : {"asan", "ubsan", "tsan"})
    (compiler->has_library(fmt::format("lib{}.so", name)) ? there : missing) +=
        fmt::format(" lib{}", name);
  report.lines.push_back(
      {"sanitizers", missing.empty() ? "ready" : "missing",
       fmt::format("{}:{}", compiler->describe(), missing.empty() ? there : " no" + missing),
       missing.empty() ? ""
                       : "apt-get install libasan8 libubsan1 libtsan2 (they come "
                         "with g++-12); without them `--sanitize` has no answer",
       false});
}

void add_sandbox(DoctorReport& report) {
  const SandboxReport sandbox = probe_sandbox();
  std::string remedies;
  for (const std::string& m : sandbox.missing)
    remedies += (remedies.empty() ? "" : "; ") + m;
  report.lines.push_back({"sandbox", sandbox.tier_name(),
                          fmt::format("{} · freeze by {}", sandbox.describe(), sandbox.freezer),
                          remedies, sandbox.tier < 2});
  if (!sandbox.memory_hidden)
    report.lines.push_back(
        {"secrets", "weak",
         "PR_SET_DUMPABLE is not honoured: same-user processes could read the judge",
         "run outside of this container runtime", true});
}

void add_python(DoctorReport& report) {
  const PythonProbe python = probe_python("/usr/bin/python3");
  if (!python.present) {
    report.lines.push_back({"python", "none",
                            "/usr/bin/python3 does not run: Python references cannot be evaluated",
                            python.remedy, false});
    return;
  }
  std::string missing;
  if (!python.torch.empty())
    for (const char* t : {"bfloat16", "float8_e4m3fn"})
      if (std::find(python.torch_dtypes.begin(), python.torch_dtypes.end(), t) ==
          python.torch_dtypes.end())
        missing += (missing.empty() ? " (no " : ", ") + std::string(t);
  if (!missing.empty())
    missing += ": inputs are upcast, recorded)";
  report.lines.push_back({"python", python.numpy.empty() ? "partial" : "ready",
                          fmt::format("/usr/bin/python3 {} · numpy {} · torch {}{}", python.version,
                                      python.numpy.empty() ? "missing" : python.numpy,
                                      python.torch.empty() ? "missing" : python.torch, missing),
                          python.remedy, false});
}

void add_models(DoctorReport& report) {
  report.lines.push_back({"models", "none",
                          "no language model is used in this version; the tuner needs none", "",
                          false});
}

void add_ceilings(DoctorReport& report, const Ceilings& c) {
  report.ceilings.push_back(
      {"FMA float32, widest vectors", c.fma_f32_1 / 1e9, c.fma_f32_all / 1e9, "GFLOP/s"});
  report.ceilings.push_back(
      {"FMA float32, 256-bit", c.fma_f32_256_1 / 1e9, c.fma_f32_256_all / 1e9, "GFLOP/s"});
  for (const BandwidthCeiling& b : c.bandwidth) {
    const std::string mix = b.writes == 0  ? "read only"
                            : b.reads == 0 ? "write only"
                                           : fmt::format("read:write {}:{}", b.reads, b.writes);
    const std::string size = b.footprint >= (1U << 20) ? fmt::format("{} MiB", b.footprint >> 20)
                                                       : fmt::format("{} KiB", b.footprint >> 10);
    report.ceilings.push_back({fmt::format("{:<6} {:>8}  {:<15} plain", b.level, size, mix),
                               b.plain_1 / 1e9, b.plain_all / 1e9, "GB/s"});
    if (b.writes > 0)
      report.ceilings.push_back(
          {fmt::format("{:<6} {:>8}  {:<15} non-temporal", b.level, size, mix), b.streaming_1 / 1e9,
           b.streaming_all / 1e9, "GB/s"});
  }
}

/// The smallest shipped task, timed against itself.
Status add_timing(const Workspace& workspace, DoctorReport& report) {
  KW_TRY(Task task, find_task(workspace, "softmax_f32"));
  JudgingOptions judging;
  judging.allow_weak_sandbox = true; // trusted code only
  judging.workloads = {"rows=128"};
  KW_TRY(const Bench bench, open_bench(workspace, task, judging));
  KW_TRY(const Solution baseline, baseline_solution(task.definition));
  Verdict verdict;
  bench.judge->begin(Seed{});
  KW_TRY(Subject subject, bench.judge->admit(baseline, verdict));
  if (!subject.loaded())
    return fail(ErrorKind::infrastructure, "the shipped softmax baseline does not load: " +
                                               verdict.build.summary + verdict.sandbox.summary);
  TimingEvidence evidence;
  RaceOptions race;
  race.least_window_ns = 3e6;
  KW_CHECK(bench.judge->self_test(subject, race, evidence));
  report.lines.push_back(
      {"timing", evidence.fit ? "fit" : "unfit",
       fmt::format("A/A noise {:.2f} % · doorbell {} · {} CPUs", 100 * evidence.aa_sigma,
                   evidence.doorbell, cpu_info().online),
       evidence.fit
           ? ""
           : "stop other work on this machine; timing verdicts stay `unknown` until it is quiet",
       false});
  return {};
}

} // namespace

bool DoctorReport::healthy() const {
  return std::none_of(lines.begin(), lines.end(), [](const DoctorLine& l) { return l.blocking; });
}

Result<DoctorReport> doctor(const Workspace& workspace, const DoctorOptions& options) {
  DoctorReport report;
  report.lines.push_back(
      {"cpu", "",
       fmt::format("{} · L1 {} KiB, L2 {} KiB, last level {} KiB", cpu_info().describe(),
                   cpu_info().cache_bytes(1) >> 10, cpu_info().cache_bytes(2) >> 10,
                   cpu_info().last_level_bytes() >> 10),
       "", false});
  add_compilers(workspace, report);
  add_sandbox(report);
  add_sanitizers(workspace, report);
  add_python(report);
  add_models(report);
  for (const ResolvedSetting& p : workspace.resolved)
    if (!p.value.empty())
      report.lines.push_back({p.name, "", fmt::format("{} ({})", p.value, p.origin), "", false});
  if (options.quick)
    return report;
  KW_TRY(const FileLock lease,
         timing_lease("doctor", [](const std::string&) {}, [] { return interrupted(); }));
  KW_TRY(const Ceilings ceilings, cached_ceilings(workspace.cache_dir, options.refresh));
  add_ceilings(report, ceilings);
  if (const Status timed = add_timing(workspace, report); !timed)
    report.lines.push_back(
        {"timing", "unknown", timed.error().message, timed.error().remedy, true});
  return report;
}

} // namespace kw
