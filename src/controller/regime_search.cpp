// SPDX-License-Identifier: Apache-2.0
#include "controller/regime_search.hpp"

#include "judge/ratios.hpp"
#include "search/instantiate.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

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
/// A neighbouring regime hands on this many configurations.
constexpr std::size_t handed_on = 3;

} // namespace

Result<Subject> load_baseline(SearchContext& context) {
  Verdict verdict;
  context.judge.begin(fresh_seed());
  KW_TRY(Subject subject, context.judge.admit(context.baseline, verdict));
  if (!subject.loaded())
    return fail(ErrorKind::invalid_input,
                fmt::format("the baseline `{}` is not usable: {} {}", context.baseline.name,
                            verdict.build.summary, verdict.sandbox.summary),
                "run `kernwright check` on the operator folder and correct its baseline");
  return subject;
}

Result<RegimeSearch> RegimeSearch::open(SearchContext& context, const Regime& regime) {
  RegimeSearch search(context);
  search.regime_ = &regime;
  std::vector<Space> fitting;
  for (const std::size_t s : regime.spaces)
    fitting.push_back(context.spaces[s].space);
  Bindings names = context.facts;
  const Bindings& axes = context.judge.workloads()[regime.representative].axes;
  names.insert(axes.begin(), axes.end());
  KW_TRY(SpaceSet set, SpaceSet::bind(std::move(fitting), names));
  search.set_ = std::make_unique<SpaceSet>(std::move(set));
  KW_TRY(search.baseline_, load_baseline(context));
  KW_TRY(search.champion_, load_baseline(context));
  return search;
}

Status RegimeSearch::recall(const Probe& probe) {
  const Result<Config> config = set_->parse(probe.hypothesis);
  if (probe.regime != regime_->name || !config)
    return {};
  Observation seen{.cost = std::nullopt, .valid = probe.estimate.has_value()};
  if (probe.estimate)
    seen.cost = std::exp(-*probe.estimate);
  recalled_.emplace_back(*config, seen);
  ++evaluations_;
  ++context_->index;
  if (probe.decision != "keep")
    return {};
  Verdict verdict;
  KW_TRY(Subject subject, context_->judge.admit(probe.solution, verdict));
  if (subject.loaded())
    enthrone(std::move(subject), probe, *config);
  return {};
}

void RegimeSearch::learn(const Probe& probe) {
  const Result<Config> config = set_->parse(probe.hypothesis);
  if (probe.regime == regime_->name && config && probe.estimate)
    prior_.push_back({*config, std::exp(-*probe.estimate)});
}

void RegimeSearch::learn(const RegimeSearch& neighbour) {
  if (!neighbour.tuner_)
    return;
  std::vector<Trial> best = neighbour.tuner_->trials();
  std::erase_if(best, [](const Trial& t) { return !t.observation.valid; });
  std::sort(best.begin(), best.end(),
            [](const Trial& a, const Trial& b) { return a.observation.cost < b.observation.cost; });
  best.resize(std::min(best.size(), handed_on));
  for (const Trial& trial : best)
    if (const Result<Config> config = set_->parse(neighbour.text(trial.config)))
      prior_.push_back({*config, *trial.observation.cost});
}

std::optional<Config> RegimeSearch::winner() const {
  if (best_)
    return best_;
  const Trial* best = tuner_ ? tuner_->best() : nullptr;
  return best != nullptr && best->observation.valid ? std::optional(best->config) : std::nullopt;
}

const LoadedSpace& RegimeSearch::space_of(const Config& config) const {
  return context_->spaces[regime_->spaces[config.space]];
}

/// As many as there are CPUs to build on.
std::vector<Config> RegimeSearch::next_batch(int evaluations) {
  const int left = evaluations == 0 ? context_->judge.workers() : evaluations - evaluations_;
  std::vector<Config> batch;
  for (int i = 0; i < std::min(left, context_->judge.workers()); ++i) {
    const std::optional<Config> config = tuner_->ask();
    if (!config)
      break;
    batch.push_back(*config);
  }
  return batch;
}

Status RegimeSearch::run(double seconds, int evaluations) {
  tuner_ = std::make_unique<Tuner>(*set_, TunerOptions{.algorithm = Algorithm::hybrid,
                                                       .seed = context_->options.seed,
                                                       .prior = prior_});
  for (const auto& [config, seen] : recalled_)
    tuner_->tell(config, seen);
  const SteadyTime began = std::chrono::steady_clock::now();
  const auto goes_on = [&] { return !context_->hooks.stop() && seconds_since(began) < seconds; };
  while (goes_on() && (evaluations == 0 || evaluations_ < evaluations)) {
    const std::vector<Config> batch = next_batch(evaluations);
    if (batch.empty()) {
      context_->hooks.note(fmt::format("{}: every legal configuration was tried", regime_->name));
      break;
    }
    std::vector<Solution> solutions;
    for (const Config& config : batch) {
      const LoadedSpace& loaded = space_of(config);
      KW_TRY(Solution solution,
             instantiate(context_->judge.definition(), {.space = &loaded.space,
                                                        .choice = config.choice,
                                                        .template_text = loaded.template_text}));
      solutions.push_back(std::move(solution));
    }
    KW_TRY(std::vector<TargetBuild> builds, context_->judge.build(solutions));
    for (std::size_t i = 0; i < batch.size() && (i == 0 || goes_on()); ++i)
      if (Status judged = judge_one(batch[i], solutions[i], std::move(builds[i])); !judged)
        return judged.error().kind == ErrorKind::interrupted ? Status{} : judged;
  }
  return {};
}

Status RegimeSearch::judge_one(const Config& config, const Solution& solution, TargetBuild build) {
  const Seed seed = fresh_seed();
  Probe probe = context_->recorder.open(solution, seed);
  probe.parent = champion_id_;
  probe.proposer = "tuner";
  probe.hypothesis = set_->text(config);
  probe.regime = regime_->name;
  const SteadyTime began = std::chrono::steady_clock::now();
  context_->judge.begin(seed);
  Observation seen{.cost = std::nullopt, .valid = false};
  KW_TRY(Subject subject, context_->judge.load(solution, std::move(build), probe.verdict));
  if (subject.loaded())
    KW_CHECK(question(subject, probe, seen));
  conclude(probe.verdict, probe.verdict.times.has_value());
  if (probe.verdict.finding != Finding::none) {
    seen = {.cost = std::nullopt, .valid = false};
    probe.decision = "reject";
    probe.estimate.reset();
    probe.reason = failed_axis(probe.verdict).summary;
  }
  probe.wall_ms = 1e3 * seconds_since(began);
  KW_CHECK(context_->recorder.store(probe, subject.build, seed));
  tuner_->tell(config, seen);
  ++evaluations_;
  ++context_->index;
  if (probe.decision == "keep")
    enthrone(std::move(subject), probe, config);
  ProbeEvent event{.index = context_->index,
                   .seconds = seconds_since(context_->start),
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
  const SteadyTime began = std::chrono::steady_clock::now();
  KW_TRY(const ScreenReading screen, judge.screen(champion_, subject, regime_->representative,
                                                  context_->options.screen_rounds, verdict));
  if (verdict.correctness.outcome == Outcome::fail)
    return {};
  probe.estimate = champion_log_ + screen.ahead;
  seen = {.cost = std::exp(-*probe.estimate), .valid = true};
  if (screen.ahead < worth_a_gate) {
    probe.decision = "reject";
    probe.reason = fmt::format("screen: {:.3f}x of the champion", std::exp(screen.ahead));
    return {};
  }
  const double round =
      seconds_since(began) / static_cast<double>(std::max<std::size_t>(screen.rounds, 1));
  const RaceOptions defaults;
  if (round * defaults.gate.min_rounds > gate_seconds(context_->options)) {
    const bool clear = screen.least >= clear_lead && screen.rounds >= clear_rounds;
    probe.decision = clear ? "keep" : "reject";
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
  KW_CHECK(context_->judge.time(champion_, subject, race, verdict));
  if (verdict.correctness.outcome == Outcome::fail)
    return {};
  probe.decision = verdict.merit.outcome == Outcome::pass ? "keep" : "reject";
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
  for (const std::size_t i : regime_->workloads) {
    if (i == regime_->representative || !judge.workloads()[i].timed)
      continue;
    KW_TRY(const ScreenReading screen, judge.screen(baseline_, subject, i, rounds, verdict));
    if (verdict.correctness.outcome == Outcome::fail)
      return std::string{};
    if (screen.ahead < -tolerated_loss)
      return fmt::format("screen: {:.3f}x of the baseline on {}", std::exp(screen.ahead),
                         judge.workloads()[i].axes_text);
  }
  return std::string{};
}

void RegimeSearch::enthrone(Subject subject, const Probe& probe, const Config& config) {
  champion_ = std::move(subject);
  champion_id_ = probe.id;
  champion_log_ = probe.estimate.value_or(0);
  best_ = config;
}

} // namespace kw
