// SPDX-License-Identifier: Apache-2.0
#include "service/crossover.hpp"

#include "controller/recorder.hpp"

#include <fmt/format.h>

namespace kw {

Result<std::vector<double>> crossover(const Workspace& workspace, const Task& task,
                                      const JudgingOptions& judging, const Solution& lower,
                                      const Solution& higher, const std::vector<Workload>& shapes) {
  constexpr int rounds = 5;
  Task between = task;
  between.workloads = shapes;
  JudgingOptions options = judging;
  options.workloads.clear(); // a filter of listed workloads
  KW_TRY(const Bench bench, open_bench(workspace, between, options));
  Judge& judge = *bench.judge;
  judge.begin(fresh_seed());
  Verdict verdict;
  KW_TRY(Subject low, judge.admit(lower, verdict));
  KW_TRY(Subject high, judge.admit(higher, verdict));
  if (!low.loaded() || !high.loaded())
    return fail(ErrorKind::invalid_input, "a kernel that was fine before does not load", "");
  std::vector<double> out;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    // Right on its own regime says nothing about a shape between: the one that is wrong there loses
    // nothing by a number, it is no branch at all.
    Verdict right;
    for (Subject* const subject : {&low, &high}) {
      KW_CHECK(judge.verify(*subject, "glance", right, {i}));
      if (right.correctness.outcome == Outcome::fail)
        return fail(ErrorKind::invalid_input,
                    fmt::format("a kernel is wrong at {}", judge.workloads()[i].axes_text), "");
    }
    KW_TRY(const ScreenReading reading, judge.screen(low, high, i, rounds, right));
    out.push_back(reading.rounds > 0 ? reading.ahead : 0);
  }
  return out;
}

} // namespace kw
