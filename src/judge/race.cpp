// SPDX-License-Identifier: Apache-2.0
#include "judge/race.hpp"

#include "judge/windows.hpp"
#include "stats/robust.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace kw {
namespace {

/// Classes whose speed is ordinary on both arms: no denormals (microcode assists) and no specials.
constexpr InputClass timed_classes[] = {InputClass::normal,     InputClass::uniform,
                                        InputClass::row_scales, InputClass::normal,
                                        InputClass::heavy_tail, InputClass::sparse,
                                        InputClass::normal,     InputClass::small_integers};

} // namespace

Race::Race(TrialRunner& trials, const std::vector<BoundWorkload>& workloads,
           std::vector<Contestant> contestants, RaceOptions options, double least_window_ns,
           std::uint64_t& next_trial, std::function<bool()> stop)
    : trials_(trials), workloads_(workloads), contestants_(std::move(contestants)),
      options_(std::move(options)), least_window_ns_(least_window_ns), next_trial_(next_trial),
      stop_(std::move(stop)) {
  chosen_ = options_.workloads;
  if (chosen_.empty())
    for (std::size_t i = 0; i < workloads_.size(); ++i)
      if (workloads_[i].timed)
        chosen_.push_back(i);
  accounted_ns_.assign(contestants_.size(), 0);
  cpu_ns_.assign(contestants_.size(), 0);
  cpu_shares_.resize(contestants_.size());
}

Result<bool> Race::slot(std::size_t workload, std::vector<double>& ns, RoundOutcome& outcome) {
  if (stop_())
    return fail(ErrorKind::interrupted, "timing was interrupted");
  TrialKey key;
  key.trial = next_trial_++;
  const std::uint64_t coin = trials_.coin(key.trial);
  key.input_class = timed_classes[coin % std::size(timed_classes)];
  key.placement = (coin >> 8) & 1 ? Placement::start_aligned : Placement::end_aligned;
  key.poison = static_cast<std::uint32_t>(key.trial);
  KW_CHECK(trials_.stage(workloads_[workload], key));

  std::vector<std::size_t> order(contestants_.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::uint64_t shuffle = coin >> 16;
  for (std::size_t i = order.size(); i > 1; --i, shuffle /= 7)
    std::swap(order[i - 1], order[shuffle % i]);

  std::vector<CallReport> reports(contestants_.size());
  for (const std::size_t i : order) {
    KW_TRY(reports[i], trials_.call(*contestants_[i].arm, options_.warm, true));
    delay_ns_ += reports[i].delay_ns;
    if (reports[i].end != CallEnd::returned)
      break; // no time to compare with; the check below turns it into a finding
  }
  KW_TRY(const Expected expected, trials_.expect(true));
  for (std::size_t i = 0; i < contestants_.size(); ++i) {
    if (reports[i].end == CallEnd::returned && reports[i].outputs.empty())
      continue; // never called: an earlier arm died
    TrialResult result;
    if (contestants_[i].checked || reports[i].end != CallEnd::returned)
      result = trials_.check(reports[i], expected);
    else
      result = {.ok = true,
                .ns = reports[i].ns,
                .cpu_ns = reports[i].cpu_ns,
                .accounted_ns = reports[i].accounted_ns};
    if (!result.ok && contestants_[i].trusted)
      return fail(ErrorKind::infrastructure,
                  fmt::format("trusted arm `{}` failed its own trial: {}", contestants_[i].name,
                              result.detail),
                  "correct the baseline or peer, or widen the definition's tolerance");
    if (!result.ok) {
      outcome.failed = i;
      outcome.failure = result;
      return false;
    }
    ns[i] += result.ns;
    accounted_ns_[i] += result.accounted_ns;
    cpu_ns_[i] += result.cpu_ns;
  }
  ++outcome.calls;
  return true;
}

Result<RoundOutcome> Race::warm_up() {
  RoundOutcome outcome;
  calls_.clear();
  windows_.clear();
  std::vector<std::size_t> timeable;
  for (const std::size_t w : chosen_) {
    std::vector<double> first(contestants_.size(), 0), second(contestants_.size(), 0);
    KW_TRY(bool ok, slot(w, first, outcome));
    if (ok && first[0] < least_window_ns_ * long_call_windows) {
      KW_TRY(ok, slot(w, second, outcome));
    } else {
      second = first;
    }
    if (!ok)
      return outcome;
    if (second[0] < least_call_ns)
      continue;
    timeable.push_back(w);
    const WindowPlan plan =
        plan_windows(second[0], contestants_.size() > 1 ? second[1] : 0, chosen_.size(),
                     {.least_ns = least_window_ns_,
                      .windows = options_.windows,
                      .most_calls = options_.most_calls});
    calls_.push_back(plan.calls);
    windows_.push_back(plan.windows);
  }
  chosen_ = std::move(timeable);
  return outcome;
}

Result<RoundOutcome> Race::round() {
  KW_ASSERT(calls_.size() == chosen_.size());
  RoundOutcome outcome;
  std::fill(accounted_ns_.begin(), accounted_ns_.end(), 0);
  std::fill(cpu_ns_.begin(), cpu_ns_.end(), 0);
  delay_ns_ = 0;

  for (std::size_t c = 0; c < chosen_.size(); ++c) {
    // Window length jitters by 20 % (the same for all arms) against aliasing with periodic load.
    const double jitter =
        0.8 + 0.4 * static_cast<double>(trials_.coin(~next_trial_) >> 11) * 0x1p-53;
    const int calls = std::max(1, static_cast<int>(std::lround(calls_[c] * jitter)));
    std::vector<std::vector<double>> per_window(contestants_.size());
    for (int w = 0; w < windows_[c]; ++w) {
      std::vector<double> ns(contestants_.size(), 0);
      for (int i = 0; i < calls; ++i) {
        KW_TRY(const bool ok, slot(chosen_[c], ns, outcome));
        if (!ok)
          return outcome;
      }
      for (std::size_t k = 0; k < ns.size(); ++k)
        per_window[k].push_back(ns[k] / calls);
    }
    RoundTimes times{.workload = chosen_[c], .ns = {}};
    for (std::vector<double>& samples : per_window)
      times.ns.push_back(median(samples));
    outcome.times.push_back(std::move(times));
  }

  for (std::size_t k = 0; k < contestants_.size(); ++k)
    if (accounted_ns_[k] > 0)
      cpu_shares_[k].push_back(cpu_ns_[k] / accounted_ns_[k]);

  // Disturbance is judged from kernel accounting alone, before anyone looks at the times.
  std::uint64_t sleeping_calls = 0;
  for (const Contestant& c : contestants_)
    sleeping_calls += c.arm->doorbell() == Doorbell::futex ? outcome.calls : 0;
  const double running = 1e-9 * std::accumulate(accounted_ns_.begin(), accounted_ns_.end(), 0.0);
  outcome.discarded = is_disturbed(1e-9 * delay_ns_, sleeping_calls, running);
  return outcome;
}

} // namespace kw
