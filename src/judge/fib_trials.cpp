// SPDX-License-Identifier: Apache-2.0
// Upstream's rule over trials that the strict judgement makes anyway. Only a candidate that was
// turned down on another class of inputs, or too early, is called again, three times at most.
#include "judge/fib_compat.hpp"
#include "judge/judge.hpp"
#include "judge/selected.hpp"

#include <algorithm>
#include <chrono>

namespace kw {
namespace {

/// The class whose inputs are most like upstream's, which knows one kind only.
InputClass ordinary_class(const BoundWorkload& workload) {
  const std::vector<InputClass> classes = classes_of(workload);
  const bool normal =
      std::find(classes.begin(), classes.end(), InputClass::normal) != classes.end();
  return normal ? InputClass::normal : classes.front();
}

} // namespace

void Judge::note_fib(const BoundWorkload& workload, InputClass input_class,
                     const CallReport& report, const Expected& expected, Verdict& verdict) const {
  if (!verdict.fib || is_hidden_shape(workload.workload.uuid) ||
      input_class != ordinary_class(workload))
    return;
  const FibRule rule = fib_rule(definition_);
  if (!rule.unknown.empty())
    return;
  if (expected.sampled) {
    if (verdict.fib->status.empty())
      verdict.fib->reason = "outputs of this size are verified by sampling";
    return;
  }
  const auto began = std::chrono::steady_clock::now();
  const auto right_among_many = [&](std::size_t o) {
    return (workload.outputs[o].ranking && trials_->right_places(o, report)) ||
           (workload.outputs[o].sampling && trials_->draws(o, report).bad == 0) ||
           (workload.outputs[o].selection &&
            check_ids(workload.outputs[o], report.outputs[o], expected.outputs[o],
                      workload.outputs[o].tolerance.eta)
                    .bad == 0);
  };
  std::vector<FibOutput> outputs;
  for (std::size_t o = 0; o < workload.outputs.size(); ++o)
    // Upstream compares places one by one; which of equal elements its reference names is its own
    // affair, so that any right order counts as a match.
    outputs.push_back(right_among_many(o)
                          ? FibOutput{}
                          : fib_compare(workload.outputs[o].dtype, report.outputs[o],
                                        expected.outputs[o].y, rule));
  count_fib(*verdict.fib, workload.workload.uuid, outputs);
  trials_->costs()["fib"] +=
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
}

Status Judge::complete_fib(Subject& subject, Verdict& verdict) {
  const bool alive = verdict.finding == Finding::wrong || verdict.finding == Finding::state ||
                     verdict.finding == Finding::nondeterminism;
  if (!context_.fib_calls || !verdict.fib || !fib_rule(definition_).unknown.empty() || !alive ||
      !subject.arm->alive())
    return {};
  const auto failed = std::find_if(verdict.workloads.begin(), verdict.workloads.end(),
                                   [](const WorkloadTrials& w) { return w.failures > 0; });
  if (failed == verdict.workloads.end())
    return {};
  if (is_hidden_shape(failed->uuid)) // upstream would not have tried it
    return {};
  const auto bound =
      std::find_if(workloads_.begin(), workloads_.end(),
                   [&](const BoundWorkload& w) { return w.workload.uuid == failed->uuid; });
  const auto seen = std::find_if(verdict.fib->workloads.begin(), verdict.fib->workloads.end(),
                                 [&](const FibWorkload& w) { return w.uuid == failed->uuid; });
  std::uint64_t trials = seen == verdict.fib->workloads.end() ? 0 : seen->trials;
  for (; trials < fib_trials; ++trials) {
    TrialKey key;
    key.trial = next_trial_++;
    key.input_class = ordinary_class(*bound);
    key.poison = static_cast<std::uint32_t>(key.trial);
    KW_CHECK(trials_->stage(*bound, key));
    KW_TRY(const CallReport report,
           trials_->call(*subject.arm, definition_.ext.protocol != "cold"));
    if (report.end != CallEnd::returned || report.return_code != 0) {
      verdict.fib->status = report.end == CallEnd::timed_out ? "TIMEOUT" : "RUNTIME_ERROR";
      return {};
    }
    KW_TRY(const Expected expected, trials_->expect(false));
    note_fib(*bound, key.input_class, report, expected, verdict);
  }
  return {};
}

} // namespace kw
