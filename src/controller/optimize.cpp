// SPDX-License-Identifier: Apache-2.0
// The search keeps one champion per regime. A candidate goes through ever more expensive questions,
// and most stop early: does it build, is it admitted, is it right on a few inputs, does a short
// paired screen put it ahead of the champion, does the e-gate agree. Screens order the search; only
// gates change a champion; only the final confirmation is ever reported.
#include "controller/optimize.hpp"

#include "search/instantiate.hpp"
#include "search/space_set.hpp"
#include "search/tuner.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>

namespace kw {
namespace {

/// A screen must show this much before a gate is spent on it (the gate's own least effect).
constexpr double worth_a_gate = 0.02;
/// Windows of the search's own gates: the calibrated length is for claims.
constexpr double search_window_ns = 4e6;
/// The final gate and the confirmation may each take the search's budget, and never less than this.
constexpr double least_final_seconds = 120;
/// Share of the search time that one regime may take beyond its weight share, at least.
constexpr double least_share = 0.1;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// What a regime's search holds: the set it draws from and the best so far.
struct RegimeSearch {
  const Regime* regime = nullptr;
  std::unique_ptr<SpaceSet> set;
  std::unique_ptr<Tuner> tuner;
  std::optional<Config> best;
  Subject champion;        ///< loaded; the baseline until something beats it
  std::string champion_id; ///< probe id, "" = baseline
  double champion_log = 0; ///< ln(t_baseline / t_champion), a chain of gate estimates
  int evaluations = 0;
};

class Optimizer {
 public:
  Optimizer(Judge& judge, const Solution& baseline, const std::vector<LoadedSpace>& spaces,
            const Recorder& recorder, const OptimizeOptions& options, const OptimizeHooks& hooks)
      : judge_(judge), baseline_(baseline), spaces_(spaces), recorder_(recorder), options_(options),
        hooks_(hooks) {}

  Result<OptimizeOutcome> run(const std::vector<Probe>& earlier);

 private:
  Status prepare(const std::vector<Probe>& earlier);
  Status search_regime(RegimeSearch& search, double seconds, int evaluations);
  Status try_config(RegimeSearch& search, const Config& config);
  Status judge_candidate(RegimeSearch& search, Subject& subject, Probe& probe, Observation& seen);
  Status finish();
  Status place_baseline();
  [[nodiscard]] RaceOptions final_race() const;
  Result<Subject> load_baseline();
  Result<Solution> assemble() const;
  void emit(RegimeSearch& search, Probe probe);
  [[nodiscard]] bool stopped() const { return hooks_.stop(); }

  Judge& judge_;
  const Solution& baseline_;
  const std::vector<LoadedSpace>& spaces_;
  const Recorder& recorder_;
  const OptimizeOptions& options_;
  const OptimizeHooks& hooks_;
  Bindings facts_ = machine_facts(judge_.definition().ext.threads);
  std::vector<RegimeSearch> searches_;
  OptimizeOutcome outcome_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  int index_ = 0;
};

Result<Subject> Optimizer::load_baseline() {
  Verdict verdict;
  judge_.begin(fresh_seed());
  KW_TRY(Subject subject, judge_.admit(baseline_, verdict));
  if (!subject.loaded())
    return fail(ErrorKind::invalid_input,
                fmt::format("the baseline `{}` is not usable: {} {}", baseline_.name,
                            verdict.build.summary, verdict.sandbox.summary),
                "run `kernwright check` on the operator folder and correct its baseline");
  return subject;
}

Status Optimizer::prepare(const std::vector<Probe>& earlier) {
  std::vector<Space> bare;
  for (const LoadedSpace& s : spaces_)
    bare.push_back(s.space);
  KW_TRY(outcome_.regimes, find_regimes(judge_.workloads(), bare, facts_));
  for (const Regime& regime : outcome_.regimes) {
    RegimeSearch search;
    search.regime = &regime;
    std::vector<Space> fitting;
    for (const std::size_t s : regime.spaces)
      fitting.push_back(spaces_[s].space);
    Bindings facts = facts_;
    const Bindings& axes = judge_.workloads()[regime.representative].axes;
    facts.insert(axes.begin(), axes.end());
    KW_TRY(SpaceSet set, SpaceSet::bind(std::move(fitting), facts));
    search.set = std::make_unique<SpaceSet>(std::move(set));
    search.tuner = std::make_unique<Tuner>(
        *search.set,
        TunerOptions{.algorithm = Algorithm::hybrid, .seed = options_.seed, .prior = {}});
    KW_TRY(search.champion, load_baseline());
    searches_.push_back(std::move(search));
  }
  // Resume: what an interrupted run already measured is told, not measured again.
  for (const Probe& probe : earlier)
    for (RegimeSearch& search : searches_) {
      if (search.regime->name != probe.regime)
        continue;
      const Result<Config> config = search.set->parse(probe.hypothesis);
      if (!config)
        continue;
      Observation seen{.cost = std::nullopt, .valid = probe.estimate.has_value()};
      if (probe.estimate)
        seen.cost = std::exp(-*probe.estimate);
      search.tuner->tell(*config, seen);
      ++search.evaluations;
      if (probe.decision == "keep") {
        Verdict verdict;
        KW_TRY(Subject subject, judge_.admit(probe.solution, verdict));
        if (subject.loaded()) {
          search.champion = std::move(subject);
          search.champion_id = probe.id;
          search.champion_log = probe.estimate.value_or(0);
          search.best = *config;
        }
      }
      ++index_;
    }
  return {};
}

void Optimizer::emit(RegimeSearch& search, Probe probe) {
  ProbeEvent event;
  event.index = index_;
  event.seconds = seconds_since(start_);
  event.probe = std::move(probe);
  event.best = std::exp(search.champion_log);
  hooks_.probe(event);
  outcome_.events.push_back(std::move(event));
}

Status Optimizer::judge_candidate(RegimeSearch& search, Subject& subject, Probe& probe,
                                  Observation& seen) {
  Verdict& verdict = probe.verdict;
  const std::vector<std::size_t> some = {search.regime->smallest, search.regime->representative};
  KW_CHECK(judge_.verify(subject, "smoke", verdict, some));
  if (verdict.correctness.outcome != Outcome::pass)
    return {};
  KW_TRY(const double ahead, judge_.screen(search.champion, subject, search.regime->representative,
                                           options_.screen_rounds, verdict));
  if (verdict.correctness.outcome == Outcome::fail)
    return {};
  probe.estimate = search.champion_log + ahead;
  seen = {.cost = std::exp(-*probe.estimate), .valid = true};
  if (ahead < worth_a_gate) {
    probe.decision = "reject";
    probe.reason = fmt::format("screen: {:.3f}x of the champion", std::exp(ahead));
    return {};
  }
  RaceOptions race = options_.race;
  race.workloads = {search.regime->representative};
  race.windows = 1;
  race.gate.max_rounds = 40;
  race.remember_self_test = true;
  if (race.least_window_ns <= 0)
    race.least_window_ns = search_window_ns;
  race.seconds = std::max(10.0, options_.seconds / 8);
  KW_CHECK(judge_.time(search.champion, subject, race, verdict));
  if (verdict.correctness.outcome == Outcome::fail)
    return {};
  if (verdict.merit.outcome == Outcome::pass) {
    std::vector<double> ratios;
    for (const PairedTiming& p : verdict.times->gate)
      ratios.insert(ratios.end(), p.log_ratios.begin(), p.log_ratios.end());
    std::nth_element(ratios.begin(),
                     ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2), ratios.end());
    probe.estimate = search.champion_log + ratios[ratios.size() / 2];
    seen.cost = std::exp(-*probe.estimate);
    probe.decision = "keep";
  } else {
    probe.decision = "reject";
  }
  probe.reason = verdict.merit.summary.empty() ? verdict.timing.summary : verdict.merit.summary;
  return {};
}

Status Optimizer::try_config(RegimeSearch& search, const Config& config) {
  const LoadedSpace& loaded = spaces_[search.regime->spaces[config.space]];
  const Variant variant{
      .space = &loaded.space, .choice = config.choice, .template_text = loaded.template_text};
  KW_TRY(const Solution solution, instantiate(judge_.definition(), variant));
  const Seed seed = fresh_seed();
  Probe probe = recorder_.open(solution, seed);
  probe.parent = search.champion_id;
  probe.proposer = "tuner";
  probe.hypothesis = search.set->text(config);
  probe.regime = search.regime->name;
  const auto began = std::chrono::steady_clock::now();
  judge_.begin(seed);
  Observation seen{.cost = std::nullopt, .valid = false};
  KW_TRY(Subject subject, judge_.admit(solution, probe.verdict));
  if (subject.loaded()) {
    KW_CHECK(judge_candidate(search, subject, probe, seen));
  }
  conclude(probe.verdict, probe.verdict.times.has_value());
  if (probe.verdict.finding != Finding::none) {
    seen = {.cost = std::nullopt, .valid = false};
    probe.decision = "reject";
    probe.estimate.reset();
    const Verdict& v = probe.verdict;
    probe.reason = v.build.outcome == Outcome::fail     ? v.build.summary
                   : v.sandbox.outcome == Outcome::fail ? v.sandbox.summary
                   : v.timing.outcome == Outcome::fail  ? v.timing.summary
                                                        : v.correctness.summary;
  }
  probe.wall_ms = 1e3 * seconds_since(began);
  KW_CHECK(recorder_.store(probe, subject.build, seed));
  search.tuner->tell(config, seen);
  ++search.evaluations;
  ++index_;
  if (probe.decision == "keep") {
    search.champion = std::move(subject);
    search.champion_id = probe.id;
    search.champion_log = probe.estimate.value_or(0);
    search.best = config;
  }
  emit(search, std::move(probe));
  return {};
}

Status Optimizer::search_regime(RegimeSearch& search, double seconds, int evaluations) {
  const auto began = std::chrono::steady_clock::now();
  while (!stopped() && seconds_since(began) < seconds &&
         (evaluations == 0 || search.evaluations < evaluations)) {
    const std::optional<Config> config = search.tuner->ask();
    if (!config) {
      hooks_.note(fmt::format("{}: every legal configuration was tried", search.regime->name));
      break;
    }
    if (Status tried = try_config(search, *config); !tried) {
      if (tried.error().kind == ErrorKind::interrupted)
        break;
      return tried;
    }
  }
  return {};
}

Result<Solution> Optimizer::assemble() const {
  std::vector<Branch> branches;
  for (const RegimeSearch& search : searches_) {
    if (!search.best)
      continue;
    const LoadedSpace& loaded = spaces_[search.regime->spaces[search.best->space]];
    Branch branch;
    const std::string space_condition = axis_condition(loaded.space, facts_);
    branch.when = search.regime->condition.empty() ? space_condition
                  : space_condition.empty()
                      ? search.regime->condition
                      : fmt::format("({}) and ({})", search.regime->condition, space_condition);
    branch.variant = {.space = &loaded.space,
                      .choice = search.best->choice,
                      .template_text = loaded.template_text};
    branches.push_back(std::move(branch));
  }
  // Regimes come in an order in which their conditions take every call once; a branch that takes
  // everything goes last.
  std::stable_sort(branches.begin(), branches.end(), [](const Branch& a, const Branch& b) {
    return !a.when.empty() && b.when.empty();
  });
  if (branches.empty())
    return fail(ErrorKind::not_found, "no candidate beat the baseline");
  if (branches.size() == 1 && searches_.size() == 1)
    return instantiate(judge_.definition(), branches.front().variant);
  return instantiate_dispatch(judge_.definition(), branches);
}

/// Nothing beat the baseline: then what it is worth beside the peers is the answer.
Status Optimizer::place_baseline() {
  hooks_.note("no candidate beat the baseline by more than the gate's least effect: placing the "
              "baseline beside its peers");
  const Seed seed = fresh_seed();
  Probe probe = recorder_.open(baseline_, seed);
  probe.proposer = "baseline";
  probe.hypothesis = "final; the baseline itself";
  const auto began = std::chrono::steady_clock::now();
  judge_.begin(seed);
  KW_TRY(Subject subject, judge_.admit(baseline_, probe.verdict));
  if (!subject.loaded())
    return fail(ErrorKind::infrastructure,
                "the baseline was usable before the search and is not now", "run again");
  KW_CHECK(judge_.verify(subject, options_.final_gate, probe.verdict));
  if (probe.verdict.correctness.outcome == Outcome::pass)
    KW_CHECK(judge_.place(subject, options_.peers ? options_.peer_list : std::vector<PeerSpec>{},
                          final_race(), probe.verdict));
  conclude(probe.verdict, true);
  probe.decision = "reject";
  probe.reason = "the baseline itself: no candidate beat it";
  probe.wall_ms = 1e3 * seconds_since(began);
  KW_CHECK(recorder_.store(probe, subject.build, seed));
  outcome_.champion = std::move(probe);
  return {};
}

RaceOptions Optimizer::final_race() const {
  RaceOptions race = options_.race;
  race.gate.alpha_accept = std::min(race.gate.alpha_accept, options_.final_alpha);
  if (race.seconds <= 0)
    race.seconds = std::max(least_final_seconds, options_.seconds);
  return race;
}

Status Optimizer::finish() {
  if (std::all_of(searches_.begin(), searches_.end(),
                  [](const RegimeSearch& s) { return s.champion_id.empty(); }))
    return place_baseline();
  // Where nothing passed a gate, the best screened kernel stands in: the winner must cover every
  // workload, and the whole-solution gate refuses it if it loses anywhere.
  for (RegimeSearch& search : searches_)
    if (const Trial* best = search.tuner->best();
        !search.best && best != nullptr && best->observation.valid)
      search.best = best->config;
  const Result<Solution> assembled = assemble();
  if (!assembled)
    return fail(assembled.error());
  for (const RegimeSearch& search : searches_)
    if (!search.best) {
      hooks_.note(fmt::format(
          "no correct kernel was found where {}: the winner would cover only part of the "
          "workloads and is not promoted",
          search.regime->name));
      return {};
    }
  hooks_.note(fmt::format("judging `{}` whole: gate {}, then confirmation in fresh processes",
                          assembled->name, options_.final_gate));
  KW_TRY(Subject baseline, load_baseline());
  const Seed seed = fresh_seed();
  Probe probe = recorder_.open(*assembled, seed);
  probe.proposer = "tuner";
  probe.parent = searches_.front().champion_id;
  probe.hypothesis = "final";
  for (const RegimeSearch& search : searches_)
    probe.hypothesis +=
        fmt::format("; {}: {}", search.regime->name, search.set->text(*search.best));
  const RaceOptions race = final_race();
  const auto began = std::chrono::steady_clock::now();
  judge_.begin(seed);
  KW_TRY(Subject subject, judge_.admit(*assembled, probe.verdict));
  if (subject.loaded())
    KW_CHECK(judge_.verify(subject, options_.final_gate, probe.verdict));
  if (probe.verdict.correctness.outcome == Outcome::pass)
    KW_CHECK(judge_.time(baseline, subject, race, probe.verdict));
  if (probe.verdict.merit.outcome == Outcome::pass)
    KW_CHECK(judge_.confirm(baseline, subject,
                            options_.peers ? options_.peer_list : std::vector<PeerSpec>{}, race,
                            probe.verdict));
  conclude(probe.verdict, true);
  probe.decision = probe.verdict.accepted ? "promote" : "reject";
  probe.reason = probe.verdict.merit.summary.empty() ? probe.verdict.correctness.summary
                                                     : probe.verdict.merit.summary;
  probe.wall_ms = 1e3 * seconds_since(began);
  KW_CHECK(recorder_.store(probe, subject.build, seed));
  if (probe.verdict.accepted) {
    KW_TRY(outcome_.record, recorder_.promote(probe, baseline_.name));
  }
  outcome_.champion = std::move(probe);
  return {};
}

Result<OptimizeOutcome> Optimizer::run(const std::vector<Probe>& earlier) {
  KW_CHECK(prepare(earlier));
  double weight = 0;
  for (const RegimeSearch& s : searches_)
    weight += s.regime->weight;
  std::vector<double> shares;
  double sum = 0;
  for (const RegimeSearch& s : searches_) {
    shares.push_back(std::max(s.regime->weight / weight, least_share));
    sum += shares.back();
  }
  for (std::size_t i = 0; i < searches_.size() && !stopped(); ++i) {
    const double share = shares[i] / sum;
    const int evaluations =
        options_.evaluations == 0
            ? 0
            : std::max(1, static_cast<int>(std::lround(share * options_.evaluations)));
    KW_CHECK(search_regime(searches_[i], share * options_.seconds, evaluations));
  }
  outcome_.search_seconds = seconds_since(start_);
  outcome_.interrupted = stopped();
  if (!outcome_.interrupted) {
    if (Status done = finish(); !done) {
      if (done.error().kind != ErrorKind::interrupted)
        return fail(done.error());
      outcome_.interrupted = true;
    }
  }
  outcome_.total_seconds = seconds_since(start_);
  return std::move(outcome_);
}

} // namespace

Result<OptimizeOutcome> optimize(Judge& judge, const Solution& baseline,
                                 const std::vector<LoadedSpace>& spaces, const Recorder& recorder,
                                 const OptimizeOptions& options, const std::vector<Probe>& earlier,
                                 const OptimizeHooks& hooks) {
  return Optimizer(judge, baseline, spaces, recorder, options, hooks).run(earlier);
}

} // namespace kw
