// SPDX-License-Identifier: Apache-2.0
#include "service/replay.hpp"

#include "archive/sqlite_archive.hpp"
#include "controller/recorder.hpp"
#include "formats/verdict_json.hpp"
#include "os/file_lock.hpp"
#include "service/history.hpp"
#include "service/lease.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <fmt/format.h>

namespace kw {
namespace {

/// The seed gives the same inputs only for the same workloads, and threads change the order of
/// sums.
void judge_as_before(const Probe& before, bool all_workloads, Task& task, JudgingOptions& judging) {
  const std::vector<WorkloadTrials>& judged = before.verdict.workloads;
  if (!judged.empty() && judging.workloads.empty() && !all_workloads)
    std::erase_if(task.workloads, [&](const Workload& w) {
      return std::none_of(judged.begin(), judged.end(),
                          [&](const WorkloadTrials& t) { return t.uuid == w.uuid; });
    });
  if (const auto threads = before.environment.more.find("threads");
      threads != before.environment.more.end() && judging.threads == 0)
    std::from_chars(threads->second.data(), threads->second.data() + threads->second.size(),
                    judging.threads);
}

void note_changes(const Probe& before, const Probe& after, std::vector<std::string>& drift) {
  const auto changed = [&](const char* what, const std::string& a, const std::string& b) {
    if (a != b)
      drift.push_back(fmt::format("{} changed: {} -> {}", what, a, b));
  };
  changed("definition", before.definition_hash.substr(0, 12), after.definition_hash.substr(0, 12));
  changed("verdict on correctness", name(before.verdict.correctness.outcome),
          name(after.verdict.correctness.outcome));
  changed("finding", name(before.verdict.finding), name(after.verdict.finding));
}

/// Times are compared only on the same machine with the same compiler, and only by interval.
void note_timing(const Probe& before, const Probe& after, std::vector<std::string>& drift) {
  if (before.environment.hardware != after.environment.hardware) {
    drift.push_back(fmt::format("timing is not comparable: judged on `{}`, replayed on `{}`",
                                before.environment.hardware, after.environment.hardware));
    return;
  }
  const TimingEvidence& a = *before.verdict.times;
  if (!after.verdict.times || after.verdict.times->confirmation.empty()) {
    drift.push_back("the speed-up was not confirmed again: " + (after.verdict.merit.summary.empty()
                                                                    ? after.verdict.timing.summary
                                                                    : after.verdict.merit.summary));
    return;
  }
  const TimingEvidence& b = *after.verdict.times;
  if (b.high < a.low || b.low > a.high)
    drift.push_back(
        fmt::format("speed-up moved: {:.3f}x [{:.3f}, {:.3f}] -> {:.3f}x [{:.3f}, {:.3f}]",
                    a.speedup, a.low, a.high, b.speedup, b.low, b.high));
}

} // namespace

Result<Replay> replay(const Workspace& workspace, const std::string& id,
                      const ReplayOptions& options) {
  KW_TRY(const std::unique_ptr<Archive> archive,
         open_sqlite_archive(workspace.state_dir, {.read_only = true}));
  KW_TRY(const ArchivedProbe stored, find_entry(*archive, id));
  Replay out;
  KW_TRY(out.before, decode_probe(stored.json));
  KW_TRY(Task task, find_task(workspace, out.before.definition));
  JudgingOptions judging = options.judging;
  judge_as_before(out.before, options.all_workloads, task, judging);
  KW_TRY(const Bench bench, open_bench(workspace, task, judging));
  const SystemClock clock;
  const Recorder recorder(*archive, clock, bench.environment, bench.judge->definition());
  Seed seed = fresh_seed();
  if (!options.fresh_seed && options.trials == 0) {
    KW_TRY(seed, seed_from_hex(out.before.seed));
    if (seed_commitment(seed) != out.before.seed_commitment)
      out.drift.push_back("the revealed seed does not match the commitment made before the run");
  }
  Judge& judge = *bench.judge;
  out.after = recorder.open(out.before.solution, seed);
  Verdict& verdict = out.after.verdict;
  judge.begin(seed);
  KW_TRY(Subject subject, judge.admit(out.before.solution, verdict));
  const bool timed =
      out.before.verdict.times && !out.before.verdict.times->confirmation.empty() && options.timing;
  if (subject.loaded()) {
    const std::string gate = options.trials > 0      ? fmt::format("{} each", options.trials)
                             : !options.gate.empty() ? options.gate
                             : !out.before.verdict.gate.empty() ? out.before.verdict.gate
                                                                : "gate";
    KW_CHECK(judge.verify(subject, gate, verdict));
    std::string sanitizers;
    for (const SanitizedRun& run : out.before.verdict.sanitized)
      sanitizers += (sanitizers.empty() ? "" : ",") + run.sanitizers;
    if (verdict.correctness.outcome == Outcome::pass)
      KW_CHECK(judge.sanitize(subject, sanitizers, verdict));
  }
  if (timed && verdict.correctness.outcome == Outcome::pass) {
    KW_TRY(const FileLock lease,
           timing_lease("replay " + id, options.judging.note, options.judging.stop));
    KW_TRY(const Solution baseline, baseline_solution(judge.definition()));
    Verdict own;
    KW_TRY(Subject base, judge.admit(baseline, own));
    if (!base.loaded())
      return fail(ErrorKind::invalid_input, "the baseline is not usable: " + own.build.summary,
                  "run `kernwright check`");
    RaceOptions race;
    race.warm = judge.definition().ext.protocol != "cold";
    race.seconds = options.timing_seconds;
    race.objective =
        objective_from_name(out.before.verdict.times->objective).value_or(Objective::weighted);
    KW_CHECK(judge.time(base, subject, race, verdict));
    if (verdict.merit.outcome == Outcome::pass)
      KW_CHECK(judge.confirm(base, subject, {}, race, verdict));
  }
  conclude(verdict, timed);
  note_changes(out.before, out.after, out.drift);
  if (timed && verdict.correctness.outcome == Outcome::pass)
    note_timing(out.before, out.after, out.drift);
  return out;
}

} // namespace kw
