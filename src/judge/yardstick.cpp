// SPDX-License-Identifier: Apache-2.0
// Calls the candidate and the Definition's baseline on the same secret inputs and pools their
// errors. The candidate's outputs are verified like any others; a baseline that fails leaves the
// question open.
#include "judge/judge.hpp"
#include "judge/precision.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace kw {
namespace {

PrecisionPool& pool_of(std::vector<PrecisionPool>& pools, const BoundOutput& output, InputClass c,
                       bool magnitudes) {
  for (PrecisionPool& p : pools)
    if (p.output == output.name && p.input_class == c)
      return p;
  PrecisionPool added;
  added.output = output.name, added.input_class = c, added.magnitudes = magnitudes;
  return pools.emplace_back(std::move(added));
}

/// Errors can be counted in rounding units: a float that need not be exact.
bool has_units(const BoundOutput& output) {
  return is_float(output.dtype) && !output.tolerance.exact;
}

void pool(std::vector<PrecisionPool>& pools, const BoundWorkload& workload, InputClass c,
          const CallReport& candidate, const CallReport& baseline, const Expected& expected) {
  for (std::size_t i = 0; i < workload.outputs.size(); ++i) {
    const BoundOutput& output = workload.outputs[i];
    if (!has_units(output))
      continue;
    const Expected::Tensor& e = expected.outputs[i];
    const double u_acc = unit_roundoff(output.tolerance.accumulate);
    PrecisionPool& p = pool_of(pools, output, c, !e.magnitude.empty());
    p.candidate.add(output.dtype, candidate.outputs[i], e.y, e.magnitude, u_acc, output.row);
    p.baseline.add(output.dtype, baseline.outputs[i], e.y, e.magnitude, u_acc, output.row);
  }
}

} // namespace

Result<bool> Judge::weigh_precision(Subject& subject, Verdict& verdict) {
  const auto open = [&](const std::string& why) {
    verdict.precision = PrecisionEvidence{};
    verdict.precision->summary = "not compared with the baseline: " + why;
    return true;
  };
  const BoundWorkload& any = workloads_.front();
  if (std::none_of(any.outputs.begin(), any.outputs.end(), has_units))
    return true; // nothing is rounded
  const std::optional<Solution> baseline = trusted_baseline(definition_);
  if (!baseline)
    return open("the Definition declares none");
  if (!yardstick_) {
    KW_TRY(yardstick_, context_.target->build(*baseline, definition_));
  }
  if (!yardstick_->ok)
    return open("it does not build: " + yardstick_->summary);
  Subject yardstick{.solution = *baseline, .build = *yardstick_, .arm = nullptr};
  LoadReport loaded;
  KW_TRY(yardstick.arm, spawn(yardstick, loaded));
  if (loaded.end != CallEnd::returned)
    return open("it could not be loaded: " + loaded.detail);

  const bool warm = definition_.ext.protocol != "cold";
  std::vector<PrecisionPool> pools;
  std::uint64_t trials = 0;
  for (const std::size_t w : precision_workloads(workloads_)) {
    const BoundWorkload& workload = workloads_[w];
    for (const InputClass c : precision_classes(workload)) {
      if (context_.stop())
        return fail(ErrorKind::interrupted, "verification was interrupted");
      const TrialKey key{.trial = next_trial_,
                         .input_class = c,
                         .placement =
                             trials++ % 2 == 0 ? Placement::end_aligned : Placement::start_aligned,
                         .poison = static_cast<std::uint32_t>(next_trial_)};
      ++next_trial_;
      KW_CHECK(trials_->stage(workload, key));
      KW_TRY(const CallReport ours, trials_->call(*subject.arm, warm));
      KW_TRY(const CallReport theirs, trials_->call(*yardstick.arm, warm));
      KW_TRY(const Expected expected, trials_->expect(false));
      if (const TrialResult result = trials_->check(ours, expected); !result.ok) {
        ++verdict.trials;
        for (WorkloadTrials& tally : verdict.workloads)
          if (tally.uuid == workload.workload.uuid)
            ++tally.trials, ++tally.failures;
        reject(verdict, result);
        return false;
      }
      if (const TrialResult own = trials_->check(theirs, expected); !own.ok)
        return open("it failed itself: " + own.detail);
      pool(pools, workload, c, ours, theirs, expected);
    }
  }
  verdict.precision = weigh(pools, baseline->name);
  verdict.precision->trials = trials;
  return true;
}

} // namespace kw
