// SPDX-License-Identifier: Apache-2.0
// Many subjects in one race: what a comparison of searches needs, whose champions are timed against
// each other and never apart.
#include "judge/judge.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>

namespace kw {

Result<SharedRounds> Judge::race_all(Subject& baseline,
                                     const std::vector<const Subject*>& candidates,
                                     const RaceOptions& options) {
  constexpr int self_tests = 3; // noise may pass, and nobody has been timed yet
  SharedRounds out;
  TimingEvidence evidence;
  for (int i = 0; i < self_tests && !evidence.fit; ++i)
    KW_CHECK(self_test(baseline, options, evidence));
  out.fit = evidence.fit;
  out.aa_sigma = evidence.aa_sigma;
  if (!out.fit)
    return out;
  const auto began = std::chrono::steady_clock::now();
  const auto late = [&] {
    return options.seconds > 0 &&
           std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count() >
               options.seconds;
  };
  const int each = (options.confirm_rounds + options.process_pairs - 1) / options.process_pairs;
  for (int set = 0; set < options.process_pairs; ++set) {
    LoadReport load;
    std::vector<std::unique_ptr<Arm>> arms;
    std::vector<Contestant> contestants;
    KW_TRY(arms.emplace_back(), spawn(baseline, load));
    contestants.push_back({baseline.solution.name, arms.back().get(), true});
    for (const Subject* candidate : candidates) {
      KW_TRY(arms.emplace_back(), spawn(*candidate, load));
      if (load.end != CallEnd::returned)
        return fail(ErrorKind::infrastructure,
                    fmt::format("`{}` could be loaded before and cannot now: {}",
                                candidate->solution.name, load.detail),
                    "run again");
      contestants.push_back({candidate->solution.name, arms.back().get(), false});
    }
    Race race = make_race(std::move(contestants), options);
    for (int i = -1; i < each && (i <= 0 || set == 0 || !late()); ++i) {
      context_.progress("race", static_cast<std::uint64_t>(set * each + std::max(i, 0)),
                        static_cast<std::uint64_t>(options.process_pairs * each));
      KW_TRY(const RoundOutcome outcome, i < 0 ? race.warm_up() : race.round());
      if (outcome.failed != SIZE_MAX) {
        out.failed = outcome.failed;
        out.failure = outcome.failure;
        return out;
      }
      if (i < 0)
        continue;
      if (outcome.discarded) {
        ++out.discarded;
        continue;
      }
      std::vector<std::vector<double>> round;
      for (const RoundTimes& times : outcome.times)
        round.push_back(times.ns);
      // All sets time the same workloads but for one at the edge of what can be timed.
      if (out.workloads.empty())
        out.workloads = race.chosen();
      if (out.workloads == race.chosen() && !round.empty())
        out.ns.push_back(std::move(round));
    }
  }
  return out;
}

} // namespace kw
