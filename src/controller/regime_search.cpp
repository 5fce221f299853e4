// SPDX-License-Identifier: Apache-2.0
#include "controller/regime_search.hpp"

#include "controller/effect_result.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <nlohmann/json.hpp>

namespace kw {
namespace {

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

std::optional<Config> RegimeSearch::best_config() const {
  if (best_ && best_->config)
    return best_->config;
  const Trial* best = tuner_ ? tuner_->best() : nullptr;
  return best != nullptr && best->observation.valid ? std::optional(best->config) : std::nullopt;
}

std::optional<Winner> RegimeSearch::winner() const {
  if (best_)
    return best_;
  const std::optional<Config> config = best_config();
  if (!config)
    return std::nullopt;
  return Winner{.config = config,
                .proposal = std::nullopt,
                .hypothesis = set_->text(*config),
                .proposer = "tuner"};
}

BranchRecord RegimeSearch::branch(std::size_t regime) const {
  BranchRecord out{.regime = regime,
                   .hypothesis = {},
                   .proposer = {},
                   .speedup = beat_baseline() ? std::exp(champion_log_) : 0,
                   .state = state_.word,
                   .confidence = state_.confidence,
                   .headroom = state_.headroom};
  if (const std::optional<Winner> best = winner()) {
    out.hypothesis = best->hypothesis;
    out.proposer = best->proposer;
  }
  return out;
}

const LoadedSpace& RegimeSearch::space_of(const Config& config) const {
  return context_->spaces[regime_->spaces[config.space]];
}

bool RegimeSearch::goes_on() const {
  const double most_cpu = context_->options.cpu_seconds;
  return (most_cpu <= 0 || context_->cpu_spent < most_cpu) && !context_->hooks.stop() &&
         context_->spent - began_ < seconds_ &&
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
  seat_proposers();
  RoundPlanner planner(context_->options.parts, static_cast<int>(seated_.size()), may_stop,
                       context_->options.attended_seconds > 0);
  if (context_->options.parts.memory)
    for (const KnownDirection& d : memory.directions())
      planner.remember(d);
  if (Status done = reconnoitre(planner, memory); !done)
    return done.error().kind == ErrorKind::interrupted ? Status{} : done;
  while (goes_on() && !exhausted_ && !planner.ended()) {
    Status done = interludes(memory);
    if (done && goes_on())
      done = seated_.empty() ? wait_for_proposals(memory) : one_round(planner, memory);
    if (!done)
      return done.error().kind == ErrorKind::interrupted ? Status{} : done;
  }
  if (exhausted_)
    context_->hooks.note(fmt::format("{}: there is nothing left to try", regime_->name));
  if (planner.ended())
    context_->hooks.note(fmt::format(
        "{}: a plateau: the rest of its time goes to the other regimes", regime_->name));
  for (const auto& [key, account] : planner.accounts())
    context_->log.add({{"decision", "account"},
                       {"regime", regime_->name},
                       {"signature", key.first},
                       {"direction", key.second},
                       {"rounds", account.rounds},
                       {"gains", account.gains},
                       {"predicted", std::exp(account.predicted)},
                       {"measured", std::exp(account.measured)}});
  return context_->log.flush();
}

/// What is at hand is judged and timed before anything is proposed: the best of it is the champion
/// that everything else has to beat.
Status RegimeSearch::reconnoitre(RoundPlanner& planner, const Memory& memory) {
  KW_CHECK(interludes(memory));
  Json references = Json::array();
  for (const Attempt& a : attempts_)
    if (a.proposer == "reference") {
      Json one{{"name", a.hypothesis},
               {"probe", a.probe},
               {"decision", a.decision},
               {"reason", a.reason}};
      if (a.speedup > 0)
        one["speedup"] = a.speedup;
      references.push_back(std::move(one));
    }
  context_->log.add({{"decision", "reconnaissance"},
                     {"regime", regime_->name},
                     {"baseline", context_->baseline.name},
                     {"references", std::move(references)},
                     {"references_wanted", context_->options.parts.references},
                     {"earlier_attempts", memory.all().size()},
                     {"to_beat", champion_id_.empty() ? context_->baseline.name : champion_id_}});
  planner.reconnoitred();
  return {};
}

Status RegimeSearch::diagnose(RoundPlanner& planner) {
  constexpr double changed =
      0.1; // ln: a champion that is 10 % faster may be bound by something else
  const std::optional<Winner> best = winner();
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
        Json json{
            {"word", state.word},
            {"confidence", state.confidence},
            {"headroom", state.headroom},
            {"evidence", found ? state.evidence : std::vector<std::string>{found.error().message}}};
        context_->stamp(json);
        return json;
      }));
  context_->spend(state);
  profiled_log_ = champion_log_;
  // A word that explains little of the time is no better than none.
  constexpr double believable = 0.25;
  const double confidence = number_in(state, "confidence").value_or(0.0);
  state_ = {.word = text_in(state, "word"),
            .confidence = confidence,
            .headroom = number_in(state, "headroom").value_or(1.0)};
  const std::string word = confidence < believable ? "unknown" : text_in(state, "word");
  const double headroom = number_in(state, "headroom").value_or(1.0);
  const std::string& family =
      best->config ? set_->spaces()[best->config->space].name : best->proposer;
  planner.state(word, headroom, fmt::format("{}/{}", word, family));
  context_->log.add({{"decision", "state"},
                     {"regime", regime_->name},
                     {"champion", champion_id_},
                     {"state", word},
                     {"confidence", confidence},
                     {"headroom", headroom},
                     {"signature", planner.signature()}});
  return {};
}

Status RegimeSearch::one_round(RoundPlanner& planner, const Memory& memory) {
  KW_CHECK(listen(planner, 0));
  if (planner.ended())
    return {};
  KW_CHECK(diagnose(planner));
  const std::optional<Config> from = best_config();
  RoundPlan plan = planner.next([&](const Direction& d) {
    if (std::any_of(seated_.begin(), seated_.end(),
                    [](const Proposer* p) { return p != nullptr && p->follows_directions(); }))
      return true;
    const std::optional<Focus> focus = from ? focus_of(d, *set_, *from) : std::nullopt;
    return focus && tuner_->has_new(*focus);
  });
  if (planner.ended()) {
    log_round(plan, seat_->holder());
    return {};
  }
  if (plan.intervention && plan.intervention->recovery == Recovery::change_proposer)
    seat_->pass_on();
  if (plan.intervention && plan.intervention->recovery == Recovery::ask) {
    KW_CHECK(ask_somebody(plan, planner));
    if (planner.ended())
      return {};
  }
  RoundResult round{.number = plan.number,
                    .signature = planner.signature(),
                    .direction = {},
                    .before = champion_log_,
                    .best_seen = -std::numeric_limits<double>::infinity()};
  const double start = context_->spent;
  RoundRecord record{.regime = regime_->name,
                     .plan = {},
                     .result = {},
                     .state = planner.rounds().empty() ? "" : planner.state_word()};
  bool taken = false;
  for (const std::size_t who : seat_->order()) {
    if (!sits(who))
      continue;
    Proposer* const proposer = seated_[who];
    record.proposer = seat_name(proposer);
    if (proposer == nullptr) {
      KW_TRY(taken, tuner_round(plan, memory, round));
    } else {
      KW_TRY(Proposals proposals, ask(*proposer, request_of(*proposer, plan, planner)));
      taken = !proposals.proposals.empty();
      if (taken) {
        log_round(plan, record.proposer);
        KW_CHECK(foreign_round(*proposer, std::move(proposals), plan, memory, round));
      }
    }
    if (!taken)
      continue;
    round.after = champion_log_;
    seat_->close(who, round);
    break;
  }
  exhausted_ = !taken && goes_on();
  round.direction = plan.direction == nullptr ? "" : std::string(plan.direction->id);
  round.after = champion_log_;
  round.seconds = context_->spent - start;
  record.plan = plan, record.result = round;
  context_->rounds.push_back(std::move(record));
  planner.close(std::move(round));
  return context_->journal.replaying() ? Status{} : context_->log.flush();
}

void RegimeSearch::log_round(const RoundPlan& plan, std::string_view proposer) const {
  Json line{{"decision", "round"},
            {"regime", regime_->name},
            {"round", plan.number},
            {"phase", plan.phase},
            {"proposer", proposer},
            {"direction", plan.direction == nullptr ? "model" : std::string(plan.direction->id)},
            {"predicted", plan.predicted},
            {"why", plan.why},
            {"blocked", plan.blocked},
            {"recommended", plan.recommended}};
  if (!seat_->handoff().empty())
    line["handoff"] = seat_->handoff();
  if (plan.intervention)
    line["intervention"] = {{"detector", plan.intervention->detector},
                            {"evidence", plan.intervention->evidence},
                            {"recovery", name(plan.intervention->recovery)}};
  context_->log.add(line);
}

} // namespace kw
