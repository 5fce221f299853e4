// SPDX-License-Identifier: Apache-2.0
#include "face/cli/command.hpp"
#include "face/cli/duration.hpp"
#include "face/cli/judging_flags.hpp"
#include "formats/verdict_json.hpp"
#include "os/files.hpp"
#include "os/interrupt.hpp"
#include "report/escape.hpp"
#include "report/evaluate_report.hpp"
#include "report/verdict_text.hpp"
#include "service/evaluate.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace kw::cli {
namespace {

using nlohmann::ordered_json;

struct Options {
  EvaluateOptions evaluate;
  std::vector<std::string> paths;
  std::string junit, sarif, budget = "2m";
  bool no_archive = false;
};

std::string next_command(const Probe& probe) {
  return probe.id.empty() ? "" : fmt::format("kernwright replay {:.12}", probe.id);
}

EvaluateReport to_report(const std::vector<Evaluation>& all) {
  EvaluateReport report;
  report.version = KW_VERSION;
  for (const Evaluation& e : all) {
    if (report.definition.empty())
      report.definition = e.probe.definition;
    Verdict verdict = e.probe.verdict;
    if (!e.error.empty()) {
      verdict.infrastructure_error = e.error;
      verdict.word = "INFRASTRUCTURE";
    }
    report.solutions.push_back({e.probe.solution.name.empty() ? e.path : e.probe.solution.name,
                                e.path, verdict, next_command(e.probe)});
  }
  return report;
}

int exit_code(const std::vector<Evaluation>& all) {
  int code = holds;
  for (const Evaluation& e : all) {
    if (!e.error.empty())
      code = std::max(code, static_cast<int>(e.probe.verdict.word == "INFRASTRUCTURE"
                                                 ? infrastructure_failed
                                                 : bad_input));
    else if (!e.probe.verdict.accepted)
      code = std::max(code, static_cast<int>(does_not_hold));
  }
  return code;
}

/// `unwritten`: a report file that could not be written.
void print_json(const std::vector<Evaluation>& all, const Status& unwritten) {
  ordered_json out{{"evaluations", ordered_json::array()}};
  for (const Evaluation& e : all) {
    ordered_json one{{"path", e.path}};
    if (e.error.empty())
      one["probe"] = probe_to_json(e.probe);
    else
      one["error"] = {{"message", e.error}, {"remedy", e.error_remedy}};
    out["evaluations"].push_back(std::move(one));
  }
  if (!unwritten)
    out["error"] = error_json(unwritten.error());
  fmt::print("{}\n", out.dump(2, ' ', false, ordered_json::error_handler_t::replace));
}

void print_text(const std::vector<Evaluation>& all) {
  for (const Evaluation& e : all) {
    if (!e.error.empty()) {
      fmt::print("{}", terminal_text(fmt::format(
                           "{}{}\n{}", e.error.starts_with(e.path) ? "" : e.path + ": ", e.error,
                           e.error_remedy.empty() ? "" : "  remedy: " + e.error_remedy + "\n")));
      continue;
    }
    fmt::print("{}\n", render_verdict(e.probe.verdict, {.name = e.probe.solution.name,
                                                        .next_command = next_command(e.probe),
                                                        .colour = coloured()}));
  }
  if (all.size() > 1) {
    std::size_t good = 0;
    for (const Evaluation& e : all)
      good += e.error.empty() && e.probe.verdict.accepted;
    fmt::print("{} of {} hold\n", good, all.size());
  }
}

int run(const Context& context, Options& o) {
  const auto typed = [&](const char* option) {
    const auto origin = context.origins.find(option);
    return origin != context.origins.end() && origin->second == "command line";
  };
  if (!o.evaluate.timing && (typed("baseline") || typed("peers")))
    return report_error(
        context, {ErrorKind::invalid_input,
                  fmt::format("--{} says what to time beside the kernel, but nothing is timed",
                              typed("peers") ? "peers" : "baseline"),
                  "add --time", ""});
  const Result<double> seconds = parse_duration(o.budget);
  if (!seconds)
    return report_error(context, seconds.error());
  const Result<Workspace> workspace = open_workspace(context.workspace);
  if (!workspace)
    return report_error(context, workspace.error());
  o.evaluate.timing_seconds = *seconds;
  if (o.evaluate.sanitize == "true")
    o.evaluate.sanitize = "address,undefined";
  o.evaluate.archive = !o.no_archive;
  o.evaluate.judging.stop = [] { return interrupted(); };
  if (!context.json)
    o.evaluate.judging.note = [](const std::string& text) { fmt::print(stderr, "{}\n", text); };
  if (!context.json && isatty(STDERR_FILENO) == 1 && o.evaluate.jobs == 1)
    o.evaluate.judging.progress = [](const std::string& stage, std::uint64_t done,
                                     std::uint64_t total) {
      if (done % 8 == 0)
        fmt::print(stderr, "\r\033[K  {} {}/{}\r", stage, done, total);
    };
  const Result<std::vector<Evaluation>> all = evaluate(*workspace, o.paths, o.evaluate);
  if (!all)
    return report_error(context, all.error());
  if (!context.json && isatty(STDERR_FILENO) == 1)
    fmt::print(stderr, "\r\033[K");
  const EvaluateReport report = to_report(*all);
  Status written;
  for (const auto& [path, text] :
       {std::pair{o.junit, junit_xml(report)}, std::pair{o.sarif, sarif_json(report)}})
    if (written && !path.empty())
      written = write_file_atomic(path, text);
  context.json ? print_json(*all, written) : print_text(*all);
  if (!written) // the JSON document has it already
    return context.json ? exit_code_for(written.error()) : report_error(context, written.error());
  return interrupted() ? static_cast<int>(interrupted_exit) : exit_code(*all);
}

} // namespace

void add_evaluate(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "evaluate", "judge kernels: solution.json, a folder of them, or a bare C++ source");
  auto o = std::make_shared<Options>();
  command->add_option("paths", o->paths, "what to judge")->required();
  command->add_option("-d,--definition", o->evaluate.definition, "definition of a bare source");
  command->add_option("--entry", o->evaluate.entry,
                      "entry function of a bare source (default: its only extern \"C\" function)");
  command
      ->add_option("--gate", o->evaluate.gate,
                   "trials: smoke 5 (feedback), gate 59, accept 299, champion 459")
      ->check(CLI::IsMember({"smoke", "gate", "accept", "champion"}))
      ->capture_default_str();
  command->add_flag("--time", o->evaluate.timing,
                    "also ask whether it is faster than the baseline");
  command->add_option("--baseline", o->evaluate.baseline, "another solution to be faster than");
  command->add_flag("--peers", o->evaluate.peers,
                    "with --time: show peers (OpenBLAS, PyTorch) beside it");
  command->add_option("--timing-budget", o->budget, "most time for each timing stage")
      ->capture_default_str();
  command->add_option("-j,--jobs", o->evaluate.jobs, "candidates built and verified in parallel")
      ->check(CLI::Range(1, 64));
  add_judging_flags(*command, o->evaluate.judging, o->evaluate.least_window_ms);
  add_objective_flag(*command, o->evaluate.objective);
  command->add_option("--junit", o->junit, "write a JUnit XML report");
  command->add_option("--sarif", o->sarif, "write a SARIF 2.1.0 report");
  command->add_flag("--sanitize", o->evaluate.sanitize,
                    "also call builds with sanitizers, untimed: =address,undefined (what the flag "
                    "alone means), =thread, =none (default: gate champion only)");
  command->add_flag("--no-archive", o->no_archive, "do not keep the probes");
  command->footer("  kernwright evaluate my_softmax.cpp -d softmax_f32 --time\n"
                  "  kernwright evaluate candidates/ --jobs 2 --gate smoke --junit report.xml");
  command->callback([&context, o] { context.run = [&context, o] { return run(context, *o); }; });
}

} // namespace kw::cli
