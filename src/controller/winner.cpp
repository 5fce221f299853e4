// SPDX-License-Identifier: Apache-2.0
#include "controller/winner.hpp"

#include "judge/sanitize.hpp"
#include "search/instantiate.hpp"

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

std::string both(const std::string& a, const std::string& b) {
  return a.empty() ? b : b.empty() ? a : fmt::format("({}) and ({})", a, b);
}

Result<Solution> assemble(const SearchContext& context, const std::vector<RegimeSearch>& searches) {
  std::vector<Branch> branches;
  for (const RegimeSearch& search : searches) {
    const Config config = *search.winner();
    const LoadedSpace& loaded = search.space_of(config);
    branches.push_back(
        {.when = both(search.regime().condition, axis_condition(loaded.space, context.facts)),
         .variant = {.space = &loaded.space,
                     .choice = config.choice,
                     .template_text = loaded.template_text}});
  }
  // Regimes come in an order in which their conditions take every call once; a branch that takes
  // everything goes last.
  std::stable_sort(branches.begin(), branches.end(), [](const Branch& a, const Branch& b) {
    return !a.when.empty() && b.when.empty();
  });
  if (branches.size() == 1)
    return instantiate(context.judge.definition(), branches.front().variant);
  return instantiate_dispatch(context.judge.definition(), branches);
}

} // namespace

Result<std::optional<Solution>> assemble_winner(const SearchContext& context,
                                                const std::vector<RegimeSearch>& searches) {
  if (std::any_of(searches.begin(), searches.end(),
                  [](const RegimeSearch& s) { return !s.winner(); }))
    return std::optional<Solution>{};
  KW_TRY(Solution assembled, assemble(context, searches));
  return std::optional(std::move(assembled));
}

Status judge_winner(SearchContext& context, const std::vector<RegimeSearch>& searches,
                    OptimizeOutcome& outcome) {
  Judge& judge = context.judge;
  const OptimizeOptions& options = context.options;
  for (const RegimeSearch& search : searches)
    if (!search.winner()) {
      context.hooks.note(
          fmt::format("no correct kernel was found where {}: the winner would cover only part of "
                      "the workloads and is not promoted",
                      search.regime().name));
      return {};
    }
  KW_TRY(const Solution assembled, assemble(context, searches));
  context.hooks.note(
      fmt::format("judging `{}` whole: gate {}, then confirmation in fresh processes",
                  assembled.name, options.final_gate));
  KW_TRY(Subject baseline, load_baseline(context));
  const Seed seed = fresh_seed();
  Probe probe = context.recorder.open(assembled, seed);
  probe.proposer = "tuner";
  probe.parent = searches.front().champion_id();
  probe.hypothesis = "final";
  for (const RegimeSearch& search : searches)
    probe.hypothesis +=
        fmt::format("; {}: {}", search.regime().name, search.text(*search.winner()));
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
