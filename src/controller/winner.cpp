// SPDX-License-Identifier: Apache-2.0
#include "controller/winner.hpp"

#include "controller/contributions.hpp"
#include "controller/dispatch.hpp"
#include "controller/solution_folder.hpp"
#include "judge/sanitize.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace kw {
namespace {

/// The final gate and the confirmation may each take the search's budget, and never less than this.
constexpr double least_final_seconds = 120;

RaceOptions final_race(const OptimizeOptions& options) {
  RaceOptions race = options.race;
  race.gate.alpha_accept = std::min(race.gate.alpha_accept, options.final_alpha);
  if (race.seconds <= 0)
    race.seconds = std::max(least_final_seconds, options.seconds);
  return race;
}

std::vector<PeerSpec> peers(const OptimizeOptions& options) {
  return options.peers ? options.peer_list : std::vector<PeerSpec>{};
}

Status judge_whole(SearchContext& context, const std::vector<RegimeSearch>& searches,
                   const Solution& assembled, OptimizeOutcome& outcome) {
  Judge& judge = context.judge;
  const OptimizeOptions& options = context.options;
  context.hooks.note(
      fmt::format("judging `{}` whole: gate {}, then confirmation in fresh processes",
                  assembled.name, options.final_gate));
  KW_TRY(Subject baseline, load_baseline(context));
  const Seed seed = fresh_seed();
  Probe probe = context.recorder.open(assembled, seed);
  probe.parent = searches.front().champion_id();
  probe.hypothesis = "final";
  for (const RegimeSearch& search : searches) {
    const Winner winner = *search.winner();
    probe.hypothesis += fmt::format("; {}: {}", search.regime().name, winner.hypothesis);
    if (probe.proposer.find(winner.proposer) == std::string::npos)
      probe.proposer += (probe.proposer.empty() ? "" : "+") + winner.proposer;
  }
  probe.contributions = contributions(context, searches);
  const RaceOptions race = final_race(options);
  const SteadyTime began = std::chrono::steady_clock::now();
  judge.begin(seed);
  KW_TRY(Subject subject, judge.admit(assembled, probe.verdict));
  if (subject.loaded())
    KW_CHECK(judge.verify(subject, options.final_gate, probe.verdict));
  if (probe.verdict.correctness.outcome == Outcome::pass) // a second or two, once per run
    KW_CHECK(judge.sanitize(subject, sanitizers_of_gate("champion", judge.definition().ext.threads),
                            probe.verdict));
  if (probe.verdict.correctness.outcome == Outcome::pass)
    KW_CHECK(judge.time(baseline, subject, race, probe.verdict));
  if (probe.verdict.merit.outcome == Outcome::pass)
    KW_CHECK(judge.confirm(baseline, subject, peers(options), race, probe.verdict));
  conclude(probe.verdict, true);
  const bool promoted = probe.verdict.accepted && !probe.verdict.tainted;
  probe.decision = promoted ? "promote" : probe.verdict.accepted ? "archive" : "reject";
  probe.reason = probe.verdict.merit.summary.empty() ? probe.verdict.correctness.summary
                                                     : probe.verdict.merit.summary;
  if (probe.verdict.accepted && !promoted)
    probe.reason =
        "not promoted, judged in a weaker sandbox than its task demands: " + probe.reason;
  probe.wall_ms = 1e3 * seconds_since(began);
  KW_CHECK(context.recorder.store(probe, subject.build, seed));
  if (promoted) {
    KW_TRY(outcome.record, context.recorder.promote(probe, context.baseline.name));
  }
  outcome.champion = std::move(probe);
  return {};
}

} // namespace

Status judge_winner(SearchContext& context, const std::vector<RegimeSearch>& searches,
                    const Solution& assembled, OptimizeOutcome& outcome) {
  KW_CHECK(judge_whole(context, searches, assembled, outcome));
  const Finding finding = outcome.champion->verdict.finding;
  if (finding == Finding::none || finding == Finding::timing)
    return {};
  // A dispatcher may fail where its branches did not. What is left is said with its own speed.
  KW_TRY(const std::optional<Solution> one, single_kernel(context, searches));
  if (!one || source_identity(*one) == source_identity(assembled))
    return {};
  context.hooks.note(fmt::format("`{}` is {}: falling back to one kernel for all", assembled.name,
                                 name(outcome.champion->verdict.finding)));
  return judge_whole(context, searches, *one, outcome);
}

Status place_baseline(SearchContext& context, OptimizeOutcome& outcome) {
  Judge& judge = context.judge;
  context.hooks.note("no candidate beat the baseline by more than the gate's least effect: placing "
                     "the baseline beside its peers");
  const Seed seed = fresh_seed();
  Probe probe = context.recorder.open(context.baseline, seed);
  probe.proposer = "baseline";
  probe.hypothesis = "final; the baseline itself";
  const SteadyTime began = std::chrono::steady_clock::now();
  judge.begin(seed);
  KW_TRY(Subject subject, judge.admit(context.baseline, probe.verdict));
  if (!subject.loaded())
    return fail(ErrorKind::infrastructure,
                "the baseline was usable before the search and is not now", "run again");
  KW_CHECK(judge.verify(subject, context.options.final_gate, probe.verdict));
  if (probe.verdict.correctness.outcome == Outcome::pass)
    KW_CHECK(
        judge.place(subject, peers(context.options), final_race(context.options), probe.verdict));
  conclude(probe.verdict, true);
  probe.decision = "reject";
  probe.reason = "the baseline itself: no candidate beat it";
  probe.wall_ms = 1e3 * seconds_since(began);
  KW_CHECK(context.recorder.store(probe, subject.build, seed));
  outcome.champion = std::move(probe);
  return {};
}

} // namespace kw
