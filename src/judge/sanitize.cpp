// SPDX-License-Identifier: Apache-2.0
#include "judge/sanitize.hpp"

#include "base/strings.hpp"
#include "judge/judge.hpp"
#include "judge/sanitizer_report.hpp"
#include "runner/poison.hpp"
#include "runner/side_run.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/format.h>

namespace kw {
namespace {

// An instrumented kernel does some 0.1 GFLOP/s: this much takes seconds.
constexpr double most_flops = 5e8, most_bytes = 256 << 20;
constexpr std::size_t most_workloads = 6;
constexpr int rounds = 2;
constexpr std::chrono::seconds wall_limit{60};

/// Some variable axis ends within a vector: where remainder loops run.
bool ragged(const BoundWorkload& w) {
  return std::any_of(w.workload.axes.begin(), w.workload.axes.end(),
                     [](const auto& axis) { return axis.second % 16 != 0; });
}

std::vector<std::string> runtime_options() {
  const std::string common = "symbolize=1:external_symbolizer_path=:color=never:exitcode=86:"
                             "allocator_may_return_null=1:halt_on_error=1:print_stacktrace=1";
  return {
      "ASAN_OPTIONS=detect_leaks=0:disable_coredump=0:detect_odr_violation=0:detect_stack_use_"
      "after_return=1:"
      "quarantine_size_mb=16:malloc_context_size=2:print_legend=0:" +
          common,
      "UBSAN_OPTIONS=" + common,
      "TSAN_OPTIONS=disable_coredump=0:report_thread_leaks=0:detect_deadlocks=0:history_size=5:" +
          common};
}

SideTrial side_trial(const std::vector<Argument>& arguments, const BoundWorkload& w) {
  SideTrial out;
  for (const Argument& a : arguments) {
    SideArgument side;
    switch (a.kind) {
    case Argument::Kind::input:
      side = {SideArgument::Kind::input, w.inputs[a.index].bytes, 0};
      break;
    case Argument::Kind::output:
      side = {SideArgument::Kind::output, w.outputs[a.index].bytes, 0};
      break;
    case Argument::Kind::integer:
      side = {SideArgument::Kind::integer, 0, std::bit_cast<std::uint64_t>(a.integer)};
      break;
    case Argument::Kind::float32:
      side = {SideArgument::Kind::floating, 0,
              std::bit_cast<std::uint32_t>(static_cast<float>(a.real))};
      break;
    case Argument::Kind::float64:
      side = {SideArgument::Kind::floating, 0, std::bit_cast<std::uint64_t>(a.real)};
      break;
    }
    out.push_back(side);
  }
  return out;
}

/// The source line that keeps sanitizers away from a function, "k.cpp:7"; "" if there is none.
std::string switched_off(const std::vector<SourceFile>& sources) {
  for (const SourceFile& s : sources)
    if (const std::size_t at = s.content.find("no_sanitize"); at != std::string::npos)
      return fmt::format("{}:{}", s.path,
                         1 + std::count(s.content.begin(),
                                        s.content.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
  return {};
}

/// "input `x`": whose size the region has; "" when none or the name would be a guess among many.
std::string tensor_of(const SanitizerReport& report, const BoundWorkload& w) {
  std::string out;
  const auto add = [&](const char* what, const std::string& name, std::size_t bytes) {
    if (report.region_bytes > 0 && bytes == static_cast<std::size_t>(report.region_bytes))
      out += fmt::format("{}{} `{}`", out.empty() ? "" : " or ", what, name);
  };
  for (const BoundInput& input : w.inputs)
    add("input", input.name, input.bytes);
  for (const BoundOutput& output : w.outputs)
    add("output", output.name, output.bytes);
  return out;
}

std::string excerpt(const std::vector<SourceFile>& sources, const std::string& file, int line) {
  for (const SourceFile& s : sources) {
    if (s.path != file)
      continue;
    std::size_t at = 0;
    for (int i = 1; i < line && at != std::string::npos; ++i)
      at = s.content.find('\n', at) == std::string::npos ? std::string::npos
                                                         : s.content.find('\n', at) + 1;
    if (at != std::string::npos)
      return s.content.substr(at, std::min<std::size_t>(s.content.find('\n', at) - at, 200));
  }
  return {};
}

std::string remedy_of(const SanitizerReport& report) {
  if (report.tool == "ThreadSanitizer")
    return "let every iteration of kw_parallel_for write memory of its own, and combine the parts "
           "after it has returned";
  if (report.tool == "UndefinedBehaviorSanitizer")
    return "compute in a type that holds every value, and load through memcpy or unaligned "
           "intrinsics";
  if (report.kind == "use-after-poison")
    return "ask kw_workspace for as many bytes as are used, in each call";
  return "stay inside every tensor to the byte, reads included: mask or copy the remainder";
}

} // namespace

Result<std::vector<std::string>> sanitizer_builds(const std::string& names) {
  if (names == "none" || names.empty())
    return std::vector<std::string>{};
  bool address = false, undefined = false, thread = false;
  for (std::size_t at = 0; at <= names.size();) {
    const std::size_t end = std::min(names.find(',', at), names.size());
    const std::string name = names.substr(at, end - at);
    at = end + 1;
    if (name == "address")
      address = true;
    else if (name == "undefined")
      undefined = true;
    else if (name == "thread")
      thread = true;
    else
      return fail(ErrorKind::invalid_input, fmt::format("there is no sanitizer `{}` here", name),
                  "use address, undefined and thread, separated by commas, or none");
  }
  std::vector<std::string> out;
  if (address || undefined)
    out.emplace_back(!undefined ? "address" : !address ? "undefined" : "address,undefined");
  if (thread)
    out.emplace_back("thread");
  return out;
}

std::string sanitizers_of_gate(const std::string& gate, int threads) {
  if (gate != "champion")
    return "none";
  return std::string(default_sanitizers) + (threads > 1 ? ",thread" : "");
}

std::vector<std::size_t> side_calls(const std::vector<BoundWorkload>& workloads) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < workloads.size(); ++i)
    if (workloads[i].timed) // not the twins: their calls are no different
      order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const auto rank = [](const BoundWorkload& w) { return cost(w) / (ragged(w) ? 8 : 1); };
    return rank(workloads[a]) < rank(workloads[b]);
  });
  if (order.size() > most_workloads)
    order.resize(most_workloads);
  std::vector<std::size_t> out;
  double flops = 0, bytes = 0;
  for (int round = 0; round < rounds; ++round) // different shapes before different inputs
    for (const std::size_t i : order) {
      const BoundWorkload& w = workloads[i];
      flops += w.flops;
      bytes += w.bytes_read + w.bytes_written;
      // One call of the smallest there is, whatever it costs: it ends by the clock if it must.
      if (!out.empty() && (flops > most_flops || bytes > most_bytes))
        return out;
      out.push_back(i);
    }
  return out;
}

Result<SanitizedRun> Judge::sanitize_once(const Subject& subject, const std::string& sanitizers,
                                          Verdict& verdict) {
  SanitizedRun out;
  out.sanitizers = sanitizers;
  if (sanitizers == "thread" && definition_.ext.threads == 1) {
    out.summary = "not run: with one declared thread there is nothing to race with";
    return out;
  }
  if (const std::string where = switched_off(subject.solution.sources); !where.empty()) {
    out.summary = fmt::format("not run: the source switches sanitizers off ({})", where);
    return out;
  }
  std::vector<SourceFile> driver;
  for (const SideDriverFile& file : side_driver_sources())
    driver.push_back({.path = file.name, .content = file.text});
  KW_TRY(const SideBuild build,
         context_.target->build_side(subject.solution, definition_, sanitizers, driver));
  out.build_ms = build.ms;
  if (!build.ok) {
    out.summary = "not run: " + build.failure;
    return out;
  }

  const std::vector<std::size_t> calls = side_calls(workloads_);
  std::vector<TrialKey> keys;
  std::vector<SideTrial> trials;
  for (const std::size_t i : calls) {
    const std::vector<InputClass> classes = classes_of(workloads_[i]);
    TrialKey key;
    key.trial = next_trial_++;
    key.input_class = classes[trials_->coin(key.trial) % classes.size()];
    key.poison = static_cast<std::uint32_t>(key.trial);
    keys.push_back(key);
    trials.push_back(side_trial(workloads_[i].arguments, workloads_[i]));
  }
  KW_TRY(SideRun run, SideRun::create(std::move(trials)));
  for (std::size_t t = 0; t < calls.size(); ++t) {
    const BoundWorkload& w = workloads_[calls[t]];
    KW_CHECK(trials_->stage(w, keys[t]));
    for (std::size_t a = 0; a < w.arguments.size(); ++a) {
      const std::span<std::byte> to = run.buffer(t, a);
      if (w.arguments[a].kind == Argument::Kind::input)
        std::ranges::copy(trials_->staged(w.arguments[a].index), to.begin());
      else if (w.arguments[a].kind == Argument::Kind::output)
        poison_output(to.data(), {.offset = 0, .bytes = to.size()}, keys[t].poison);
    }
    const SideTrial filled = side_trial(trials_->arguments(), w); // scalars are drawn, too
    for (std::size_t a = 0; a < filled.size(); ++a)
      run.set(t, a, filled[a].bits);
  }
  KW_TRY(const SideRunReport ended, run.run({.driver = build.driver,
                                             .object = build.object,
                                             .entry = build.entry,
                                             .environment = runtime_options(),
                                             .threads = definition_.ext.threads,
                                             .workspace_bytes = context_.session.workspace_capacity,
                                             .wall = wall_limit,
                                             .deny = context_.session.deny}));
  out.run_ms = ended.ms;

  const SanitizerReport report = parse_sanitizer_report(ended.log, subject.solution.sources);
  const auto reject_with = [&](const std::string& sentence) {
    out.outcome = Outcome::fail;
    out.summary = sentence;
    out.report = report.lines;
    verdict.correctness.outcome = Outcome::fail;
    verdict.correctness.summary = sentence;
    if (!report.lines.empty()) // the first is in the sentence
      verdict.correctness.details.insert(verdict.correctness.details.end(),
                                         report.lines.begin() + 1, report.lines.end());
    verdict.finding = Finding::sanitizer;
  };
  if (report.is_fault()) {
    const BoundWorkload& w = workloads_[calls[std::min(ended.calls, calls.size() - 1)]];
    std::string tensor = tensor_of(report, w);
    if (!tensor.empty())
      tensor = fmt::format(" ({})", tensor);
    reject_with(fmt::format("{}{}, on {}", report.sentence(), tensor, w.axes_text));
    verdict.correctness.details.push_back("remedy: " + remedy_of(report));
    Diagnostic d;
    d.severity = "error";
    d.file = report.file;
    d.line = report.line;
    d.column = report.column;
    d.code = fmt::format("-fsanitize={}", sanitizers);
    d.message = report.sentence_without_place() + tensor;
    d.excerpt = excerpt(subject.solution.sources, report.file, report.line);
    verdict.diagnostics.push_back(std::move(d));
    return out;
  }
  // Whatever returned is held against the oracle, as any other call.
  for (std::size_t t = 0; t < std::min(ended.calls, calls.size()); ++t) {
    const BoundWorkload& w = workloads_[calls[t]];
    KW_CHECK(trials_->stage(w, keys[t]));
    CallReport call;
    call.return_code = ended.return_codes[t];
    for (std::size_t a = 0; a < w.arguments.size(); ++a)
      if (w.arguments[a].kind == Argument::Kind::output)
        call.outputs.emplace_back(run.buffer(t, a));
    KW_TRY(const Expected expected, trials_->expect(false));
    TrialResult result = trials_->check(call, expected);
    if (!result.ok) {
      result.detail = fmt::format("built with -fsanitize={}: {}", sanitizers, result.detail);
      reject(verdict, result);
      out.outcome = Outcome::fail;
      out.summary = result.detail;
      return out;
    }
    ++out.calls;
  }
  if (ended.completed) {
    out.outcome = Outcome::pass;
    out.summary = fmt::format("{} calls clean", out.calls);
  } else if (ended.timed_out) {
    out.summary = fmt::format("not finished within its {} s and 4 GiB: {} of {} calls clean",
                              wall_limit.count(), out.calls, calls.size());
  } else if (report.found || ended.log.starts_with("side run: ")) {
    out.summary = "no answer, the side run itself failed: " +
                  (report.found ? report.sentence() : ended.log.substr(0, ended.log.find('\n')));
  } else {
    reject_with(fmt::format("built with -fsanitize={}, the kernel's process ended early: {}",
                            sanitizers, ended.ending));
  }
  return out;
}

Status Judge::sanitize(const Subject& subject, const std::string& sanitizers, Verdict& verdict) {
  KW_ASSERT(subject.loaded());
  KW_TRY(const std::vector<std::string> builds, sanitizer_builds(sanitizers));
  for (const std::string& build : builds) {
    context_.progress("sanitize " + build, 0, 1);
    KW_TRY(SanitizedRun run, sanitize_once(subject, build, verdict));
    const bool failed = run.outcome == Outcome::fail;
    verdict.sanitized.push_back(std::move(run));
    if (failed)
      break;
  }
  return {};
}

} // namespace kw
