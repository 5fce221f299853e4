// SPDX-License-Identifier: Apache-2.0
// The questions a candidate has to pass in a search, and what their answer changes.
#include "controller/effect_result.hpp"
#include "controller/regime_search.hpp"
#include "controller/solution_folder.hpp"
#include "formats/verdict_json.hpp"
#include "judge/ratios.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <utility>

namespace kw {
namespace {

/// A screen must show this much before a gate is spent on it (the gate's own least effect).
constexpr double worth_a_gate = 0.02;
/// Windows of the search's own gates: the calibrated length is for claims.
constexpr double search_window_ns = 4e6;
/// Calls of more operations than this are verified twice instead of five times before the screen,
/// which verifies as well.
constexpr double large_flops = 4e9;
/// Where the rounds that a gate needs take longer than a search can give, a screen of at least this
/// much and this many rounds moves the champion. The winner as a whole meets the gate in any case.
constexpr double clear_lead = 0.1;
constexpr std::size_t clear_rounds = 3;

} // namespace

namespace {

/// What decides about it in the journal: a configuration names its sources, anything else is named
/// by their hash.
std::string effect_key(const std::string& regime, const Candidate& candidate) {
  if (candidate.config)
    return fmt::format("{}: {}", regime, candidate.hypothesis);
  return fmt::format("{}: {} {:.16}", regime, candidate.proposer,
                     source_identity(candidate.solution));
}

Attempt attempt_of(const Candidate& candidate, const Probe& probe) {
  return {.probe = probe.id,
          .proposer = candidate.proposer,
          .hypothesis = candidate.hypothesis,
          .decision = probe.decision,
          .reason = probe.reason,
          .finding = std::string(name(probe.verdict.finding)),
          .speedup = probe.estimate ? std::exp(*probe.estimate) : 0};
}

Attempt attempt_of(const Candidate& candidate, const KnownAttempt& known) {
  return {.probe = known.probe,
          .proposer = candidate.proposer,
          .hypothesis = candidate.hypothesis,
          .decision = "known",
          .reason = "tried before: " + known.reason,
          .finding = known.finding,
          .speedup = known.estimate ? std::exp(*known.estimate) : 0};
}

} // namespace

/// Whoever put it forward learns how it fared.
void RegimeSearch::tell(const Candidate& candidate, const Observation& seen, Attempt attempt) {
  if (candidate.config)
    tuner_->tell(*candidate.config, seen);
  if (candidate.proposal)
    for (const auto& proposer : context_->hooks.proposers)
      if (proposer && proposer->name() == candidate.proposer)
        proposer->hear(*candidate.proposal, attempt);
  attempts_.push_back(std::move(attempt));
}

Status RegimeSearch::judge_batch(const std::vector<Candidate>& batch, const RoundPlan& plan,
                                 const Memory& memory, RoundResult& round) {
  std::vector<const Candidate*> fresh;
  std::vector<Solution> solutions;
  for (const Candidate& candidate : batch) {
    const KnownAttempt* known =
        context_->options.parts.memory
            ? memory.rejected(context_->recorder.hash_of(candidate.solution), regime_->name)
            : nullptr;
    if (known != nullptr) { // answered without running it
      const bool timed = known->finding == "NONE" && known->estimate;
      tell(candidate,
           {.cost = timed ? std::optional(std::exp(-*known->estimate)) : std::nullopt,
            .valid = timed},
           attempt_of(candidate, *known));
      context_->log.add({{"decision", "known"},
                         {"regime", regime_->name},
                         {"hypothesis", candidate.hypothesis},
                         {"probe", known->probe},
                         {"reason", known->reason}});
      continue;
    }
    fresh.push_back(&candidate);
    solutions.push_back(candidate.solution);
  }
  std::vector<TargetBuild> builds;
  if (!context_->journal.answered() && !solutions.empty()) {
    KW_TRY(builds, build(solutions));
  }
  for (std::size_t i = 0; i < fresh.size() && (i == 0 || goes_on()); ++i) {
    KW_TRY(const Json result,
           context_->journal.once("evaluate", effect_key(regime_->name, *fresh[i]), [&] {
             return judge_live(*fresh[i], plan,
                               builds.empty() ? std::nullopt : std::optional(std::move(builds[i])));
           }));
    KW_CHECK(take_in(*fresh[i], plan, result, round));
  }
  return {};
}

Result<std::vector<TargetBuild>> RegimeSearch::build(const std::vector<Solution>& solutions) {
  const SteadyTime began = std::chrono::steady_clock::now();
  KW_TRY(std::vector<TargetBuild> builds, context_->judge.build(solutions));
  building_ += seconds_since(began);
  return builds;
}

/// Builds where that has not happened, judges, archives; what is decided about it is the result.
Result<Json> RegimeSearch::judge_live(const Candidate& candidate, const RoundPlan& plan,
                                      std::optional<TargetBuild> build) {
  Judge& judge = context_->judge;
  const Solution& solution = candidate.solution;
  if (!build) {
    KW_TRY(std::vector<TargetBuild> one, this->build({solution}));
    build = std::move(one.front());
  }
  const Seed seed = fresh_seed();
  Probe probe = context_->recorder.open(solution, seed);
  probe.parent = champion_id_;
  probe.proposer = candidate.proposer;
  probe.hypothesis = candidate.hypothesis;
  probe.direction = plan.direction == nullptr ? "model" : std::string(plan.direction->id);
  probe.regime = regime_->name;
  const SteadyTime began = std::chrono::steady_clock::now();
  judge.begin(seed);
  Observation seen{.cost = std::nullopt, .valid = false};
  KW_TRY(live_, judge.load(solution, std::move(*build), probe.verdict));
  if (live_.loaded())
    KW_CHECK(question(live_, probe, seen));
  conclude(probe.verdict, probe.verdict.times.has_value());
  if (probe.verdict.finding != Finding::none) {
    seen = {.cost = std::nullopt, .valid = false};
    probe.decision = "reject";
    probe.estimate.reset();
    probe.reason = failed_axis(probe.verdict).summary;
  }
  probe.wall_ms = 1e3 * seconds_since(began);
  KW_CHECK(context_->recorder.store(probe, live_.build, seed));
  Json result{{"probe", probe.id},
              {"valid", seen.valid},
              {"decision", probe.decision},
              {"reason", probe.reason}};
  if (seen.cost)
    result["cost"] = *seen.cost;
  if (probe.estimate)
    result["estimate"] = *probe.estimate;
  result["build_seconds"] = std::exchange(building_, 0.0);
  context_->stamp(result);
  return result;
}

/// What a result changes, live or recorded.
Status RegimeSearch::take_in(const Candidate& candidate, const RoundPlan& plan, const Json& result,
                             RoundResult& round) {
  const std::string id = text_in(result, "probe");
  const Observation seen{.cost = number_in(result, "cost"), .valid = flag_in(result, "valid")};
  context_->spend(result);
  ++evaluations_;
  ++context_->index;
  ++round.tried;
  round.valid += seen.valid ? 1 : 0;
  if (seen.valid && seen.cost)
    round.best_seen = std::max(round.best_seen, -std::log(*seen.cost));
  const std::string decision = text_in(result, "decision");
  context_->log.add({{"decision", decision},
                     {"regime", regime_->name},
                     {"round", plan.number},
                     {"probe", id},
                     {"proposer", candidate.proposer},
                     {"hypothesis", candidate.hypothesis},
                     {"reason", text_in(result, "reason")}});
  KW_TRY(const ArchivedProbe stored, context_->recorder.archive().get_probe(id));
  KW_TRY(Probe probe, decode_probe(stored.json));
  tell(candidate, seen, attempt_of(candidate, probe));
  if (decision == "keep") {
    // A replayed candidate has no process: the next live question makes one.
    champion_ = std::move(live_);
    crown_ = probe.solution;
    champion_id_ = id;
    champion_log_ = number_in(result, "estimate").value_or(0.0);
    best_ = Winner{.config = candidate.config,
                   .proposal = candidate.proposal,
                   .hypothesis = candidate.hypothesis,
                   .proposer = candidate.proposer};
  }
  live_ = Subject{};
  ProbeEvent event{.index = context_->index,
                   .seconds = context_->spent,
                   .probe = std::move(probe),
                   .best = std::exp(champion_log_)};
  context_->hooks.probe(event);
  context_->events.push_back(std::move(event));
  return {};
}

Status RegimeSearch::question(Subject& subject, Probe& probe, Observation& seen) {
  Judge& judge = context_->judge;
  Verdict& verdict = probe.verdict;
  const bool large = judge.workloads()[regime_->representative].flops > large_flops;
  KW_CHECK(judge.verify(subject, large ? "glance" : "smoke", verdict,
                        {regime_->smallest, regime_->representative}));
  if (verdict.correctness.outcome != Outcome::pass)
    return {};
  KW_TRY(Subject* const reigning, champion());
  const SteadyTime began = std::chrono::steady_clock::now();
  KW_TRY(const ScreenReading screen, judge.screen(*reigning, subject, regime_->representative,
                                                  context_->options.screen_rounds, verdict));
  if (verdict.correctness.outcome == Outcome::fail)
    return {};
  probe.estimate = champion_log_ + screen.ahead;
  seen = {.cost = std::exp(-*probe.estimate), .valid = true};
  // Ahead of the baseline but not of the champion: kept on file as a branch to come back to.
  const char* const not_kept = *probe.estimate > 0 ? "archive" : "reject";
  if (screen.ahead < worth_a_gate) {
    probe.decision = not_kept;
    probe.reason = fmt::format("screen: {:.3f}x of the champion", std::exp(screen.ahead));
    return {};
  }
  const double round =
      seconds_since(began) / static_cast<double>(std::max<std::size_t>(screen.rounds, 1));
  const RaceOptions defaults;
  if (round * defaults.gate.min_rounds > gate_seconds(context_->options)) {
    const bool clear = screen.least >= clear_lead && screen.rounds >= clear_rounds;
    probe.decision = clear ? "keep" : not_kept;
    probe.reason = fmt::format("screen: {:.3f}x of the champion in {} rounds of {:.1f} s, too long "
                               "for a gate within the search",
                               std::exp(screen.ahead), screen.rounds, round);
  } else {
    KW_CHECK(gate(subject, screen.ahead, probe, seen));
  }
  if (probe.decision != "keep")
    return {};
  KW_TRY(const std::string loser, loses_elsewhere(subject, verdict));
  if (!loser.empty())
    probe.decision = "reject", probe.reason = loser;
  return {};
}

Status RegimeSearch::gate(Subject& subject, double ahead, Probe& probe, Observation& seen) {
  Verdict& verdict = probe.verdict;
  RaceOptions race = context_->options.race;
  race.workloads = {regime_->representative};
  race.windows = 1;
  race.gate.max_rounds = 40;
  race.remember_self_test = true;
  if (race.least_window_ns <= 0)
    race.least_window_ns = search_window_ns;
  race.seconds = gate_seconds(context_->options);
  KW_TRY(Subject* const reigning, champion());
  KW_CHECK(context_->judge.time(*reigning, subject, race, verdict));
  if (verdict.correctness.outcome == Outcome::fail)
    return {};
  probe.decision = verdict.merit.outcome == Outcome::pass ? "keep"
                   : *probe.estimate > 0                  ? "archive"
                                                          : "reject";
  probe.reason = verdict.merit.summary.empty() ? verdict.timing.summary : verdict.merit.summary;
  if (probe.decision == "keep") {
    // One workload, so one entry; the screen's own figure chose it and would flatter.
    const std::vector<PairedTiming>& timed = verdict.times->gate;
    probe.estimate = champion_log_ + (timed.empty() ? ahead : std::log(timed.front().speedup));
    seen.cost = std::exp(-*probe.estimate);
  }
  return {};
}

/// The winner as a whole may lose nowhere, so a champion may not either: a sentence about the first
/// other workload of the regime where a screen sees it behind the baseline, "" if there is none.
Result<std::string> RegimeSearch::loses_elsewhere(Subject& subject, Verdict& verdict) {
  constexpr int rounds = 3;
  Judge& judge = context_->judge;
  KW_TRY(Subject* const plain, baseline());
  for (const std::size_t i : regime_->workloads) {
    if (i == regime_->representative || !judge.workloads()[i].timed)
      continue;
    KW_TRY(const ScreenReading screen, judge.screen(*plain, subject, i, rounds, verdict));
    if (verdict.correctness.outcome == Outcome::fail)
      return std::string{};
    if (screen.ahead < -tolerated_loss)
      return fmt::format("screen: {:.3f}x of the baseline on {}", std::exp(screen.ahead),
                         judge.workloads()[i].axes_text);
  }
  return std::string{};
}

} // namespace kw
