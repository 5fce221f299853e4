// SPDX-License-Identifier: Apache-2.0
// Shares the budget among the regimes, then judges the winner whole. Inside a regime screens order
// the search and gates move the champion; only the final confirmation is ever reported.
#include "controller/optimize.hpp"

#include "controller/dispatch.hpp"
#include "controller/effect_result.hpp"
#include "controller/hearing.hpp"
#include "controller/regime_refine.hpp"
#include "controller/regime_search.hpp"
#include "controller/winner.hpp"
#include "formats/verdict_json.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

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

/// What one call of the baseline takes on each workload, ns; 0 for twins. Cheapest first, for a
/// tenth of the budget at most; what that does not reach is estimated by its work.
Result<std::vector<double>> settle_latencies(SearchContext& context) {
  const std::vector<BoundWorkload>& workloads = context.judge.workloads();
  KW_TRY(const Json measured, context.journal.once("latencies", "", [&]() -> Result<Json> {
    context.begin_effect();
    const SteadyTime began = std::chrono::steady_clock::now();
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < workloads.size(); ++i)
      if (workloads[i].timed)
        order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return cost(workloads[a]) < cost(workloads[b]);
    });
    std::vector<double> ns(workloads.size(), 0);
    KW_TRY(Subject baseline, load_baseline(context));
    Verdict unused;
    double took = 0, work = 0; // of the one before: inputs, oracle and comparison included
    for (const std::size_t i : order) {
      const double expected = work > 0 ? took * cost(workloads[i]) / work : 0;
      if (seconds_since(began) + expected > context.options.seconds / 10 || context.hooks.stop())
        break;
      const SteadyTime start = std::chrono::steady_clock::now();
      KW_TRY(ns[i], context.judge.call_ns(baseline, i, 1, unused));
      took = seconds_since(start), work = cost(workloads[i]);
    }
    Json json{{"ns", ns}};
    context.stamp(json);
    return json;
  }));
  std::vector<double> ns(workloads.size(), 0);
  const Json list = measured.value("ns", Json::array());
  double per_work = 0, most = 0; // of the dearest call that was measured
  for (std::size_t i = 0; i < ns.size() && i < list.size(); ++i) {
    ns[i] = list[i].is_number() ? list[i].get<double>() : 0;
    if (ns[i] > 0 && cost(workloads[i]) > most)
      most = cost(workloads[i]), per_work = ns[i] / most;
  }
  for (std::size_t i = 0; i < ns.size(); ++i)
    if (ns[i] == 0 && workloads[i].timed)
      ns[i] = per_work * cost(workloads[i]);
  return ns;
}

/// A regime is searched on a workload that can be timed: on calls of a few microseconds all kernels
/// tie.
Status settle_representatives(SearchContext& context, std::vector<Regime>& regimes) {
  constexpr double surely_long = 1e6; // operations and bytes: beyond 5 us on any one thread
  const std::vector<BoundWorkload>& workloads = context.judge.workloads();
  KW_TRY(const Json too_short, context.journal.once("too short to time", "", [&]() -> Result<Json> {
    KW_TRY(Subject baseline, load_baseline(context));
    Json out = Json::array();
    for (std::size_t i = 0; i < workloads.size(); ++i)
      if (const BoundWorkload& w = workloads[i];
          w.flops + w.bytes_read + w.bytes_written < surely_long) {
        KW_TRY(const bool timeable, context.judge.timeable(baseline, i));
        if (!timeable)
          out.push_back(w.workload.uuid);
      }
    return out;
  }));
  const auto timeable = [&](std::size_t i) {
    return std::find(too_short.begin(), too_short.end(), workloads[i].workload.uuid) ==
           too_short.end();
  };
  for (Regime& regime : regimes)
    choose_representative(regime, workloads, timeable);
  return {};
}

/// What earlier runs know goes into the journal too: the archive grows, the run's knowledge does
/// not.
Result<Memory> settle_memory(SearchContext& context, const Knowledge& known) {
  KW_TRY(const Json settled,
         context.journal.once("known", "", [&]() -> Result<Json> { return to_json(known); }));
  KW_TRY(Knowledge knowledge, knowledge_from_json(settled));
  return Memory(std::move(knowledge));
}

/// Whether the winner may be judged whole: somebody has to say so where that was asked for.
Result<bool> approved(SearchContext& context) {
  if (!context.options.approval)
    return true;
  if (!context.hooks.steering)
    return fail(ErrorKind::unsupported, "an approval was asked for where nobody can give one",
                "leave --approval out");
  context.hooks.note("the search is over. Its winner is judged whole once somebody approves: "
                     "`kernwright steer RUN --approve`, or --decline");
  for (const Steering& s : context.steering) // said while the search still went on
    if (s.kind == "approve" || s.kind == "decline")
      return s.kind == "approve";
  for (;;) {
    constexpr double a_day = 86'400;
    KW_TRY(const std::vector<Steering> said, hear(context, "approval", a_day));
    for (const Steering& s : said)
      if (s.kind == "approve" || s.kind == "decline")
        return s.kind == "approve";
  }
}

/// The champion judged whole, or the baseline placed; recorded, so that a run that was killed after
/// it does not judge twice.
Status finish(SearchContext& context, const std::vector<RegimeSearch>& searches,
              OptimizeOutcome& outcome) {
  KW_TRY(const bool go, approved(context));
  if (!go) {
    context.hooks.note("declined: the winner is not judged and not promoted");
    context.log.add({{"decision", "none"}, {"probe", ""}, {"reason", "declined by a person"}});
    return context.log.flush();
  }
  const bool beaten = std::any_of(searches.begin(), searches.end(),
                                  [](const RegimeSearch& s) { return s.beat_baseline(); });
  std::optional<Solution>& assembled = outcome.winner;
  const auto bare = std::find_if(searches.begin(), searches.end(),
                                 [](const RegimeSearch& s) { return !s.winner(); });
  if (beaten && bare != searches.end())
    context.hooks.note(
        fmt::format("no correct kernel was found where {}: the winner would cover only part of the "
                    "workloads and is not promoted",
                    bare->regime().name));
  else if (beaten) {
    KW_TRY(assembled, dispatch(context, searches, outcome.dispatch));
  }
  if (!context.options.judge_whole)
    return context.log.flush();
  KW_TRY(const Json final, context.journal.once("final", "", [&]() -> Result<Json> {
    if (assembled)
      KW_CHECK(judge_winner(context, searches, *assembled, outcome));
    else if (!beaten)
      KW_CHECK(place_baseline(context, outcome));
    return Json{{"probe", outcome.champion ? outcome.champion->id : ""},
                {"decision", outcome.champion ? outcome.champion->decision : "none"},
                {"reason", outcome.champion ? outcome.champion->reason : ""},
                {"record", outcome.record ? outcome.record->id : ""}};
  }));
  Archive& archive = context.recorder.archive();
  if (const std::string id = text_in(final, "probe"); !id.empty() && !outcome.champion) {
    KW_TRY(const ArchivedProbe stored, archive.get_probe(id));
    KW_TRY(outcome.champion, decode_probe(stored.json));
    if (const std::string record = text_in(final, "record"); !record.empty()) {
      KW_TRY(outcome.record, archive.find_record(record));
    }
  }
  context.log.add({{"decision", text_in(final, "decision")},
                   {"probe", text_in(final, "probe")},
                   {"reason", text_in(final, "reason")}});
  return context.log.flush();
}

} // namespace

double gate_seconds(const OptimizeOptions& options) {
  return options.gate_seconds > 0 ? options.gate_seconds : std::max(10.0, options.seconds / 8);
}

Result<OptimizeOutcome> optimize(Judge& judge, const Solution& baseline,
                                 const std::vector<LoadedSpace>& spaces, const Recorder& recorder,
                                 const OptimizeOptions& options, RunMemory& run,
                                 const OptimizeHooks& hooks) {
  SearchContext context{.judge = judge,
                        .baseline = baseline,
                        .spaces = spaces,
                        .recorder = recorder,
                        .options = options,
                        .hooks = hooks,
                        .journal = run.journal,
                        .log = run.log,
                        .facts = machine_facts(judge.definition().ext.threads),
                        .events = {}};
  OptimizeOutcome outcome;
  std::vector<Space> bare;
  for (const LoadedSpace& s : spaces)
    bare.push_back(s.space);
  KW_TRY(outcome.regimes,
         find_regimes(judge.workloads(), bare, context.facts, options.parts.dispatch));
  if (options.parts.dispatch && judge.workloads().size() > 1) {
    KW_TRY(const std::vector<double> ns, settle_latencies(context));
    outcome.regimes = refine_regimes(std::move(outcome.regimes), judge.workloads(), ns);
  }
  KW_CHECK(settle_representatives(context, outcome.regimes));
  KW_TRY(const Memory memory, settle_memory(context, run.known));
  std::vector<RegimeSearch> searches;
  for (const Regime& regime : outcome.regimes) {
    KW_TRY(RegimeSearch search, RegimeSearch::open(context, regime));
    for (const KnownAttempt& known : memory.all())
      search.learn(known);
    searches.push_back(std::move(search));
  }

  const std::vector<double> shares = time_shares(outcome.regimes);
  double shares_left = 1;
  int evaluations_left = options.evaluations;
  for (std::size_t i = 0; i < searches.size() && !hooks.stop(); ++i) {
    const int evaluations =
        options.evaluations == 0
            ? 0
            : std::max(1,
                       static_cast<int>(std::lround(shares[i] / shares_left * evaluations_left)));
    learn_from_neighbours(searches, i);
    // What an earlier regime left over, or took too much of, is shared by those that are left.
    const double seconds = (options.seconds - context.spent) * shares[i] / shares_left;
    shares_left -= shares[i];
    context.begin_effect();
    const std::size_t before = context.events.size();
    // Whatever a step meets after the user has asked to stop, the answer is that it was stopped.
    const bool last = i + 1 == searches.size();
    if (Status done = searches[i].run(seconds, evaluations, !last, memory); !done) {
      if (!hooks.stop())
        return fail(done.error());
      hooks.note("the step that was under way failed: " + done.error().message);
    }
    evaluations_left -= static_cast<int>(context.events.size() - before);
  }
  for (std::size_t i = 0; i < searches.size(); ++i)
    outcome.branches.push_back(searches[i].branch(i));
  outcome.search_seconds = context.spent;
  outcome.build_seconds = context.built;
  outcome.interrupted = hooks.stop();
  if (!outcome.interrupted) {
    const SteadyTime began = std::chrono::steady_clock::now();
    if (Status done = finish(context, searches, outcome); !done) {
      if (done.error().kind != ErrorKind::interrupted)
        return fail(done.error());
      outcome.interrupted = true;
    }
    outcome.total_seconds = seconds_since(began);
  }
  outcome.events = std::move(context.events);
  outcome.rounds = std::move(context.rounds);
  outcome.usage = context.usage;
  outcome.cpu_seconds = context.cpu_spent;
  outcome.steering = std::move(context.steering);
  outcome.total_seconds += outcome.search_seconds;
  return outcome;
}

} // namespace kw
