// SPDX-License-Identifier: Apache-2.0
#include "service/ablation_results.hpp"

#include "base/json.hpp"
#include "report/units.hpp"
#include "stats/two_level.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>

namespace kw {
namespace {

constexpr const char* baseline = "baseline";
/// Of the resampling: any number, but always the same.
constexpr std::uint64_t resampling_seed = 1;

bool has(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

std::string reference_of(const std::vector<std::string>& arms) {
  for (const char* wanted : {"tuner", "full"})
    if (has(arms, wanted) && arms.size() > 1)
      return wanted;
  return arms.size() > 1 ? arms.front() : baseline;
}

/// Each arm against the reference; then what every part brings, which is all against all but it.
std::vector<std::pair<std::string, std::string>> pairs_of(const std::vector<std::string>& arms) {
  const std::string reference = reference_of(arms);
  std::vector<std::pair<std::string, std::string>> out;
  for (const std::string& arm : arms)
    if (arm != reference)
      out.emplace_back(arm, reference);
  if (has(arms, "full") && reference != "full")
    for (const std::string& arm : arms)
      if (arm.starts_with("no-"))
        out.emplace_back("full", arm);
  return out;
}

struct Pair {
  const ArmRun* a = nullptr;
  const ArmRun* b = nullptr; ///< null: the baseline
};

std::optional<double> ratio(const AblationSeed& seed, const Pair& pair) {
  static const ChampionRace none;
  const std::string against = pair.b == nullptr ? std::string{} : pair.b->hash;
  return champion_ratio(seed.race ? *seed.race : none, pair.a->hash, against);
}

/// Both runs, or nullopt while one of them is missing.
std::optional<Pair> pair_in(const AblationSeed& seed, const std::string& a, const std::string& b) {
  const auto of_a = seed.runs.find(a), of_b = seed.runs.find(b);
  if (of_a == seed.runs.end() || (b != baseline && of_b == seed.runs.end()))
    return std::nullopt;
  return Pair{&of_a->second, b == baseline ? nullptr : &of_b->second};
}

AblationComparison compare(const AblationPlan& plan, const AblationResults& results,
                           const std::string& arm, const std::string& against) {
  AblationComparison out{.arm = arm, .against = against, .refused = {}, .per_definition = {}};
  std::vector<std::vector<double>> logs;
  std::size_t apart = 0;
  for (std::size_t t = 0; t < plan.tasks.size(); ++t) {
    std::vector<double>& group = logs.emplace_back();
    for (int s = 1; s <= plan.options.seeds; ++s) {
      const auto found = results.find({t, s});
      const std::optional<Pair> pair =
          found == results.end() ? std::nullopt : pair_in(found->second, arm, against);
      if (!pair) {
        ++out.missing;
        continue;
      }
      const std::string why =
          pair->b == nullptr ? "" : unmatched(*pair->a, *pair->b, plan.options.limits);
      if (!why.empty() && apart++ == 0)
        out.refused = fmt::format("{} seed {}: {}", plan.tasks[t].definition, s, why);
      const std::optional<double> log = ratio(found->second, *pair);
      if (!log) {
        ++out.missing;
        continue;
      }
      out.same += pair->b != nullptr && pair->a->hash == pair->b->hash ? 1 : 0;
      group.push_back(*log);
    }
  }
  if (apart > 0) {
    out.refused =
        fmt::format("unmatched in {} of {} pairs: {}", apart,
                    plan.tasks.size() * static_cast<std::size_t>(plan.options.seeds), out.refused);
    return out;
  }
  const TwoLevelMean mean = two_level_mean(logs, resampling_seed);
  out.value = mean.value, out.low = mean.low, out.high = mean.high, out.low95 = mean.lower_bound;
  out.definitions = mean.groups, out.pairs = mean.members;
  for (std::size_t t = 0; t < logs.size(); ++t)
    if (!logs[t].empty())
      out.per_definition.emplace_back(plan.tasks[t].definition,
                                      two_level_mean(std::span(&logs[t], 1), 0, 0.95, 1).value);
  return out;
}

AblationCell cell_of(const AblationPlan& plan, std::size_t task, int seed, const AblationSeed& all,
                     const ArmRun& run, const std::string& reference) {
  AblationCell cell{.definition = plan.tasks[task].definition,
                    .arm = run.arm,
                    .seed = seed,
                    .evaluations = run.evaluations,
                    .seconds = run.seconds,
                    .build_seconds = run.build_seconds,
                    .champion = run.champion,
                    .fault = {},
                    .over_baseline = std::nullopt,
                    .over_reference = std::nullopt,
                    .unmatched = {}};
  const auto speed = [](std::optional<double> log) {
    return log ? std::optional(std::exp(*log)) : std::nullopt;
  };
  if (all.race)
    for (const ChampionRace::Entrant& e : all.race->entrants)
      if (e.hash == run.hash)
        cell.fault = e.fault;
  cell.over_baseline = speed(ratio(all, {&run, nullptr}));
  if (const std::optional<Pair> pair = pair_in(all, run.arm, reference); pair && pair->b) {
    cell.over_reference = speed(ratio(all, *pair));
    cell.same = pair->a->hash == pair->b->hash && run.arm != reference;
    cell.unmatched = unmatched(*pair->a, *pair->b, plan.options.limits);
  }
  return cell;
}

Json number_or_null(const std::optional<double>& value) {
  return value ? number_to_json(*value) : Json(nullptr);
}

} // namespace

std::vector<std::string> champions_to_race(const AblationSeed& seed) {
  std::set<std::string> distinct;
  for (const auto& [arm, run] : seed.runs)
    distinct.insert(run.hash);
  if (seed.runs.size() == 1)
    distinct.insert("");
  return {distinct.begin(), distinct.end()};
}

AblationReport summarise_ablation(const AblationPlan& plan, const AblationResults& results) {
  AblationReport report;
  report.version = plan.version;
  report.started_at = plan.started_at;
  report.environment = {
      {"machine", plan.hardware}, {"compiler", plan.compiler}, {"flags", plan.flags}};
  report.arms = plan.options.arms;
  report.reference = reference_of(report.arms);
  report.seeds = plan.options.seeds;
  report.evaluations = plan.options.evaluations;
  report.sessions = plan.options.sessions;
  report.wall_factor = plan.options.limits.wall_factor;
  report.wall_seconds = plan.options.limits.wall_seconds;
  report.steps = ablation_steps(plan).size();
  for (const AblationTask& task : plan.tasks) {
    AblationTaskReport& out = report.tasks.emplace_back();
    out.definition = task.definition;
    out.left_out = task.left_out;
    for (const AblationWorkload& w : task.workloads)
      out.workloads.push_back(fmt::format("{}, {}{}", w.axes, duration_text(w.call_ns),
                                          w.medoid ? "" : ", not the medoid"));
  }
  for (std::size_t t = 0; t < plan.tasks.size(); ++t)
    for (int s = 1; s <= plan.options.seeds; ++s) {
      const auto found = results.find({t, s});
      if (found == results.end())
        continue;
      for (const std::string& arm : report.arms)
        if (const auto run = found->second.runs.find(arm); run != found->second.runs.end()) {
          report.cells.push_back(cell_of(plan, t, s, found->second, run->second, report.reference));
          report.seconds += run->second.seconds;
          ++report.steps_done;
        }
      if (found->second.race) {
        report.seconds += found->second.race->seconds;
        ++report.steps_done;
      }
    }
  for (const auto& [arm, against] : pairs_of(report.arms))
    report.comparisons.push_back(compare(plan, results, arm, against));
  return report;
}

std::string ablation_json(const AblationReport& r) {
  Json out{{"schema", "kernwright.ablation-report/1"},
           {"id", r.id},
           {"complete", r.complete()},
           {"version", r.version},
           {"started_at", r.started_at},
           {"environment", Json::object()},
           {"arms", r.arms},
           {"reference", r.reference},
           {"seeds", r.seeds},
           {"evaluations", r.evaluations},
           {"sessions", r.sessions},
           {"wall_factor", r.wall_factor},
           {"wall_seconds", r.wall_seconds},
           {"steps", r.steps},
           {"steps_done", r.steps_done},
           {"seconds", r.seconds},
           {"definitions", Json::array()},
           {"comparisons", Json::array()},
           {"cells", Json::array()}};
  for (const auto& [key, value] : r.environment)
    out["environment"][key] = value;
  for (const AblationTaskReport& t : r.tasks)
    out["definitions"].push_back(
        {{"definition", t.definition}, {"workloads", t.workloads}, {"left_out", t.left_out}});
  for (const AblationComparison& c : r.comparisons) {
    Json one{{"arm", c.arm}, {"against", c.against}, {"word", ablation_word(c)}};
    if (!c.refused.empty()) {
      one["refused"] = c.refused;
    } else {
      one["geomean"] = number_to_json(c.value);
      one["low"] = number_to_json(c.low);
      one["high"] = number_to_json(c.high);
      one["low95"] = number_to_json(c.low95);
      one["per_definition"] = Json::object();
      for (const auto& [definition, value] : c.per_definition)
        one["per_definition"][definition] = number_to_json(value);
    }
    one["definitions"] = c.definitions;
    one["pairs"] = c.pairs;
    one["same_champion"] = c.same;
    one["missing"] = c.missing;
    out["comparisons"].push_back(std::move(one));
  }
  for (const AblationCell& c : r.cells)
    out["cells"].push_back({{"definition", c.definition},
                            {"seed", c.seed},
                            {"arm", c.arm},
                            {"evaluations", c.evaluations},
                            {"seconds", c.seconds},
                            {"build_seconds", c.build_seconds},
                            {"champion", c.champion},
                            {"fault", c.fault},
                            {"over_baseline", number_or_null(c.over_baseline)},
                            {"over_reference", number_or_null(c.over_reference)},
                            {"same_champion", c.same},
                            {"unmatched", c.unmatched}});
  return dump_json(out, 2);
}

} // namespace kw
