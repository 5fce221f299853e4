// SPDX-License-Identifier: Apache-2.0
#include "controller/regime_search.hpp"

#include "controller/effect_result.hpp"
#include "formats/verdict_json.hpp"
#include "judge/ratios.hpp"
#include "search/instantiate.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
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
  return search;
}

void RegimeSearch::learn(const KnownAttempt& known) {
  const Result<Config> config = set_->parse(known.hypothesis);
  if (known.regime == regime_->name && config && known.estimate && known.finding == "NONE")
    prior_.push_back({*config, std::exp(-*known.estimate)});
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

bool RegimeSearch::goes_on() const {
  return !context_->hooks.stop() && context_->spent - began_ < seconds_ &&
         (most_evaluations_ == 0 || evaluations_ < most_evaluations_);
}

Result<Subject*> RegimeSearch::baseline() {
  if (!baseline_.loaded()) {
    KW_TRY(baseline_, load_baseline(*context_));
  }
  return &baseline_;
}

Result<Subject*> RegimeSearch::champion() {
  if (!champion_.loaded() && crown_) {
    Verdict verdict;
    KW_TRY(champion_, context_->judge.admit(*crown_, verdict));
  }
  if (!champion_.loaded()) {
    KW_TRY(champion_, load_baseline(*context_));
  }
  return &champion_;
}

Status RegimeSearch::run(double seconds, int evaluations, bool may_stop, const Memory& memory) {
  tuner_ = std::make_unique<Tuner>(*set_, TunerOptions{.algorithm = context_->options.strategy,
                                                       .seed = context_->options.seed,
                                                       .prior = prior_});
  began_ = context_->spent;
  seconds_ = seconds;
  most_evaluations_ = evaluations;
  RoundPlanner planner(context_->options.parts, 1, may_stop);
  while (goes_on() && !exhausted_ && !planner.ended())
    if (Status done = one_round(planner, memory); !done)
      return done.error().kind == ErrorKind::interrupted ? Status{} : done;
  if (exhausted_)
    context_->hooks.note(fmt::format("{}: every legal configuration was tried", regime_->name));
  if (planner.ended())
    context_->hooks.note(fmt::format(
        "{}: a plateau: the rest of its time goes to the other regimes", regime_->name));
  for (const auto& [direction, account] : planner.accounts())
    context_->log.add({{"decision", "account"},
                       {"regime", regime_->name},
                       {"direction", direction},
                       {"rounds", account.rounds},
                       {"gains", account.gains},
                       {"predicted", std::exp(account.predicted)},
                       {"measured", std::exp(account.measured)}});
  return context_->log.flush();
}

Status RegimeSearch::diagnose(RoundPlanner& planner) {
  constexpr double changed =
      0.1; // ln: a champion that is 10 % faster may be bound by something else
  const std::optional<Config> best = winner();
  if (planner.rounds().empty() || !best || !context_->hooks.profile ||
      !context_->options.parts.profile || champion_log_ < profiled_log_ + changed)
    return {};
  KW_TRY(
      const Json state,
      context_->journal.once("profile", regime_->name + ": " + champion_id_, [&]() -> Result<Json> {
        KW_TRY(Subject* const subject, champion());
        const Result<BottleneckState> found =
            context_->hooks.profile(*subject, regime_->representative);
        if (!found && found.error().kind == ErrorKind::interrupted)
          return fail(found.error());
        const BottleneckState state = found ? *found : BottleneckState{};
        return Json{
            {"word", state.word},
            {"confidence", state.confidence},
            {"headroom", state.headroom},
            {"evidence", found ? state.evidence : std::vector<std::string>{found.error().message}},
            {"seconds", context_->lap()}};
      }));
  context_->spent += number_in(state, "seconds").value_or(0.0);
  profiled_log_ = champion_log_;
  // A word that explains little of the time is no better than none.
  constexpr double believable = 0.25;
  const double confidence = number_in(state, "confidence").value_or(0.0);
  const std::string word = confidence < believable ? "unknown" : text_in(state, "word");
  const double headroom = number_in(state, "headroom").value_or(1.0);
  planner.state(word, headroom, fmt::format("{}/{}", word, set_->spaces()[best->space].name));
  context_->log.add({{"decision", "state"},
                     {"regime", regime_->name},
                     {"champion", champion_id_},
                     {"state", word},
                     {"confidence", confidence},
                     {"headroom", headroom},
                     {"signature", planner.signature()}});
  return {};
}

/// Where a directed round starts from: the champion, or what the supervisor wants instead.
std::optional<Config> RegimeSearch::anchor(const RoundPlan& plan) const {
  const std::optional<Config> best = winner();
  if (!best || !plan.intervention)
    return best;
  const bool other_family = plan.intervention->recovery == Recovery::change_family;
  const Trial* branch = nullptr;
  for (const Trial& t : tuner_->trials()) {
    std::size_t different = 0;
    for (std::size_t p = 0; t.config.space == best->space && p < best->choice.size(); ++p)
      different += t.config.choice[p] != best->choice[p] ? 1 : 0;
    const bool fits = other_family ? t.config.space != best->space
                                   : t.config.space != best->space || different >= 2;
    if (fits && t.observation.valid && t.observation.cost &&
        (branch == nullptr || t.observation.rank() < branch->observation.rank()))
      branch = &t;
  }
  return branch == nullptr ? best : branch->config;
}

std::vector<Config> RegimeSearch::propose(const RoundPlan& plan, const Config* anchor, int count) {
  std::optional<Focus> focus;
  if (plan.direction != nullptr && anchor != nullptr)
    focus = focus_of(*plan.direction, *set_, *anchor);
  if (plan.direction == nullptr && plan.intervention && anchor != nullptr) {
    focus = Focus{.anchor = *anchor, .freed = {}}; // all of that template
    for (std::size_t p = 0; p < anchor->choice.size(); ++p)
      focus->freed.push_back(p);
  }
  std::vector<Config> batch;
  for (int i = 0; i < count; ++i) {
    const std::optional<Config> config = focus ? tuner_->ask(*focus) : tuner_->ask();
    if (!config)
      break;
    batch.push_back(*config);
  }
  return batch;
}

Status RegimeSearch::one_round(RoundPlanner& planner, const Memory& memory) {
  KW_CHECK(diagnose(planner));
  const std::optional<Config> from = winner();
  const RoundPlan plan = planner.next([&](const Direction& d) {
    const std::optional<Focus> focus = from ? focus_of(d, *set_, *from) : std::nullopt;
    return focus && tuner_->has_new(*focus);
  });
  Json line{{"decision", "round"},
            {"regime", regime_->name},
            {"round", plan.number},
            {"phase", plan.phase},
            {"direction", plan.direction == nullptr ? "model" : std::string(plan.direction->id)},
            {"predicted", plan.predicted},
            {"why", plan.why},
            {"blocked", plan.blocked},
            {"recommended", plan.recommended}};
  if (plan.intervention)
    line["intervention"] = {{"detector", plan.intervention->detector},
                            {"evidence", plan.intervention->evidence},
                            {"recovery", name(plan.intervention->recovery)}};
  context_->log.add(line);
  if (planner.ended())
    return {};
  RoundResult round{.number = plan.number,
                    .signature = planner.signature(),
                    .direction = plan.direction == nullptr ? "" : std::string(plan.direction->id),
                    .before = champion_log_,
                    .best_seen = -std::numeric_limits<double>::infinity()};
  const double start = context_->spent;
  const std::optional<Config> at = anchor(plan);
  const int workers = context_->judge.workers();
  for (int left = plan.candidates; left > 0 && goes_on();) {
    int count = std::min(left, workers);
    if (most_evaluations_ > 0)
      count = std::min(count, most_evaluations_ - evaluations_);
    const std::vector<Config> batch = propose(plan, at ? &*at : nullptr, count);
    if (batch.empty()) {
      exhausted_ = plan.direction == nullptr && !plan.intervention;
      break;
    }
    KW_CHECK(judge_batch(batch, plan, memory, round));
    left -= static_cast<int>(batch.size());
  }
  round.after = champion_log_;
  round.seconds = context_->spent - start;
  context_->rounds.push_back({.regime = regime_->name,
                              .plan = plan,
                              .result = round,
                              .state = planner.rounds().empty() ? "" : planner.state_word()});
  planner.close(std::move(round));
  return context_->journal.replaying() ? Status{} : context_->log.flush();
}

Status RegimeSearch::judge_batch(const std::vector<Config>& batch, const RoundPlan& plan,
                                 const Memory& memory, RoundResult& round) {
  std::vector<Solution> solutions;
  std::vector<std::size_t> of; // index into the batch
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const LoadedSpace& loaded = space_of(batch[i]);
    KW_TRY(Solution solution,
           instantiate(context_->judge.definition(), {.space = &loaded.space,
                                                      .choice = batch[i].choice,
                                                      .template_text = loaded.template_text}));
    const KnownAttempt* known =
        context_->options.parts.memory
            ? memory.rejected(context_->recorder.hash_of(solution), regime_->name)
            : nullptr;
    if (known != nullptr) { // answered without running it
      tuner_->tell(batch[i], {.cost = known->estimate && known->finding == "NONE"
                                          ? std::optional(std::exp(-*known->estimate))
                                          : std::nullopt,
                              .valid = known->finding == "NONE" && known->estimate});
      context_->log.add({{"decision", "known"},
                         {"regime", regime_->name},
                         {"hypothesis", set_->text(batch[i])},
                         {"probe", known->probe},
                         {"reason", known->reason}});
      continue;
    }
    solutions.push_back(std::move(solution));
    of.push_back(i);
  }
  std::vector<TargetBuild> builds;
  if (!context_->journal.answered() && !solutions.empty()) {
    KW_TRY(builds, build(solutions));
  }
  for (std::size_t i = 0; i < solutions.size() && (i == 0 || goes_on()); ++i) {
    const Config& config = batch[of[i]];
    KW_TRY(const Json result,
           context_->journal.once(
               "evaluate", fmt::format("{}: {}", regime_->name, set_->text(config)), [&] {
                 return judge_live(config, plan, solutions[i],
                                   builds.empty() ? std::nullopt
                                                  : std::optional(std::move(builds[i])));
               }));
    KW_CHECK(take_in(config, plan, result, round));
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
Result<Json> RegimeSearch::judge_live(const Config& config, const RoundPlan& plan,
                                      const Solution& solution, std::optional<TargetBuild> build) {
  Judge& judge = context_->judge;
  if (!build) {
    KW_TRY(std::vector<TargetBuild> one, this->build({solution}));
    build = std::move(one.front());
  }
  const Seed seed = fresh_seed();
  Probe probe = context_->recorder.open(solution, seed);
  probe.parent = champion_id_;
  probe.proposer = "tuner";
  probe.hypothesis = set_->text(config);
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
  result["seconds"] = context_->lap();
  result["build_seconds"] = std::exchange(building_, 0.0);
  return result;
}

/// What a result changes, live or recorded.
Status RegimeSearch::take_in(const Config& config, const RoundPlan& plan, const Json& result,
                             RoundResult& round) {
  const std::string id = text_in(result, "probe");
  const Observation seen{.cost = number_in(result, "cost"), .valid = flag_in(result, "valid")};
  context_->spent += number_in(result, "seconds").value_or(0.0);
  context_->built += number_in(result, "build_seconds").value_or(0.0);
  tuner_->tell(config, seen);
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
                     {"hypothesis", set_->text(config)},
                     {"reason", text_in(result, "reason")}});
  KW_TRY(const ArchivedProbe stored, context_->recorder.archive().get_probe(id));
  KW_TRY(Probe probe, decode_probe(stored.json));
  if (decision == "keep") {
    // A replayed candidate has no process: the next live question makes one.
    champion_ = std::move(live_);
    crown_ = probe.solution;
    champion_id_ = id;
    champion_log_ = number_in(result, "estimate").value_or(0.0);
    best_ = config;
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
