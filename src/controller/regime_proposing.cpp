// SPDX-License-Identifier: Apache-2.0
// Where the candidates of a regime come from: the tuner, and whoever else proposes.
#include "controller/effect_result.hpp"
#include "controller/regime_search.hpp"
#include "search/instantiate.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <nlohmann/json.hpp>

namespace kw {
namespace {

/// A proposer is told of this many attempts, the newest.
constexpr std::size_t told_attempts = 20;
/// Of an interlude: whatever lies there goes in one round.
constexpr int interlude_proposals = 16;

} // namespace

std::string RegimeSearch::seat_name(const Proposer* proposer) {
  return proposer == nullptr ? "tuner" : std::string(proposer->name());
}

bool RegimeSearch::sits(std::size_t who) const {
  return seated_[who] == nullptr || !gone_.contains(seated_[who]);
}

void RegimeSearch::seat_proposers() {
  std::vector<std::string> names;
  const auto seat = [&](Proposer* proposer) {
    seated_.push_back(proposer);
    names.push_back(seat_name(proposer));
  };
  for (const auto& proposer : context_->hooks.proposers)
    if (!proposer)
      seat(nullptr);
    else if (!proposer->interrupts())
      seat(proposer.get());
  if (context_->hooks.proposers.empty())
    seat(nullptr);
  seat_ = std::make_unique<Seat>(std::move(names));
}

int RegimeSearch::batch_size(int left) const {
  const int count = std::min(left, context_->judge.workers());
  return most_evaluations_ > 0 ? std::min(count, most_evaluations_ - evaluations_) : count;
}

/// Where a directed round starts from: the champion, or what the supervisor wants instead.
std::optional<Config> RegimeSearch::anchor(const RoundPlan& plan) const {
  const std::optional<Config> best = best_config();
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

Result<std::vector<Candidate>> RegimeSearch::propose(const std::optional<Focus>& focus, int count) {
  std::vector<Candidate> batch;
  for (int i = 0; i < count; ++i) {
    const std::optional<Config> config = focus ? tuner_->ask(*focus) : tuner_->ask();
    if (!config)
      break;
    const LoadedSpace& loaded = space_of(*config);
    KW_TRY(Solution solution,
           instantiate(context_->judge.definition(), {.space = &loaded.space,
                                                      .choice = config->choice,
                                                      .template_text = loaded.template_text}));
    batch.push_back(
        {.solution = std::move(solution), .hypothesis = set_->text(*config), .config = config});
  }
  return batch;
}

/// False where the tuner has nothing left, and would have been free to choose.
Result<bool> RegimeSearch::tuner_round(RoundPlan& plan, const Memory& memory, RoundResult& round) {
  const std::optional<Config> at = anchor(plan);
  std::optional<Focus> focus;
  if (plan.direction != nullptr && at)
    focus = focus_of(*plan.direction, *set_, *at);
  if (plan.direction != nullptr && (!focus || !tuner_->has_new(*focus)))
    plan.drop_direction("the tuner has nothing left in the direction");
  if (plan.direction == nullptr && plan.intervention && at) {
    focus = Focus{.anchor = *at, .freed = {}}; // all of that template
    for (std::size_t p = 0; p < at->choice.size(); ++p)
      focus->freed.push_back(p);
  }
  log_round(plan, "tuner");
  for (int left = plan.candidates; left > 0 && goes_on();) {
    KW_TRY(const std::vector<Candidate> batch, propose(focus, batch_size(left)));
    if (batch.empty())
      return left < plan.candidates || focus.has_value();
    KW_CHECK(judge_batch(batch, plan, memory, round));
    left -= static_cast<int>(batch.size());
  }
  return true;
}

ProposalRequest RegimeSearch::request_of(const Proposer& proposer, RoundPlan& plan,
                                         const RoundPlanner& planner) const {
  if (!proposer.follows_directions() && plan.direction != nullptr)
    plan.drop_direction(fmt::format("{} follows no directions", proposer.name()));
  ProposalRequest request = open_request(plan.candidates);
  request.round = plan.number;
  if (plan.direction != nullptr) {
    request.direction = plan.direction->id;
    request.does = plan.direction->does;
  }
  request.why = plan.why;
  request.state = planner.state_word();
  request.headroom = planner.headroom();
  request.handoff = seat_->handoff();
  return request;
}

ProposalRequest RegimeSearch::open_request(int count) const {
  const auto newest =
      attempts_.end() - static_cast<std::ptrdiff_t>(std::min(attempts_.size(), told_attempts));
  return {.definition = context_->judge.definition(),
          .regime = regime_->name,
          .condition = regime_->condition,
          .axes = context_->judge.workloads()[regime_->representative].axes_text,
          .direction = {},
          .does = {},
          .why = {},
          .state = "unknown",
          .champion = crown_ ? *crown_ : context_->baseline,
          .champion_speedup = std::exp(champion_log_),
          .attempts = {newest, attempts_.end()},
          .handoff = {},
          .count =
              most_evaluations_ > 0 ? std::min(count, most_evaluations_ - evaluations_) : count,
          .seconds_left = seconds_ - (context_->spent - began_)};
}

/// What it puts forward now. One that does not work is left alone from then on: that is an outcome
/// too, and goes into the journal.
Result<Proposals> RegimeSearch::ask(Proposer& proposer, const ProposalRequest& request) {
  const OptimizeOptions& options = context_->options;
  if (proposer.follows_directions() && // it is paid for
      ((options.tokens > 0 && context_->usage.tokens >= options.tokens) ||
       (options.cost_usd > 0 && context_->usage.cost_usd >= options.cost_usd)) &&
      gone_.insert(&proposer).second) {
    context_->hooks.note(fmt::format("the budget of {} is used up: {:.0f} tokens, {:.2f} USD",
                                     proposer.name(), context_->usage.tokens,
                                     context_->usage.cost_usd));
    context_->log.add({{"decision", "budget used up"},
                       {"regime", regime_->name},
                       {"proposer", proposer.name()},
                       {"tokens", context_->usage.tokens},
                       {"cost_usd", context_->usage.cost_usd}});
  }
  if (gone_.contains(&proposer))
    return Proposals{};
  const bool recorded = context_->journal.answered();
  context_->begin_effect();
  KW_TRY(const Json answer,
         context_->journal.once(
             "propose",
             fmt::format("{}: {} after {}", regime_->name, proposer.name(), evaluations_),
             [&]() -> Result<Json> {
               const Result<Proposals> given = proposer.propose(request);
               if (!given && given.error().kind == ErrorKind::interrupted)
                 return fail(given.error());
               if (context_->hooks.stop() && (!given || given->proposals.empty()))
                 return fail(ErrorKind::interrupted, "stopped while waiting for proposals", "");
               Json json = given ? to_json(*given) : Json{{"failed", given.error().text()}};
               context_->stamp(json);
               return json;
             }));
  context_->spend(answer);
  if (const std::string error = text_in(answer, "failed"); !error.empty()) {
    gone_.insert(&proposer);
    context_->hooks.note(
        fmt::format("the proposer {} is left out from now on: {}", proposer.name(), error));
    context_->log.add({{"decision", "proposer failed"},
                       {"regime", regime_->name},
                       {"proposer", proposer.name()},
                       {"reason", error}});
    return Proposals{};
  }
  KW_TRY(Proposals proposals, proposals_from_json(answer));
  context_->usage.tokens += proposals.usage.tokens;
  context_->usage.cost_usd += proposals.usage.cost_usd;
  for (const std::string& problem : proposals.problems) {
    context_->hooks.note(problem);
    context_->log.add({{"decision", "unusable proposal"},
                       {"regime", regime_->name},
                       {"proposer", proposer.name()},
                       {"reason", problem}});
  }
  if (proposals.proposals.empty() && proposer.interrupts() && !proposer.waits())
    gone_.insert(&proposer);
  if (recorded)
    for (const Proposal& proposal : proposals.proposals)
      proposer.had(regime_->name, proposal);
  return proposals;
}

Status RegimeSearch::foreign_round(const Proposer& proposer, Proposals proposals,
                                   const RoundPlan& plan, const Memory& memory,
                                   RoundResult& round) {
  if (proposer.name() == "reference")
    for (const Proposal& p : proposals.proposals)
      if (std::none_of(context_->references.begin(), context_->references.end(),
                       [&](const Contribution& c) { return c.source == p.source; }))
        context_->references.push_back({.role = "reference",
                                        .who = p.hypothesis,
                                        .source = p.source,
                                        .commit = p.commit,
                                        .licence = p.licence});
  std::vector<Candidate> all;
  for (Proposal& p : proposals.proposals)
    all.push_back({.solution = p.solution,
                   .proposer = std::string(proposer.name()),
                   .hypothesis = p.hypothesis,
                   .proposal = std::move(p)});
  for (std::size_t at = 0; at < all.size() && goes_on();) {
    const auto count = static_cast<std::size_t>(batch_size(static_cast<int>(all.size() - at)));
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(at);
    KW_CHECK(judge_batch({first, first + static_cast<std::ptrdiff_t>(count)}, plan, memory, round));
    at += count;
  }
  return {};
}

/// What lies ready with those who go first, outside the rounds: neither plan nor supervisor sees it
/// but by the champion.
Status RegimeSearch::interludes(const Memory& memory) {
  for (const auto& proposer : context_->hooks.proposers)
    if (proposer && proposer->interrupts())
      KW_CHECK(interlude(*proposer, 0, memory));
  return {};
}

Status RegimeSearch::interlude(Proposer& proposer, double wait_seconds, const Memory& memory) {
  ProposalRequest request = open_request(interlude_proposals);
  request.wait_seconds = wait_seconds;
  KW_TRY(Proposals proposals, ask(proposer, request));
  if (proposals.proposals.empty())
    return {};
  const RoundPlan plan{.phase = "interlude",
                       .candidates = static_cast<int>(proposals.proposals.size()),
                       .why = proposer.where(),
                       .blocked = {},
                       .recommended = {}};
  log_round(plan, proposer.name());
  RoundResult round{.signature = {},
                    .direction = {},
                    .before = champion_log_,
                    .best_seen = -std::numeric_limits<double>::infinity()};
  const double start = context_->spent;
  KW_CHECK(foreign_round(proposer, std::move(proposals), plan, memory, round));
  round.after = champion_log_;
  round.seconds = context_->spent - start;
  context_->rounds.push_back({.regime = regime_->name,
                              .plan = plan,
                              .result = round,
                              .state = {},
                              .proposer = std::string(proposer.name())});
  return context_->journal.replaying() ? Status{} : context_->log.flush();
}

/// Nobody has the seat: what is there was tried, so wait for more where more may come.
Status RegimeSearch::wait_for_proposals(const Memory& memory) {
  const int before = evaluations_ + static_cast<int>(attempts_.size());
  for (const auto& proposer : context_->hooks.proposers)
    if (proposer && proposer->waits() && !gone_.contains(proposer.get())) {
      context_->hooks.note(
          fmt::format("{}: waiting for solutions in {}", regime_->name, proposer->where()));
      KW_CHECK(interlude(*proposer, seconds_ - (context_->spent - began_), memory));
    }
  exhausted_ = before == evaluations_ + static_cast<int>(attempts_.size());
  return {};
}

} // namespace kw
