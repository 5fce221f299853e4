// SPDX-License-Identifier: Apache-2.0
#include "judge/judge.hpp"

#include "judge/sampled.hpp"
#include "os/parallel.hpp"
#include "runner/layout.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace kw {
namespace {

struct Capacities {
  std::size_t inputs = 0, outputs = 0, oracle = 0;
};

Capacities capacities(const std::vector<BoundWorkload>& workloads, const Oracle& oracle) {
  Capacities most;
  for (const BoundWorkload& w : workloads) {
    std::vector<std::size_t> in, out, reference;
    for (const BoundInput& input : w.inputs)
      in.push_back(input.bytes);
    for (const BoundOutput& output : w.outputs)
      out.push_back(output.bytes);
    const bool sampled = can_sample(w, oracle);
    if (sampled && w.flops > full_oracle_flops_timed) {
      const Extent e = extent(w.outputs[0]);
      const bool projects = oracle.project_entry != 0;
      const std::int64_t elements =
          projects ? std::max(exact_lines * std::max(e.rows, e.cols), e.rows * e.blocks)
                   : exact_rows_alone * e.cols;
      const std::size_t lines = sizeof(double) * static_cast<std::size_t>(elements);
      reference = {lines, lines};
      const std::vector<std::int64_t> extra =
          projects ? std::vector{e.cols * e.blocks, exact_lines, exact_lines, e.rows, e.cols}
                   : std::vector{exact_rows_alone, e.cols};
      for (const std::int64_t n : extra)
        in.push_back(sizeof(double) * static_cast<std::size_t>(n));
    }
    most.oracle = std::max(most.oracle, arena_bytes(reference));
    if (!sampled || w.flops <= full_oracle_flops) {
      reference.clear();
      for (const BoundOutput& output : w.outputs) {
        const std::vector<std::size_t> of = oracle_bytes(output, oracle.magnitudes);
        reference.insert(reference.end(), of.begin(), of.end());
      }
      most.oracle = std::max(most.oracle, arena_bytes(reference));
    }
    for (const BoundInput& input : w.inputs)
      if (oracle.near_ties_entries.contains(input.name))
        most.oracle = std::max(most.oracle, arena_bytes(std::vector{input.bytes}));
    most.inputs = std::max(most.inputs, arena_bytes(in));
    most.outputs = std::max(most.outputs, arena_bytes(out));
  }
  return most;
}

std::string end_word(CallEnd end) {
  switch (end) {
  case CallEnd::crashed:
    return "crashed";
  case CallEnd::violation:
    return "made a forbidden system call";
  case CallEnd::exited:
    return "exited";
  case CallEnd::timed_out:
    return "hung";
  case CallEnd::returned:
    return "returned";
  }
  return {};
}

} // namespace

Result<Judge> Judge::open(Definition definition, const std::vector<Workload>& workloads,
                          JudgeContext context) {
  Judge judge;
  if (workloads.empty())
    return fail(ErrorKind::invalid_input, fmt::format("`{}` has no workloads", definition.name),
                fmt::format("add lines to {}.workloads.jsonl", definition.name));
  for (const Workload& w : workloads) {
    KW_TRY(BoundWorkload bound, bind_workload(definition, w, context.read_input));
    judge.workloads_.push_back(std::move(bound));
  }
  join_twins(judge.workloads_);
  KW_TRY(Oracle oracle, prepare_oracle(definition, context.oracle));
  judge.oracle_ = std::make_unique<Oracle>(std::move(oracle));

  const Capacities most = capacities(judge.workloads_, *judge.oracle_);
  context.session.input_capacity = most.inputs;
  context.session.output_capacity = most.outputs;
  if (context.session.required_tier.empty())
    context.session.required_tier = definition.ext.min_tier;
  KW_TRY(Session session, Session::start(context.session));
  judge.session_ = std::make_unique<Session>(std::move(session));

  judge.oracle_->arm.output_capacity = most.oracle;
  judge.oracle_->arm.resident = true;
  if (judge.oracle_->arm.kind == ArmKind::oracle)
    judge.oracle_->arm.threads = context.workers;
  LoadReport report;
  KW_TRY(Arm arm, judge.session_->spawn(judge.oracle_->arm, report));
  if (report.end != CallEnd::returned)
    return fail(ErrorKind::infrastructure,
                fmt::format("the oracle of `{}` could not be loaded: it {} ({})", definition.name,
                            end_word(report.end), report.detail),
                "check the oracle's source: it must export its entries as extern \"C\"");
  judge.oracle_arm_ = std::make_unique<Arm>(std::move(arm));
  judge.trials_ = std::make_unique<TrialRunner>(*judge.session_, *judge.oracle_arm_, *judge.oracle_,
                                                Seed{}, context.workers);
  judge.definition_ = std::move(definition);
  judge.context_ = std::move(context);
  return judge;
}

Result<std::unique_ptr<Arm>> Judge::spawn(const Subject& subject, LoadReport& report) {
  ArmSpec spec;
  spec.kind = ArmKind::candidate;
  spec.object = subject.build.object;
  spec.entry = subject.build.entry;
  spec.threads = definition_.ext.threads;
  KW_TRY(Arm arm, session_->spawn(spec, report));
  return std::make_unique<Arm>(std::move(arm));
}

void Judge::begin(const Seed& seed) {
  trials_->reseed(seed);
  next_trial_ = 0;
}

void Judge::note_sandbox(Verdict& verdict) const {
  verdict.tier = session_->tier();
  // A session below the minimum starts only where that was asked for.
  verdict.tainted = verdict.tier < definition_.ext.min_tier;
  verdict.facilities.clear();
  for (const SandboxTrial& t : session_->sandbox().trials)
    verdict.facilities.push_back({t.facility, t.works, t.tried, t.happened});
}

Result<Subject> Judge::admit(const Solution& solution, Verdict& verdict) {
  KW_TRY(TargetBuild build, context_.target->build(solution, definition_));
  return load(solution, std::move(build), verdict);
}

Result<std::vector<TargetBuild>> Judge::build(const std::vector<Solution>& solutions) {
  std::vector<std::optional<Result<TargetBuild>>> built(solutions.size());
  parallel_ranges(context_.workers, static_cast<std::int64_t>(solutions.size()), 1,
                  [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t i = begin; i < end; ++i) {
                      const auto at = static_cast<std::size_t>(i);
                      built[at] = context_.target->build(solutions[at], definition_);
                    }
                  });
  std::vector<TargetBuild> out;
  for (std::optional<Result<TargetBuild>>& one : built) {
    KW_TRY(TargetBuild build, std::move(*one));
    out.push_back(std::move(build));
  }
  return out;
}

Result<Subject> Judge::load(const Solution& solution, TargetBuild built, Verdict& verdict) {
  note_sandbox(verdict);
  Subject subject{.solution = solution, .build = std::move(built), .arm = nullptr};
  const TargetBuild& build = subject.build;
  verdict.cost_ms["build"] = build.ms;
  verdict.diagnostics = build.diagnostics;
  verdict.build.summary = build.summary;
  verdict.build.details = build.details;
  for (const std::string& flag : build.flags_raised)
    verdict.build.details.push_back("flag: " + flag);
  if (!build.ok) {
    verdict.build.outcome = Outcome::fail;
    verdict.finding = build.finding;
    return subject;
  }
  verdict.build.outcome = Outcome::pass;

  LoadReport report;
  KW_TRY(subject.arm, spawn(subject, report));
  verdict.cost_ms["load"] = report.ms;
  if (report.end == CallEnd::returned) {
    verdict.sandbox.outcome = Outcome::pass;
    verdict.sandbox.summary = session_->tier();
    return subject;
  }
  subject.arm.reset();
  verdict.sandbox.outcome = Outcome::fail;
  verdict.sandbox.summary =
      fmt::format("the object {} while it was loaded: {}", end_word(report.end), report.detail);
  verdict.finding = report.end == CallEnd::violation   ? Finding::sandbox
                    : report.end == CallEnd::timed_out ? Finding::resource
                    : report.end == CallEnd::crashed   ? Finding::crash
                                                       : Finding::protocol;
  return subject;
}

Status Judge::examine(Subject& subject, Verdict& verdict) {
  const auto began = std::chrono::steady_clock::now();
  subject.arm.reset();
  if (const std::vector<std::string> left = session_->remove_leftovers(); !left.empty()) {
    verdict.sandbox.outcome = Outcome::fail;
    verdict.sandbox.summary =
        fmt::format("left behind after its process had ended: {}", fmt::join(left, ", "));
    verdict.sandbox.details.emplace_back(
        "remedy: a kernel computes and nothing else; nothing may survive its call");
    if (verdict.finding == Finding::none)
      verdict.finding = Finding::sandbox;
  }
  // After a clean smoke the next candidate's start says the same; feedback must not wait for it.
  if (verdict.gate != "smoke" || verdict.finding != Finding::none)
    KW_CHECK(session_->serves());
  verdict.cost_ms["health"] =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
  return {};
}

Result<Calibration> Judge::calibration() {
  if (!calibration_) {
    KW_TRY(Calibration measured, session_->calibrate());
    calibration_ = measured;
  }
  return *calibration_;
}

void reject(Verdict& verdict, const TrialResult& result) {
  AxisVerdict& axis = result.finding == Finding::sandbox ? verdict.sandbox : verdict.correctness;
  axis.outcome = Outcome::fail;
  axis.summary = result.detail;
  if (!result.remedy.empty())
    axis.details.push_back("remedy: " + result.remedy);
  verdict.finding = result.finding;
  verdict.mismatch = result.mismatch;
}

void conclude(Verdict& verdict, bool timing_asked) {
  const AxisVerdict* axes[] = {&verdict.build, &verdict.sandbox, &verdict.correctness,
                               &verdict.timing, &verdict.merit};
  const bool failed = std::any_of(std::begin(axes), std::end(axes),
                                  [](const AxisVerdict* a) { return a->outcome == Outcome::fail; });
  if (!verdict.infrastructure_error.empty()) {
    verdict.word = "INFRASTRUCTURE";
    verdict.accepted = false;
  } else if (failed) {
    verdict.word = "REJECTED";
    verdict.accepted = false;
  } else if (verdict.correctness.outcome != Outcome::pass) {
    verdict.word = "UNDECIDED";
    verdict.accepted = false;
  } else if (!timing_asked) {
    verdict.word = "CORRECT";
    verdict.accepted = true;
  } else {
    verdict.accepted = verdict.merit.outcome == Outcome::pass;
    verdict.word = verdict.accepted ? "ACCEPTED" : "UNDECIDED";
  }
}

} // namespace kw
