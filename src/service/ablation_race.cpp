// SPDX-License-Identifier: Apache-2.0
#include "service/ablation_race.hpp"

#include "controller/recorder.hpp"
#include "service/lease.hpp"

#include <chrono>
#include <fmt/format.h>

namespace kw {
namespace {

RaceOptions race_options(const Definition& definition, const AblationOptions& options) {
  RaceOptions race;
  race.warm = definition.ext.protocol != "cold";
  race.windows = 1; // rounds are worth more than windows: the ratio is a median over rounds
  race.least_window_ns = options.least_window_ms * 1e6;
  race.seconds = 120;
  return race;
}

/// Builds and verifies each; a champion of a search was right on a few inputs only.
Result<std::vector<Subject>>
admit_all(Judge& judge, const std::vector<std::pair<std::string, Solution>>& champions,
          ChampionRace& race) {
  std::vector<Subject> out;
  for (const auto& [hash, solution] : champions) {
    Verdict verdict;
    judge.begin(fresh_seed());
    KW_TRY(Subject subject, judge.admit(solution, verdict));
    if (subject.loaded())
      KW_CHECK(judge.verify(subject, "gate", verdict));
    conclude(verdict, false);
    ChampionRace::Entrant entrant{.hash = hash, .name = solution.name, .fault = {}};
    if (!subject.loaded() || verdict.finding != Finding::none)
      entrant.fault = fmt::format("{}: {}", name(verdict.finding), failed_axis(verdict).summary);
    else
      out.push_back(std::move(subject));
    race.entrants.push_back(std::move(entrant));
  }
  return out;
}

/// The entrant of a column of the race, 1 = the first without a fault.
ChampionRace::Entrant& entrant_at(ChampionRace& race, std::size_t column) {
  for (ChampionRace::Entrant& e : race.entrants)
    if (e.fault.empty() && --column == 0)
      return e;
  broken_invariant("a column of the race belongs to an entrant", __FILE__, __LINE__);
}

} // namespace

Result<ChampionRace> race_champions(const Workspace& workspace, const AblationTask& task,
                                    const AblationOptions& options,
                                    const std::vector<std::pair<std::string, Solution>>& champions,
                                    const JudgingOptions& judging) {
  const auto began = std::chrono::steady_clock::now();
  KW_TRY(const Task found, find_task(workspace, task.asked));
  JudgingOptions own = judging;
  own.workloads.clear();
  for (const AblationWorkload& w : task.workloads)
    own.workloads.push_back(w.uuid);
  KW_TRY(const FileLock lease,
         timing_lease("race of " + task.definition, judging.note, judging.stop));
  KW_TRY(const Bench bench, open_bench(workspace, found, own));
  Judge& judge = *bench.judge;
  ChampionRace race;
  KW_TRY(std::vector<Subject> subjects, admit_all(judge, champions, race));
  Verdict verdict;
  judge.begin(fresh_seed());
  KW_TRY(const Solution plain, baseline_solution(judge.definition()));
  KW_TRY(Subject baseline, judge.admit(plain, verdict));
  if (!baseline.loaded())
    return fail(ErrorKind::infrastructure, "the baseline was usable before and is not now",
                "run again");
  SharedRounds rounds;
  for (;;) {
    std::vector<const Subject*> candidates;
    for (const Subject& s : subjects)
      candidates.push_back(&s);
    KW_TRY(rounds, judge.race_all(baseline, candidates, race_options(judge.definition(), options)));
    if (rounds.failed == SIZE_MAX)
      break;
    entrant_at(race, rounds.failed).fault =
        fmt::format("{}: {}", name(rounds.failure.finding), rounds.failure.detail);
    subjects.erase(subjects.begin() + static_cast<std::ptrdiff_t>(rounds.failed) - 1);
  }
  race.aa_sigma = rounds.aa_sigma;
  race.discarded = rounds.discarded;
  for (const std::size_t w : rounds.workloads) {
    race.workloads.push_back(judge.workloads()[w].workload.uuid);
    race.weights.push_back(judge.workloads()[w].timing_weight);
  }
  race.rounds = std::move(rounds.ns);
  race.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  if (!rounds.fit)
    return fail(ErrorKind::refused,
                fmt::format("this machine is unfit for timing now: the baseline against itself "
                            "shows {:.1f} % noise",
                            100 * rounds.aa_sigma),
                "stop other work on it");
  if (race.rounds.size() < least_race_rounds)
    return fail(ErrorKind::refused,
                fmt::format("only {} rounds of the race were undisturbed, {} were not",
                            race.rounds.size(), race.discarded),
                "stop other work on this machine");
  return race;
}

} // namespace kw
