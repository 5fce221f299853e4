// SPDX-License-Identifier: Apache-2.0
// Shares the budget among the regimes, then judges the winner whole. Inside a regime screens order
// the search and gates move the champion; only the final confirmation is ever reported.
#include "controller/optimize.hpp"

#include "controller/regime_search.hpp"
#include "controller/winner.hpp"

#include <algorithm>
#include <cmath>

namespace kw {
namespace {

/// Share of the search time that one regime may take beyond its weight share, at least.
constexpr double least_share = 0.1;

std::vector<double> time_shares(const std::vector<Regime>& regimes) {
  double weight = 0, sum = 0;
  for (const Regime& r : regimes)
    weight += r.weight;
  std::vector<double> shares;
  for (const Regime& r : regimes)
    sum += shares.emplace_back(std::max(r.weight / weight, least_share));
  for (double& share : shares)
    share /= sum;
  return shares;
}

/// The regimes before this one, nearest first, that the same spaces apply to.
void learn_from_neighbours(std::vector<RegimeSearch>& searches, std::size_t at) {
  for (std::size_t i = at; i-- > 0;)
    if (searches[i].regime().spaces == searches[at].regime().spaces) {
      searches[at].learn(searches[i]);
      return;
    }
}

/// A regime is searched on a workload that can be timed: on calls of a few microseconds all kernels
/// tie.
Status settle_representatives(SearchContext& context, std::vector<Regime>& regimes) {
  constexpr double surely_long = 1e6; // operations and bytes: beyond 5 us on any one thread
  const std::vector<BoundWorkload>& workloads = context.judge.workloads();
  KW_TRY(Subject baseline, load_baseline(context));
  std::vector<char> long_enough(workloads.size(), 1);
  for (std::size_t i = 0; i < workloads.size(); ++i)
    if (const BoundWorkload& w = workloads[i];
        w.flops + w.bytes_read + w.bytes_written < surely_long) {
      KW_TRY(long_enough[i], context.judge.timeable(baseline, i));
    }
  for (Regime& regime : regimes)
    choose_representative(regime, workloads, [&](std::size_t i) { return long_enough[i] != 0; });
  return {};
}

Status finish(SearchContext& context, const std::vector<RegimeSearch>& searches,
              OptimizeOutcome& outcome) {
  if (std::none_of(searches.begin(), searches.end(),
                   [](const RegimeSearch& s) { return s.beat_baseline(); }))
    return place_baseline(context, outcome);
  return judge_winner(context, searches, outcome);
}

} // namespace

double gate_seconds(const OptimizeOptions& options) {
  return std::max(10.0, options.seconds / 8);
}

Result<OptimizeOutcome> optimize(Judge& judge, const Solution& baseline,
                                 const std::vector<LoadedSpace>& spaces, const Recorder& recorder,
                                 const OptimizeOptions& options, const KnownProbes& known,
                                 const OptimizeHooks& hooks) {
  SearchContext context{.judge = judge,
                        .baseline = baseline,
                        .spaces = spaces,
                        .recorder = recorder,
                        .options = options,
                        .hooks = hooks,
                        .facts = machine_facts(judge.definition().ext.threads),
                        .events = {}};
  OptimizeOutcome outcome;
  std::vector<Space> bare;
  for (const LoadedSpace& s : spaces)
    bare.push_back(s.space);
  KW_TRY(outcome.regimes, find_regimes(judge.workloads(), bare, context.facts));
  KW_CHECK(settle_representatives(context, outcome.regimes));
  std::vector<RegimeSearch> searches;
  for (const Regime& regime : outcome.regimes) {
    KW_TRY(RegimeSearch search, RegimeSearch::open(context, regime));
    for (const Probe& probe : known.same_run)
      KW_CHECK(search.recall(probe));
    for (const Probe& probe : known.earlier_runs)
      search.learn(probe);
    searches.push_back(std::move(search));
  }

  const std::vector<double> shares = time_shares(outcome.regimes);
  for (std::size_t i = 0; i < searches.size() && !hooks.stop(); ++i) {
    const int evaluations =
        options.evaluations == 0
            ? 0
            : std::max(1, static_cast<int>(std::lround(shares[i] * options.evaluations)));
    learn_from_neighbours(searches, i);
    // Whatever a step meets after the user has asked to stop, the answer is that it was stopped.
    if (Status done = searches[i].run(shares[i] * options.seconds, evaluations); !done) {
      if (!hooks.stop())
        return fail(done.error());
      hooks.note("the step that was under way failed: " + done.error().message);
    }
  }
  outcome.search_seconds = seconds_since(context.start);
  outcome.interrupted = hooks.stop();
  if (!outcome.interrupted) {
    if (Status done = finish(context, searches, outcome); !done) {
      if (done.error().kind != ErrorKind::interrupted)
        return fail(done.error());
      outcome.interrupted = true;
    }
  }
  outcome.events = std::move(context.events);
  outcome.total_seconds = seconds_since(context.start);
  return outcome;
}

} // namespace kw
