// SPDX-License-Identifier: Apache-2.0
// Correctness: the trials of a gate, spread over the workloads by weight, over all input classes,
// both buffer placements and alternating poison; plus a bit-for-bit repeat of one call per
// workload.
#include "judge/fib_compat.hpp"
#include "judge/hidden_shapes.hpp"
#include "judge/judge.hpp"
#include "judge/ranked.hpp"
#include "judge/sampled.hpp"
#include "judge/strains.hpp"

#include "stats/trials.hpp"
#include "tensor/error_regions.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace kw {
std::vector<InputClass> classes_of(const BoundWorkload& workload) {
  std::vector<InputClass> out;
  for (InputClass c : all_input_classes())
    for (const BoundInput& input : workload.inputs)
      if (std::find(input.classes.begin(), input.classes.end(), c) != input.classes.end()) {
        out.push_back(c);
        break;
      }
  // A projection says nothing about outputs that overflow: huge products leave those classes to the
  // smaller workloads of the same definition.
  if (workload.flops > full_oracle_flops)
    std::erase_if(
        out, [](InputClass c) { return c == InputClass::specials || c == InputClass::max_finite; });
  if (out.empty())
    out.push_back(InputClass::normal);
  return out;
}

namespace {

/// Workloads of a campaign, cheapest first: a wrong kernel should be found before the large shapes
/// are paid for. A gate that is no evidence visits only as many as it has trials, the heaviest
/// ones.
std::vector<std::size_t> chosen_by_cost(const std::vector<BoundWorkload>& workloads,
                                        const std::vector<std::size_t>& only,
                                        const GateSize& size) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < workloads.size(); ++i)
    if (only.empty() || std::find(only.begin(), only.end(), i) != only.end())
      order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return cost(workloads[a]) < cost(workloads[b]);
  });
  if (size.evidence || order.size() <= size.trials)
    return order;
  std::vector<std::size_t> heaviest = order;
  std::stable_sort(heaviest.begin(), heaviest.end(), [&](std::size_t a, std::size_t b) {
    return workloads[a].workload.weight > workloads[b].workload.weight;
  });
  heaviest.resize(size.trials);
  std::erase_if(order, [&](std::size_t i) {
    return std::find(heaviest.begin(), heaviest.end(), i) == heaviest.end();
  });
  return order;
}

std::vector<std::vector<std::byte>> copy_outputs(const CallReport& report) {
  std::vector<std::vector<std::byte>> out;
  for (const std::span<const std::byte> o : report.outputs)
    out.emplace_back(o.begin(), o.end());
  return out;
}

std::string first_difference(const std::vector<std::vector<std::byte>>& a, const CallReport& b,
                             const BoundWorkload& workload) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto [x, y] = std::mismatch(a[i].begin(), a[i].end(), b.outputs[i].begin());
    if (x != a[i].end())
      return fmt::format("`{}` differs from byte {} on", workload.outputs[i].name,
                         x - a[i].begin());
    (void)y;
  }
  return {};
}

/// A pass of its own over whole outputs: for one trial of a workload.
void note_ulp(const BoundWorkload& workload, const CallReport& report, const Expected& expected,
              WorkloadTrials& tally) {
  for (std::size_t i = 0; i < workload.outputs.size() && !expected.sampled; ++i)
    if (const BoundOutput& output = workload.outputs[i]; is_float(output.dtype))
      tally.max_ulp = std::max(tally.max_ulp.value_or(0),
                               max_ulp(output.dtype, report.outputs[i], expected.outputs[i].y));
}

/// A loop over whole vectors or tiles leaves something over.
bool is_ragged(const BoundWorkload& workload) {
  return std::any_of(workload.workload.axes.begin(), workload.workload.axes.end(),
                     [](const auto& axis) { return axis.second % 8 != 0; });
}

void note_placement(Placement placement, Verdict& verdict) {
  if (verdict.exercise)
    ++(placement == Placement::end_aligned ? verdict.exercise->end_aligned
                                           : verdict.exercise->start_aligned);
}

void note_shape(const BoundWorkload& workload, Verdict& verdict) {
  if (!verdict.exercise)
    return;
  ++verdict.exercise->shapes;
  verdict.exercise->ragged += is_ragged(workload) ? 1 : 0;
  verdict.exercise->hidden += is_hidden_shape(workload.workload.uuid) ? 1 : 0;
}

constexpr std::uint64_t trials_per_hidden_shape = 3;
/// Mined trials go to this many places: (workload, input class) pairs.
constexpr std::size_t most_mined_places = 8;
/// An error that used more of its bound than this asks for a closer look.
constexpr double strained = 0.5;

/// Workloads with rows to mine: those that have near-ties, and are compared whole.
std::vector<std::size_t> with_near_ties(const std::vector<BoundWorkload>& workloads,
                                        const std::vector<std::size_t>& order) {
  std::vector<std::size_t> out;
  for (const std::size_t i : order) {
    const std::vector<InputClass> classes = classes_of(workloads[i]);
    if (std::find(classes.begin(), classes.end(), InputClass::near_ties) != classes.end() &&
        workloads[i].flops <= full_oracle_flops)
      out.push_back(i);
  }
  return out;
}

} // namespace

Result<TrialResult> Judge::verify_one(Subject& subject, const BoundWorkload& workload,
                                      const TrialKey& key, Verdict& verdict, WorkloadTrials& tally,
                                      bool check_determinism) {
  KW_CHECK(trials_->stage(workload, key));
  const bool warm = definition_.ext.protocol != "cold";
  KW_TRY(const CallReport report, trials_->call(*subject.arm, warm));
  const auto saved = check_determinism && report.end == CallEnd::returned
                         ? copy_outputs(report)
                         : std::vector<std::vector<std::byte>>{};
  Expected expected;
  if (report.end == CallEnd::returned && report.return_code == 0) {
    KW_TRY(expected, trials_->expect(false));
  }
  const TrialResult result = trials_->check(report, expected);
  if (!expected.outputs.empty())
    note_fib(workload, key.input_class, report, expected, verdict);
  ++tally.trials;
  ++verdict.trials;
  note_placement(key.placement, verdict);
  if (check_determinism) // the first trial of every shape
    note_shape(workload, verdict);
  tally.max_eta = std::max(tally.max_eta, result.max_eta);
  tally.max_abs_error = std::max(tally.max_abs_error, result.max_abs);
  tally.max_rel_error = std::max(tally.max_rel_error, result.max_rel);
  add(tally.ranking, result.ranking);
  add(tally.sampled_rows, result.sampled_rows);
  draws_.add(workload.workload.uuid, result.draws);
  if (!result.ok) {
    ++tally.failures;
    reject(verdict, result);
  }
  if (!result.ok)
    return result;
  TrialResult last = result;
  if (check_determinism) {
    note_ulp(workload, report, expected, tally);
    KW_TRY(last, repeat(subject, workload, key, result, saved, expected, verdict));
  }
  constexpr std::uint64_t reseeded_one_in = 8;
  if (last.ok && !result.draws.empty() &&
      (check_determinism || (trials_->coin(key.trial) >> 48) % reseeded_one_in == 0)) {
    KW_TRY(last, reseed(subject, workload, key, result));
  }
  if (!last.ok) {
    ++tally.failures;
    reject(verdict, last);
  }
  return last;
}

/// The same inputs again, differently placed, poisoned and surrounded: not one bit may change.
Result<TrialResult> Judge::repeat(Subject& subject, const BoundWorkload& workload, TrialKey key,
                                  const TrialResult& first,
                                  const std::vector<std::vector<std::byte>>& saved,
                                  const Expected& expected, Verdict& verdict) {
  ++key.poison;
  key.placement =
      key.placement == Placement::end_aligned ? Placement::start_aligned : Placement::end_aligned;
  KW_CHECK(trials_->stage(workload, key));
  KW_TRY(const CallReport report, trials_->call(*subject.arm, definition_.ext.protocol != "cold"));
  // Near-ties that the oracle makes are made anew, where the expectation lay.
  Expected again;
  const bool gone = key.input_class == InputClass::near_ties && report.end == CallEnd::returned &&
                    report.return_code == 0;
  if (gone) {
    KW_TRY(again, trials_->expect(false));
  }
  TrialResult second = trials_->check(report, gone ? again : expected);
  note_placement(key.placement, verdict);
  if (!second.ok) // wrong, broken or dead this time: that says more than "different"
    return second;
  const std::string difference = first_difference(saved, report, workload);
  if (difference.empty() || definition_.ext.threads != 1)
    return first;
  second.ok = false;
  second.finding = Finding::nondeterminism;
  second.detail =
      fmt::format("the same inputs gave two results on {}: {} (other buffer placement, other "
                  "uninitialised memory)",
                  workload.axes_text, difference);
  return second;
}

/// Randomness that does not come from the seed shows as equal draws.
Result<TrialResult> Judge::reseed(Subject& subject, const BoundWorkload& workload, TrialKey key,
                                  const TrialResult& first) {
  key.reseeded = true;
  KW_CHECK(trials_->stage(workload, key));
  KW_TRY(const CallReport report, trials_->call(*subject.arm, definition_.ext.protocol != "cold"));
  Expected expected;
  if (report.end == CallEnd::returned && report.return_code == 0) {
    KW_TRY(expected, trials_->expect(false));
  }
  const TrialResult other = trials_->check(report, expected);
  if (!other.ok)
    return other;
  draws_.add_reseeded(first.draws, other.draws);
  return first;
}

bool Judge::weigh_draws(Verdict& verdict) {
  if (draws_.empty())
    return true;
  verdict.draws = draws_.evidence();
  TrialResult off;
  off.detail = draws_fault(*verdict.draws);
  if (off.detail.empty()) {
    verdict.correctness.details.push_back(draws_sentence(*verdict.draws));
    return true;
  }
  off.finding = Finding::wrong;
  off.remedy = "draw with randomness from the seed, the row and nothing else, and with the "
               "probabilities of the contract";
  reject(verdict, off);
  return false;
}

/// Shapes nobody listed; false when the candidate failed on one.
Result<bool> Judge::verify_hidden(Subject& subject, const GateSize& size, Verdict& verdict) {
  const std::uint64_t first = next_trial_;
  const HiddenShapes hidden =
      hidden_shapes(definition_, workloads_, size.hidden_shapes,
                    [&](std::uint64_t i) { return trials_->coin(~(first + (i << 32))); });
  if (!hidden.why_fewer.empty())
    verdict.correctness.details.push_back(fmt::format("{} of {} hidden shapes: {}",
                                                      hidden.workloads.size(), size.hidden_shapes,
                                                      hidden.why_fewer));
  for (const BoundWorkload& shape : hidden.workloads) {
    WorkloadTrials tally{.uuid = shape.workload.uuid};
    const std::vector<InputClass> classes = classes_of(shape);
    bool ok = true;
    for (std::uint64_t t = 0; t < trials_per_hidden_shape && ok; ++t) {
      if (context_.stop())
        return fail(ErrorKind::interrupted, "verification was interrupted");
      const std::uint64_t coin = trials_->coin(next_trial_);
      const TrialKey key{.trial = next_trial_++,
                         .input_class = classes[coin % classes.size()],
                         .placement =
                             t % 2 == 0 ? Placement::end_aligned : Placement::start_aligned,
                         .poison = static_cast<std::uint32_t>(coin >> 32)};
      KW_TRY(const TrialResult result, verify_one(subject, shape, key, verdict, tally, t == 0));
      ok = result.ok;
    }
    verdict.workloads.push_back(tally);
    if (!ok) {
      AxisVerdict& axis =
          verdict.finding == Finding::sandbox ? verdict.sandbox : verdict.correctness;
      axis.summary += " (a shape that no workload lists)";
      return false;
    }
  }
  return true;
}

Status Judge::verify(Subject& subject, const std::string& gate, Verdict& verdict,
                     const std::vector<std::size_t>& only) {
  verdict.fib = open_fib(fib_rule(definition_));
  KW_CHECK(run_gate(subject, gate, verdict, only));
  return complete_fib(subject, verdict);
}

Status Judge::run_gate(Subject& subject, const std::string& gate, Verdict& verdict,
                       const std::vector<std::size_t>& only) {
  KW_ASSERT(subject.loaded());
  KW_TRY(const GateSize size, gate_size(gate));
  verdict.gate = gate;
  const std::vector<std::size_t> order = chosen_by_cost(workloads_, only, size);
  std::vector<double> weights;
  for (const std::size_t i : order)
    weights.push_back(workloads_[i].workload.weight);
  const std::vector<std::uint64_t> share =
      size.each ? std::vector<std::uint64_t>(order.size(), size.trials)
                : allocate_trials(size.trials, weights);
  const std::vector<std::size_t> ranked = with_near_ties(workloads_, order);
  const std::uint64_t least_mined = std::max(size.mined, ranked.empty() ? 0 : size.mined_ranked);
  const std::uint64_t total = std::accumulate(share.begin(), share.end(), least_mined);

  verdict.workloads.clear();
  draws_ = {};
  if (size.hidden_shapes > 0)
    verdict.exercise = Exercise{};
  // Only what this gate visits, in the definition's order: a replay visits the same.
  std::vector<std::size_t> tally(workloads_.size());
  for (std::size_t i = 0; i < workloads_.size(); ++i)
    if (std::find(order.begin(), order.end(), i) != order.end()) {
      tally[i] = verdict.workloads.size();
      verdict.workloads.push_back({.uuid = workloads_[i].workload.uuid});
    }
  std::uint64_t done = 0;
  Strains strains;
  const auto one = [&](std::size_t i, InputClass input_class,
                       bool check_determinism) -> Result<bool> {
    if (context_.stop())
      return fail(ErrorKind::interrupted, "verification was interrupted");
    context_.progress("verify", done, total);
    TrialKey key;
    key.trial = next_trial_++;
    key.input_class = input_class;
    key.placement = done++ % 2 == 0 ? Placement::end_aligned : Placement::start_aligned;
    key.poison = static_cast<std::uint32_t>(key.trial);
    KW_TRY(const TrialResult result, verify_one(subject, workloads_[i], key, verdict,
                                                verdict.workloads[tally[i]], check_determinism));
    strains.note(i, input_class, result.strain);
    return result.ok;
  };
  for (std::size_t place = 0; place < order.size(); ++place) {
    const std::vector<InputClass> classes = classes_of(workloads_[order[place]]);
    // Start at a secret place in the rotation, so that few trials do not always mean `normal`.
    const std::uint64_t offset = trials_->coin(next_trial_);
    for (std::uint64_t t = 0; t < share[place]; ++t) {
      KW_TRY(const bool ok, one(order[place], classes[(offset + t) % classes.size()], t == 0));
      if (!ok)
        return {};
    }
  }
  if (only.empty() && size.hidden_shapes > 0) {
    KW_TRY(const bool ok, verify_hidden(subject, size, verdict));
    if (!ok)
      return {};
  }
  const std::vector<Strains::Place> hardest = strains.greatest(most_mined_places);
  const std::uint64_t mined =
      std::max(least_mined, hardest.front().strain > strained ? size.mined_strained : 0);
  for (std::uint64_t t = 0; t < mined; ++t) {
    // A ranking has no error that could come near to a bound; its inputs have near-ties.
    const Strains::Place& at = hardest[t % hardest.size()];
    KW_TRY(const bool ok, ranked.empty()
                              ? one(at.workload, at.input_class, false)
                              : one(ranked[t % ranked.size()], InputClass::near_ties, false));
    if (!ok)
      return {};
  }
  if (only.empty() && size.hidden_shapes > 0) {
    KW_TRY(const bool ok, weigh_precision(subject, verdict));
    if (!ok)
      return {};
  }
  if (!weigh_draws(verdict))
    return {};
  if (std::string ranking = ranking_sentence(verdict.workloads); !ranking.empty())
    verdict.correctness.details.push_back(std::move(ranking));
  for (const WorkloadTrials& tried : verdict.workloads)
    if (tried.sampled_rows)
      verdict.correctness.details.push_back(row_sentence(*tried.sampled_rows));
  verdict.correctness.outcome = Outcome::pass;
  verdict.failure_rate_bound = size.evidence ? failure_rate_bound(verdict.trials, 0.95) : 1;
  verdict.correctness.summary =
      !size.evidence
          ? fmt::format("{} trials clean (smoke: feedback, not evidence)", verdict.trials)
          : fmt::format("{} trials clean over {} workload{}: failure rate < {:.2f} % at 95 %",
                        verdict.trials, verdict.workloads.size(),
                        verdict.workloads.size() == 1 ? "" : "s", 100 * verdict.failure_rate_bound);
  return {};
}

} // namespace kw
