// SPDX-License-Identifier: Apache-2.0
#include "judge/trial.hpp"

#include "judge/mismatch.hpp"
#include "judge/selected.hpp"
#include "judge/stopwatch.hpp"
#include "os/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <mutex>

namespace kw {
namespace {

/// Below this many elements a second thread costs more than it saves. Even, for two to a byte.
constexpr std::int64_t elements_per_thread = 1 << 17;

/// Whole rows of about so many elements: what rows that nobody names repeat.
std::int64_t repeated_rows(const BoundReach& reach) {
  constexpr std::int64_t elements = 1 << 20;
  const std::int64_t rows = std::max<std::int64_t>(1, elements / reach.row);
  return rows * reach.row % 2 == 0 ? rows * reach.row : 2 * rows * reach.row;
}

/// Scalars have the streams from 1000 on.
constexpr std::size_t reseeded_streams = 2000;

bool one_signed(InputClass c) {
  return c == InputClass::uniform || c == InputClass::offset;
}

/// Inputs with a class list that lacks the trial's class fall back to `normal`.
InputClass class_for(const BoundInput& input, InputClass wanted) {
  if (std::find(input.classes.begin(), input.classes.end(), wanted) != input.classes.end())
    return wanted;
  return input.classes.empty() ? InputClass::normal : input.classes.front();
}

/// The oracle's outputs are doubles on whole pages or their ends: aligned.
std::span<const double> as_doubles(std::span<const std::byte> bytes) {
  KW_ASSERT(reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(double) == 0);
  return {reinterpret_cast<const double*>(bytes.data()), bytes.size() / sizeof(double)};
}

std::string end_sentence(const CallReport& report) {
  switch (report.end) {
  case CallEnd::crashed:
    return "the kernel crashed: " + report.detail;
  case CallEnd::violation:
    return "the kernel made a forbidden system call: " + report.detail;
  case CallEnd::exited:
    return "the process ended before the call was done: " + report.detail;
  case CallEnd::timed_out:
    return "the call did not return: " + report.detail;
  case CallEnd::returned:
    break;
  }
  return {};
}

std::string end_remedy(CallEnd end) {
  switch (end) {
  case CallEnd::crashed:
    return "check the bounds of every index against the axes of this workload, remainders and "
           "sizes of 1 first";
  case CallEnd::violation:
    return "a kernel computes and nothing else: scratch by kw_workspace, threads by "
           "kw_parallel_for (kernwright.h)";
  case CallEnd::exited:
    return "return from the entry function: 0 when done, non-zero for a shape outside the contract";
  case CallEnd::timed_out:
    return "look for a loop that does not end on this workload; the limit is 2 s plus the time a "
           "hopelessly slow kernel needs";
  case CallEnd::returned:
    break;
  }
  return {};
}

Finding end_finding(CallEnd end) {
  switch (end) {
  case CallEnd::crashed:
    return Finding::crash;
  case CallEnd::violation:
    return Finding::sandbox;
  case CallEnd::exited:
    return Finding::protocol;
  case CallEnd::timed_out:
    return Finding::resource;
  case CallEnd::returned:
    break;
  }
  return Finding::none;
}

} // namespace

std::uint64_t TrialRunner::canary() const {
  std::uint64_t key = 0;
  std::memcpy(&key, seed_.data() + 8, sizeof key);
  key ^= (key_.trial + 1) * 0x9e3779b97f4a7c15ULL;
  return key;
}

std::uint64_t TrialRunner::coin(std::uint64_t trial) const {
  std::uint64_t low = 0, high = 0;
  std::memcpy(&low, seed_.data(), sizeof low);
  std::memcpy(&high, seed_.data() + 8, sizeof high);
  // splitmix64 finaliser over both halves: unpredictable without the seed.
  std::uint64_t z = low + (trial + 1) * 0x9e3779b97f4a7c15ULL;
  for (int i = 0; i < 2; ++i) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    z ^= (z >> 31) ^ high;
  }
  return z;
}

std::chrono::milliseconds TrialRunner::call_limit(const BoundWorkload& workload) {
  // 2 s for anything small; a kernel at 0.1 GFLOP/s or 10 MB/s is hopeless, not hung.
  const double ms =
      2000 + workload.flops / 1e5 + (workload.bytes_read + workload.bytes_written) / 1e4;
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::min(ms, 600'000.0)));
}

void TrialRunner::draw_input(const BoundInput& input, std::uint32_t index,
                             std::span<std::byte> to) {
  const InputClass cls = class_for(input, key_.input_class);
  if (input.hold || input.reach) {
    const HeldDraw draw{.spec = input.draw,
                        .base = class_for(input, InputClass::normal),
                        .cls = cls,
                        .seed = seed_,
                        .trial = key_.trial,
                        .tensor = index,
                        .period = input.reach ? repeated_rows(*input.reach) : 0};
    std::vector<HeldRun> runs = input.hold ? held_runs(input.draw, seed_, key_.trial, index)
                                           : reached_runs(staged_indices(input.reach->input),
                                                          input.reach->rows, input.reach->row);
    return held_[index].fill(draw, std::move(runs), workers_, to);
  }
  std::int64_t elements = 1;
  for (const std::int64_t extent : input.draw.shape)
    elements *= extent;
  parallel_ranges(workers_, elements, elements_per_thread,
                  [&](std::int64_t begin, std::int64_t end) {
                    draw_range(input.draw, cls, seed_, key_.trial, index, begin, end - begin,
                               to.subspan(byte_size(input.draw.dtype, begin)));
                  });
}

std::vector<std::int64_t> TrialRunner::staged_indices(std::size_t input) const {
  const std::span<const std::byte> bytes = staged_[input];
  std::vector<std::int64_t> out;
  const auto read = [&]<typename T>(T) {
    out.resize(bytes.size() / sizeof(T));
    for (std::size_t i = 0; i < out.size(); ++i) {
      T index = 0;
      std::memcpy(&index, bytes.data() + i * sizeof(T), sizeof(T));
      out[i] = index;
    }
  };
  if (workload_->inputs[input].draw.dtype == DType::int64)
    read(std::int64_t{});
  else
    read(std::int32_t{});
  return out;
}

Status TrialRunner::stage(const BoundWorkload& workload, const TrialKey& key) {
  const Stopwatch watch(costs_["generate"]);
  workload_ = &workload;
  key_ = key;
  input_bytes_.clear();
  for (const BoundInput& input : workload.inputs)
    input_bytes_.push_back(input.bytes);
  const auto reseeded = [&](std::size_t i) {
    return key.reseeded && std::ranges::any_of(workload.outputs, [&](const BoundOutput& o) {
             return o.sampling && o.sampling->seed == i;
           });
  };
  KW_TRY(staged_, session_.stage(input_bytes_, key.placement, canary()));
  for (const bool by_rows : {false, true}) // after the indices that name the rows
    for (std::size_t i = 0; i < staged_.size(); ++i) {
      const BoundInput& input = workload.inputs[i];
      if (input.reach.has_value() != by_rows)
        continue;
      if (!input.fixed.empty())
        std::memcpy(staged_[i].data(), input.fixed.data(), input.fixed.size());
      else
        draw_input(input, static_cast<std::uint32_t>(i + (reseeded(i) ? reseeded_streams : 0)),
                   staged_[i]);
    }
  scalars_.clear();
  for (std::size_t i = 0; i < workload.scalars.size(); ++i) {
    const BoundScalar& scalar = workload.scalars[i];
    double value = scalar.value.value_or(0);
    if (!scalar.value) {
      float drawn = 0;
      DrawSpec spec{.dtype = DType::float32,
                    .shape = {1},
                    .kind = "uniform",
                    .low = scalar.low,
                    .high = scalar.high};
      draw(spec, InputClass::uniform, seed_, key.trial, static_cast<std::uint32_t>(1000 + i),
           std::as_writable_bytes(std::span(&drawn, 1)));
      value = is_float(scalar.dtype) ? static_cast<double>(drawn)
                                     : std::floor(static_cast<double>(drawn));
    }
    scalars_.push_back(value);
  }
  return key.input_class == InputClass::near_ties ? make_near_ties() : Status{};
}

std::vector<Argument> TrialRunner::arguments() const {
  std::vector<Argument> filled = workload_->arguments;
  for (Argument& a : filled) {
    const bool scalar = a.kind == Argument::Kind::float32 || a.kind == Argument::Kind::float64 ||
                        (a.kind == Argument::Kind::integer && a.index < scalars_.size());
    if (!scalar)
      continue;
    a.real = scalars_[a.index];
    if (a.kind == Argument::Kind::integer)
      a.integer = static_cast<std::int64_t>(scalars_[a.index]);
  }
  return filled;
}

Result<CallReport> TrialRunner::call(Arm& arm, bool warm, bool timed) {
  const Stopwatch watch(costs_["call"]);
  Invocation invocation;
  for (const BoundOutput& output : workload_->outputs)
    invocation.output_bytes.push_back(output.bytes);
  invocation.arguments = arguments();
  invocation.placement = key_.placement;
  invocation.poison = key_.poison;
  invocation.canary_key = canary();
  invocation.warm = warm;
  invocation.evict = timed && !warm;
  invocation.measure_delay = timed;
  // Secret, and the same for all arms of a slot.
  constexpr std::uint64_t one_in = 8;
  invocation.watch = (coin(key_.trial) >> 40) % one_in == 0;
  invocation.timeout = call_limit(*workload_);
  KW_TRY(CallReport report, arm.call(invocation));
  costs_["kernel"] += report.ns / 1e6;
  return report;
}

bool TrialRunner::may_sample(double limit) const {
  return workload_->flops > limit && can_sample(*workload_, oracle_);
}

Result<CallReport> TrialRunner::call_oracle(std::size_t entry, std::vector<Argument> arguments,
                                            std::vector<std::size_t> output_bytes) {
  Invocation invocation;
  invocation.entry = entry;
  invocation.output_bytes = std::move(output_bytes);
  invocation.arguments = std::move(arguments);
  invocation.placement = Placement::start_aligned; // one layout per workload
  invocation.canary_key = canary();
  invocation.warm = false;
  invocation.timeout = std::chrono::minutes(10);
  KW_TRY(CallReport report, oracle_arm_.call(invocation));
  if (report.end != CallEnd::returned || report.return_code != 0)
    return fail(ErrorKind::infrastructure,
                fmt::format("the oracle failed on workload {} ({}): {}", workload_->workload.uuid,
                            workload_->axes_text,
                            report.end != CallEnd::returned
                                ? end_sentence(report)
                                : fmt::format("it returned {}", report.return_code)),
                "the operator's reference must handle every workload; run `kernwright check --run` "
                "on its folder");
  return report;
}

Result<Expected> TrialRunner::expect(bool timed) {
  if (may_sample(timed ? full_oracle_flops_timed : full_oracle_flops))
    return expect_sampled();
  const Stopwatch watch(costs_["oracle"]);
  std::vector<Argument> passed;
  std::vector<std::size_t> output_bytes;
  for (const Argument& a : arguments()) {
    if (a.kind != Argument::Kind::output) {
      passed.push_back(a);
      continue;
    }
    for (const std::size_t bytes : oracle_bytes(workload_->outputs[a.index], oracle_.magnitudes)) {
      passed.push_back({.kind = Argument::Kind::output, .index = output_bytes.size()});
      output_bytes.push_back(bytes);
    }
  }
  KW_TRY(const CallReport report, call_oracle(0, std::move(passed), std::move(output_bytes)));
  Expected expected;
  std::size_t at = 0;
  for (const BoundOutput& output : workload_->outputs) {
    Expected::Tensor& tensor = expected.outputs.emplace_back();
    if (output.selection) {
      tensor.ids = as_doubles(report.outputs[at++]);
      tensor.scores = as_doubles(report.outputs[at++]);
      tensor.magnitude = as_doubles(report.outputs[at++]);
      tensor.chosen = chosen_of(output, tensor);
      tensor.y = *tensor.chosen;
      continue;
    }
    tensor.y = as_doubles(report.outputs[at++]);
    if (oracle_.magnitudes)
      tensor.magnitude = as_doubles(report.outputs[at++]);
  }
  return expected;
}

Bound TrialRunner::bound_for(const BoundOutput& output, const Expected::Tensor& expected,
                             bool magnitudes) const {
  const TolerancePolicy& t = output.tolerance;
  Bound bound;
  bound.exact = t.exact;
  bound.eta = magnitudes || !expected.magnitude.empty() ? t.eta : 0;
  if (t.eta_one_signed_sqrt_k > 0 && one_signed(key_.input_class))
    bound.eta = std::max(bound.eta, 4 + t.eta_one_signed_sqrt_k * std::sqrt(output.reduction));
  bound.u_out = unit_roundoff(output.dtype);
  bound.u_acc = unit_roundoff(t.accumulate);
  bound.rtol = t.rtol;
  bound.atol = t.atol_rms > 0 ? t.atol_rms * rms(expected.y) : 0;
  if (bound.eta == 0 && bound.rtol == 0 && bound.atol == 0 && !bound.exact) {
    const TolerancePolicy fallback = default_tolerance(output.dtype);
    bound.rtol = fallback.rtol;
    bound.atol = fallback.atol_rms * rms(expected.y);
    bound.exact = fallback.exact;
  }
  return bound;
}

/// A clean output is the rule: ranges are compared side by side, and only where one of them has
/// something to say is the whole compared again, for the place and pattern of what is wrong.
CompareResult TrialRunner::compare_all(const BoundOutput& output, std::span<const std::byte> got,
                                       const Expected::Tensor& expected, const Bound& bound) const {
  std::mutex mutex;
  CompareResult all;
  all.elements = expected.y.size();
  parallel_ranges(
      workers_, static_cast<std::int64_t>(all.elements), elements_per_thread,
      [&](std::int64_t begin, std::int64_t end) {
        const auto at = static_cast<std::size_t>(begin), n = static_cast<std::size_t>(end - begin);
        const CompareResult part = compare(
            output.dtype, got.subspan(byte_size(output.dtype, begin)), expected.y.subspan(at, n),
            expected.magnitude.empty() ? expected.magnitude : expected.magnitude.subspan(at, n),
            bound, output.row);
        const std::lock_guard lock(mutex);
        all.bad += part.bad;
        all.max_abs = std::max(all.max_abs, part.max_abs);
        all.max_rel = std::max(all.max_rel, part.max_rel);
        all.max_eta = std::max(all.max_eta, part.max_eta);
      });
  return all.bad == 0
             ? all
             : compare(output.dtype, got, expected.y, expected.magnitude, bound, output.row);
}

TrialResult TrialRunner::check(const CallReport& report, const Expected& expected,
                               double slack) const {
  TrialResult result;
  result.ns = report.ns;
  result.cpu_ns = report.cpu_ns;
  result.accounted_ns = report.accounted_ns;
  if (report.end != CallEnd::returned) {
    result.finding = end_finding(report.end);
    result.detail = end_sentence(report);
    result.remedy = end_remedy(report.end);
    result.worth_recheck = true;
    return result;
  }
  if (report.return_code != 0) {
    result.finding = Finding::protocol;
    result.detail =
        fmt::format("the kernel returned {} (shape refused) on {}, which is inside the contract",
                    report.return_code, workload_->axes_text);
    return result;
  }
  if (!report.canaries_intact || !report.inputs_intact || !report.cpu_state_intact ||
      !report.stable_after_done) {
    result.finding = Finding::state;
    result.detail = report.state_detail;
    return result;
  }
  // First, since it can name both elements of a wrong choice. The values that belong to it are held
  // against the oracle as well, below.
  for (std::size_t i = 0; i < workload_->outputs.size(); ++i)
    if ((workload_->outputs[i].ranking && !check_ranked(i, report, expected, result)) ||
        (workload_->outputs[i].sampling && !check_sampling(i, report, result)) ||
        (workload_->outputs[i].selection && !check_selected(i, report, expected, slack, result)))
      return result;
  for (std::size_t i = 0; i < workload_->outputs.size(); ++i) {
    const BoundOutput& output = workload_->outputs[i];
    if (output.has_many_answers())
      continue;
    Bound bound = bound_for(output, expected.outputs[i], expected.sampled.has_value());
    bound.eta *= slack, bound.rtol *= slack, bound.atol *= slack;
    const CompareResult c =
        expected.sampled ? compare_sampled(output, report.outputs[i], *expected.sampled, bound)
                         : compare_all(output, report.outputs[i], expected.outputs[i], bound);
    if (bound.eta > 0)
      result.strain = std::max(result.strain, c.max_eta / bound.eta);
    else if (bound.rtol > 0)
      result.strain = std::max(result.strain, c.max_rel / bound.rtol);
    result.max_eta = std::max(result.max_eta, c.max_eta);
    result.max_abs = std::max(result.max_abs, c.max_abs);
    result.max_rel = std::max(result.max_rel, c.max_rel);
    if (expected.sampled)
      result.sampled_rows = row_evidence(output, *expected.sampled);
    if (c.bad == 0)
      continue;
    // Nobody reads where a null solution of the task lint is wrong.
    const std::span<const double> want =
        slack == 1 ? expected.outputs[i].y : std::span<const double>{};
    Mismatch m = describe_mismatch(output, report.outputs[i], want, c, key_.poison);
    m.workload = workload_->workload.uuid;
    m.input_class = std::string(name(key_.input_class));
    m.trial = key_.trial;
    result.finding = Finding::wrong;
    result.detail = mismatch_detail(m, workload_->axes_text);
    result.mismatch = std::move(m);
    return result;
  }
  result.ok = true;
  return result;
}

} // namespace kw
