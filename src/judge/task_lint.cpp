// SPDX-License-Identifier: Apache-2.0
#include "judge/task_lint.hpp"

#include "judge/drawn.hpp"
#include "judge/ranked.hpp"
#include "tensor/convert.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <map>

namespace kw {
namespace {

using Bytes = std::vector<std::byte>;

/// Oracle values that outlive the oracle's next call, and what an ideal kernel would store.
struct Answer {
  std::vector<std::vector<double>> y, magnitude, ids, scores;
  std::vector<Bytes> stored;

  void add(const Expected::Tensor& t) {
    y.emplace_back(t.y.begin(), t.y.end());
    magnitude.emplace_back(t.magnitude.begin(), t.magnitude.end());
    ids.emplace_back(t.ids.begin(), t.ids.end());
    scores.emplace_back(t.scores.begin(), t.scores.end());
  }
  [[nodiscard]] Expected expected() const {
    Expected out;
    for (std::size_t o = 0; o < y.size(); ++o)
      out.outputs.push_back(
          {.y = y[o], .magnitude = magnitude[o], .ids = ids[o], .scores = scores[o]});
    return out;
  }
};

struct State {
  NullSolution null;
  NullOutcome outcome;
  DrawTally draws; ///< of outputs drawn at random, where each alone was right
};

bool replaces_input(NullKind kind) {
  return kind == NullKind::narrow_inputs || kind == NullKind::input_of_zeros ||
         kind == NullKind::input_of_ones;
}

double mean_of(std::span<const double> y) {
  double sum = 0;
  for (const double v : y)
    sum += v / static_cast<double>(y.size());
  return sum;
}

class Lint {
 public:
  Lint(TrialRunner& trials, const LintOptions& options) : trials_(trials), options_(options) {}

  Result<TaskLint> run(std::vector<const BoundWorkload*> cheapest_first);

 private:
  Status ask(const BoundWorkload& workload);
  Status one_trial(const BoundWorkload& workload, InputClass input_class);
  Result<Answer> answer(const BoundWorkload& workload);
  Result<Answer> falsified(const BoundWorkload& workload, const NullSolution& null);
  Status hold(State& state, const BoundWorkload& workload, const Answer& right);
  void hold_constant(State& state, const BoundWorkload& workload, const Answer& right);
  void settle(State& state, const std::vector<Bytes>& outputs, const Answer& right);
  [[nodiscard]] TrialResult checked(const std::vector<Bytes>& outputs, const Answer& right,
                                    double slack) const;
  [[nodiscard]] bool passes(const std::vector<Bytes>& outputs, const Answer& right,
                            double slack) const;
  [[nodiscard]] double margin(const std::vector<Bytes>& outputs, const Answer& right) const;
  void meet(const BoundWorkload& workload);
  [[nodiscard]] bool told() const {
    return std::all_of(states_.begin(), states_.end(),
                       [](const State& s) { return s.outcome.fails; });
  }
  [[nodiscard]] double elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  }

  TrialRunner& trials_;
  const LintOptions& options_;
  TaskLint lint_;
  std::vector<State> states_;
  std::map<std::size_t, ConstantRange> constants_; ///< by output, over all workloads
  std::optional<Answer> twin_; ///< of the trial before, if it had the same workload and class
  bool out_of_time_ = false;
  std::uint64_t next_trial_ = 0;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

/// Null solutions that an earlier workload gave no room for join here (a copy needs as many
/// elements).
void Lint::meet(const BoundWorkload& workload) {
  for (const NullSolution& null : null_solutions(workload))
    if (std::none_of(states_.begin(), states_.end(),
                     [&](const State& s) { return s.null == null; }))
      states_.push_back(
          {.null = null,
           .outcome = {.null = describe(null, workload), .remedy = remedy(null, workload)}});
}

Result<Answer> Lint::answer(const BoundWorkload& workload) {
  if (options_.stop())
    return fail(ErrorKind::interrupted, "the lint was interrupted");
  ++lint_.oracle_calls;
  KW_TRY(const Expected expected, trials_.expect(false));
  Answer out;
  for (std::size_t o = 0; o < workload.outputs.size(); ++o) {
    out.add(expected.outputs[o]);
    from_double(workload.outputs[o].dtype, out.y[o],
                out.stored.emplace_back(workload.outputs[o].bytes));
  }
  return out;
}

/// The oracle on inputs that were tampered with; the staged inputs are as before afterwards.
Result<Answer> Lint::falsified(const BoundWorkload& workload, const NullSolution& null) {
  std::vector<std::pair<std::size_t, Bytes>> kept;
  for (std::size_t i = 0; i < workload.inputs.size(); ++i) {
    const DType dtype = workload.inputs[i].draw.dtype;
    const bool narrowed = null.kind == NullKind::narrow_inputs;
    if (narrowed ? dtype != null.dtype : i != null.input)
      continue;
    const std::span<std::byte> staged = trials_.staged(i);
    kept.emplace_back(i, Bytes(staged.begin(), staged.end()));
    if (narrowed)
      narrow(dtype, null.bits, staged);
    else
      fill(dtype, null.kind == NullKind::input_of_ones ? 1 : 0, staged);
  }
  Result<Answer> out = answer(workload);
  for (const auto& [i, bytes] : kept)
    std::copy(bytes.begin(), bytes.end(), trials_.staged(i).begin());
  return out;
}

TrialResult Lint::checked(const std::vector<Bytes>& outputs, const Answer& right,
                          double slack) const {
  CallReport report;
  report.outputs.assign(outputs.begin(), outputs.end());
  return trials_.check(report, right.expected(), slack);
}

bool Lint::passes(const std::vector<Bytes>& outputs, const Answer& right, double slack) const {
  return checked(outputs, right, slack).ok;
}

/// The least widening at which all outputs pass, to within 10 %; 0 for what is right to the last
/// bit.
double Lint::margin(const std::vector<Bytes>& outputs, const Answer& right) const {
  double low = 0x1p-20, high = lint_.margin;
  if (passes(outputs, right, low))
    return 0;
  while (high > 1.1 * low) {
    const double middle = std::sqrt(low * high);
    (passes(outputs, right, middle) ? high : low) = middle;
  }
  return high;
}

void Lint::settle(State& state, const std::vector<Bytes>& outputs, const Answer& right) {
  const TrialResult result = checked(outputs, right, lint_.margin);
  state.draws.add("", result.draws);
  if (!result.ok || !draws_fault(state.draws.evidence()).empty())
    state.outcome.fails = true;
  else
    state.outcome.margin = std::max(state.outcome.margin, margin(outputs, right));
}

void Lint::hold_constant(State& state, const BoundWorkload& workload, const Answer& right) {
  const std::size_t o = state.null.output;
  const BoundOutput& output = workload.outputs[o];
  // Any constant is a place or an id that appears twice, or draws that do not vary.
  if (output.sampling || output.selection || (output.ranking && output.row > 1)) {
    std::vector<Bytes> outputs = right.stored;
    fill(output.dtype, right.y[o].empty() ? 0 : right.y[o].front(), outputs[o]);
    return settle(state, outputs, right);
  }
  ConstantRange& range = constants_[o];
  const Expected expected = right.expected();
  const Bound bound = trials_.bound_for(output, expected.outputs[o], false);
  if (output.ranking)
    range.add(bound, output.dtype,
              only_answers(workload, o, trials_.staged(output.ranking->input), right.y[o]), {});
  else
    range.add(bound, output.dtype, right.y[o], right.magnitude[o]);
  const std::optional<double> least = range.margin();
  state.outcome.fails = !least || *least > lint_.margin;
  state.outcome.margin = least.value_or(lint_.margin);
  state.outcome.null =
      fmt::format("the constant {:.6g} as `{}`", range.constant(), workload.outputs[o].name);
  if (state.outcome.fails)
    state.outcome.null = describe(state.null, workload);
}

Status Lint::hold(State& state, const BoundWorkload& workload, const Answer& right) {
  const NullSolution& null = state.null;
  if (null.kind == NullKind::constant) {
    hold_constant(state, workload, right);
    return {};
  }
  if (replaces_input(null.kind)) {
    KW_TRY(const Answer other, falsified(workload, null));
    settle(state, other.stored, right);
    return {};
  }
  const BoundOutput& output = workload.outputs[null.output];
  std::vector<double> y = right.y[null.output];
  if (null.kind == NullKind::zeros) {
    std::fill(y.begin(), y.end(), 0.0);
  } else if (null.kind == NullKind::output_mean) {
    std::fill(y.begin(), y.end(), mean_of(y));
  } else if (null.kind == NullKind::trial_mean) {
    if (!twin_)
      return {};
    for (std::size_t i = 0; i < y.size(); ++i)
      y[i] = y[i] / 2 + twin_->y[null.output][i] / 2;
  } else {
    to_double(workload.inputs[null.input].draw.dtype, trials_.staged(null.input), y);
  }
  std::vector<Bytes> outputs = right.stored;
  from_double(output.dtype, y, outputs[null.output]);
  settle(state, outputs, right);
  return {};
}

Status Lint::one_trial(const BoundWorkload& workload, InputClass input_class) {
  TrialKey key;
  key.trial = next_trial_++;
  key.input_class = input_class;
  KW_CHECK(trials_.stage(workload, key));
  KW_TRY(Answer right, answer(workload));
  ++lint_.trials;
  if (lint_.nulls.empty() && !passes(right.stored, right, 1))
    lint_.nulls.push_back(
        {.null = "the oracle's own answer, rounded to the output type",
         .detail = fmt::format("it fails the check on {} (inputs: {}), so no kernel can pass",
                               workload.axes_text, name(input_class)),
         .remedy = "loosen the tolerance: it is tighter than storing the exact answer"});
  for (State& state : states_) {
    if (state.outcome.fails)
      continue;
    if (elapsed() > options_.seconds) {
      out_of_time_ = true;
      return {};
    }
    const std::vector<NullSolution> possible = null_solutions(workload);
    if (std::find(possible.begin(), possible.end(), state.null) != possible.end())
      KW_CHECK(hold(state, workload, right));
  }
  twin_ = std::move(right);
  return {};
}

Status Lint::ask(const BoundWorkload& workload) {
  lint_.workloads.push_back(workload.axes_text);
  lint_.margin = lint_margin(workload);
  meet(workload);
  for (const InputClass input_class : classes_of(workload)) {
    if (input_class == InputClass::specials || input_class == InputClass::max_finite)
      continue;
    twin_.reset();
    for (int again = 0; again < 2; ++again) {
      KW_CHECK(one_trial(workload, input_class));
      if (told() || out_of_time_)
        return {};
    }
  }
  return {};
}

Result<TaskLint> Lint::run(std::vector<const BoundWorkload*> cheapest_first) {
  for (const BoundWorkload* workload : cheapest_first) {
    if (lint_.workloads.size() == options_.workloads || out_of_time_)
      break;
    KW_CHECK(ask(*workload));
    if (told())
      break;
    const auto left = std::count_if(states_.begin(), states_.end(),
                                    [](const State& s) { return !s.outcome.fails; });
    if (!out_of_time_)
      lint_.notes.push_back(
          fmt::format("{}: {} of {} null solutions were not told from right answers",
                      workload->axes_text, left, states_.size()));
  }
  bool invalid = !lint_.nulls.empty();
  for (State& s : states_) {
    if (!s.outcome.fails) {
      const std::string where = lint_.workloads.size() == 1
                                    ? lint_.workloads.front()
                                    : fmt::format("{} workloads", lint_.workloads.size());
      s.outcome.detail =
          s.outcome.margin <= 1
              ? fmt::format("passes the check in all {} trials on {}", lint_.trials, where)
              : fmt::format(
                    "fails by {:.2g}x the bound at most in {} trials on {}; {}x is asked for",
                    s.outcome.margin, lint_.trials, where, lint_.margin);
      invalid = invalid || !out_of_time_;
    }
    lint_.nulls.push_back(std::move(s.outcome));
  }
  if (out_of_time_)
    lint_.notes.push_back(
        fmt::format("stopped after {:.0f} s: add a smaller workload, or give more "
                    "time with --seconds",
                    elapsed()));
  lint_.word = invalid ? "INVALID" : out_of_time_ ? "UNDECIDED" : "VALID";
  lint_.seconds = elapsed();
  return std::move(lint_);
}

} // namespace

Result<TaskLint> lint_task(TrialRunner& trials, const std::vector<BoundWorkload>& workloads,
                           const LintOptions& options) {
  std::vector<const BoundWorkload*> chosen;
  for (const BoundWorkload& w : workloads)
    if (w.timed && w.flops <= full_oracle_flops) // not a twin; above that the oracle samples
      chosen.push_back(&w);
  if (chosen.empty())
    return TaskLint{
        .word = "UNDECIDED",
        .notes = {"every workload is above 20 GFLOP, where the oracle only samples: add a "
                  "smaller one"}};
  std::stable_sort(chosen.begin(), chosen.end(),
                   [&](const BoundWorkload* a, const BoundWorkload* b) {
                     if (is_contested(*a) != is_contested(*b)) // where all is taken little matters
                       return is_contested(*a);
                     return cost(*a) < cost(*b);
                   });
  return Lint(trials, options).run(std::move(chosen));
}

} // namespace kw
