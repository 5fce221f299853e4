// SPDX-License-Identifier: Apache-2.0
#include "service/ablation.hpp"

#include "stats/robust.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <set>

namespace kw {
namespace {

constexpr std::string_view without = "no-";
/// What the controller adds to its tuner.
constexpr std::string_view beside_tuner[] = {"profile", "directions", "memory", "supervisor",
                                             "references"};

/// Seconds of an evaluation that do not follow from the calls (build, process, its share of a
/// gate), and how many verified calls it makes, both sides of a screen counted as one: from the
/// journals of `optimize` on the shipped operators.
constexpr double evaluation_fixed = 0.3, evaluation_slots = 15;
/// The same for a race: loading, A/A, and the slots of 21 rounds of each workload and contestant.
constexpr double race_fixed = 3, race_slots = 25;

} // namespace

std::vector<std::string> ablation_arm_names() {
  std::vector<std::string> out{"full", "tuner", "random"};
  for (const std::string& part : controller_part_names())
    out.push_back(std::string(without) + part);
  return out;
}

Result<AblationArm> ablation_arm(const std::string& name) {
  const std::vector<std::string> known = ablation_arm_names();
  if (std::find(known.begin(), known.end(), name) == known.end())
    return fail(ErrorKind::invalid_input, fmt::format("there is no arm `{}`", name),
                fmt::format("the arms are {}", fmt::join(known, ", ")));
  AblationArm arm{.name = name, .parts = {}};
  if (name.starts_with(without))
    switch_off(arm.parts, name.substr(without.size()));
  if (name == "tuner" || name == "random")
    for (const std::string_view part : beside_tuner)
      switch_off(arm.parts, part);
  if (name == "random")
    arm.strategy = Algorithm::random;
  return arm;
}

Status check_ablation(const AblationOptions& options) {
  std::set<std::string> seen;
  for (const std::string& arm : options.arms) {
    KW_TRY([[maybe_unused]] const AblationArm known, ablation_arm(arm));
    if (!seen.insert(arm).second)
      return fail(ErrorKind::invalid_input, fmt::format("the arm `{}` is named twice", arm),
                  "name every arm once");
  }
  if (options.sessions == 1 && seen.contains("no-memory"))
    return fail(ErrorKind::invalid_input,
                "`no-memory` would be `full` once more: every arm begins with an empty archive, so "
                "in its first session there is nothing to remember",
                "give --sessions 2: the second run of an arm then meets what its first one found");
  if (options.references.empty() && seen.contains("no-references"))
    return fail(ErrorKind::invalid_input,
                "`no-references` would be `full` once more: there are no reference kernels",
                "name them with --reference");
  return {};
}

std::vector<AblationStep> ablation_steps(const AblationPlan& plan) {
  const std::vector<std::string>& arms = plan.options.arms;
  std::vector<AblationStep> out;
  for (int seed = 1; seed <= plan.options.seeds; ++seed)
    for (std::size_t task = 0; task < plan.tasks.size(); ++task) {
      for (std::size_t i = 0; i < arms.size(); ++i)
        out.push_back({.task = task,
                       .seed = seed,
                       .arm = arms[(i + task + static_cast<std::size_t>(seed)) % arms.size()]});
      out.push_back({.task = task, .seed = seed, .arm = {}});
    }
  return out;
}

std::vector<AblationStep> steps_left(const AblationPlan& plan,
                                     const std::function<bool(const AblationStep&)>& done) {
  std::vector<AblationStep> out = ablation_steps(plan);
  std::erase_if(out, done);
  return out;
}

double expected_seconds(const AblationPlan& plan, const AblationStep& step) {
  const AblationTask& task = plan.tasks[step.task];
  if (step.is_race())
    return race_fixed + race_slots * task.slot_seconds *
                            static_cast<double>(task.workloads.size()) *
                            static_cast<double>(plan.options.arms.size());
  return plan.options.evaluations * (evaluation_fixed + evaluation_slots * task.slot_seconds);
}

std::string unmatched(const ArmRun& a, const ArmRun& b, const MatchLimits& limits) {
  if (a.workloads != b.workloads)
    return fmt::format("`{}` ran on {} and `{}` on {}", a.arm, fmt::join(a.workloads, " "), b.arm,
                       fmt::join(b.workloads, " "));
  if (a.evaluations != b.evaluations)
    return fmt::format("`{}` made {} evaluations, `{}` {}", a.arm, a.evaluations, b.arm,
                       b.evaluations);
  const double of_a = a.seconds - a.build_seconds, of_b = b.seconds - b.build_seconds;
  if (std::abs(of_a - of_b) > limits.wall_seconds &&
      std::max(of_a, of_b) > limits.wall_factor * std::min(of_a, of_b))
    return fmt::format("`{}` took {:.0f} s without builds, `{}` {:.0f} s: more than {:.3g} times "
                       "and {:.0f} s apart",
                       a.arm, of_a, b.arm, of_b, limits.wall_factor, limits.wall_seconds);
  return {};
}

std::optional<double> champion_ratio(const ChampionRace& race, const std::string& a,
                                     const std::string& b) {
  // The baseline stands for what could not be timed.
  const auto column = [&](const std::string& hash) -> std::optional<std::size_t> {
    if (hash.empty())
      return 0;
    std::size_t next = 1;
    for (const ChampionRace::Entrant& e : race.entrants) {
      if (e.hash == hash)
        return e.fault.empty() ? next : 0;
      next += e.fault.empty() ? 1 : 0;
    }
    return std::nullopt;
  };
  if (a == b)
    return 0.0;
  const std::optional<std::size_t> of_a = column(a), of_b = column(b);
  if (!of_a || !of_b)
    return std::nullopt;
  if (*of_a == *of_b)
    return 0.0;
  std::vector<double> ratios;
  const double all = std::accumulate(race.weights.begin(), race.weights.end(), 0.0);
  for (const auto& round : race.rounds) {
    double sum = 0;
    for (std::size_t w = 0; w < round.size(); ++w)
      sum += race.weights[w] * std::log(round[w][*of_b] / round[w][*of_a]);
    ratios.push_back(sum / all);
  }
  return ratios.size() < least_race_rounds ? std::nullopt : std::optional(median(ratios));
}

} // namespace kw
