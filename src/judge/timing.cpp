// SPDX-License-Identifier: Apache-2.0
// The timing half of the judge: the deciding e-gate, the independent confirmation that alone gives
// a reported speed-up, the quick screen of a search, and the A/A self-test.
#include "judge/judge.hpp"

#include "judge/cpu_share.hpp"
#include "judge/ratios.hpp"
#include "oracle/peer.hpp"
#include "stats/robust.hpp"
#include "stats/trials.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>

namespace kw {
namespace {

/// A/A: how many rounds, and the noise (robust sigma of ln ratios) above which no claim is made.
constexpr int self_test_rounds = 12;
constexpr int self_test_attempts = 3;
/// For the gates inside a search, where it would cost more than the gate.
constexpr std::chrono::seconds self_test_holds{60};
/// FLOPs plus bytes of the workload it prefers: long enough to time, short enough to repeat.
constexpr double self_test_size = 1e6;
double distance(const BoundWorkload& w) {
  return std::abs(w.flops + w.bytes_read + w.bytes_written - self_test_size);
}
/// A single late stop in the calibration must not make windows of a second: work after `done` is
/// also caught by the samples taken at once, so the window need not carry that alone.
constexpr double most_window_ns = 20e6;
constexpr double least_window = 3e6;
/// ln ratio of two rounds below which a screen has seen enough.
constexpr double hopelessly_behind = -0.05;
constexpr std::size_t many_workloads = 4;
constexpr double unfit_sigma = 0.10;
/// Faster than this fraction of the physical floor is not a kernel, it is a bug in the evidence.
constexpr double impossible_fraction = 0.8;
/// More disturbed rounds than this share (of at least ten) and the machine is not fit to decide.
constexpr double unfit_discards = 0.5;
/// How often ceilings are measured again before a time is called impossible: a busy machine shows
/// ceilings that are too low, never too high.
constexpr int floor_measurements = 3;

class Deadline {
 public:
  explicit Deadline(double seconds) : seconds_(seconds) {}
  [[nodiscard]] bool passed() const {
    return seconds_ > 0 &&
           std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count() >
               seconds_;
  }

 private:
  double seconds_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Outcome of the e-gate in words for one workload set.
std::string word(GateDecision d) {
  return d == GateDecision::faster       ? "faster"
         : d == GateDecision::not_faster ? "not faster"
                                         : "undecided";
}

std::size_t timed_workloads(const std::vector<BoundWorkload>& all, const RaceOptions& options) {
  if (!options.workloads.empty())
    return options.workloads.size();
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [](const BoundWorkload& w) { return w.timed; }));
}

} // namespace

/// What the caller asks for, else what the calibration needs. A round's sum over many workloads is
/// long enough, so there each window may be shorter.
double Judge::least_window_ns(const RaceOptions& options) const {
  if (options.least_window_ns > 0)
    return options.least_window_ns;
  if (!calibration_)
    return least_window;
  const double window = std::min(calibration_->least_window_ns(), most_window_ns);
  return timed_workloads(workloads_, options) > many_workloads ? std::max(window / 2, least_window)
                                                               : window;
}

Race Judge::make_race(std::vector<Contestant> contestants, const RaceOptions& options) {
  const double window = least_window_ns(options);
  return {*trials_, workloads_,  std::move(contestants), options,
          window,   next_trial_, context_.stop};
}

Status Judge::self_test(Subject& baseline, const RaceOptions& options, TimingEvidence& evidence) {
  if (options.remember_self_test && self_tested_ &&
      std::chrono::steady_clock::now() - self_tested_at_ < self_test_holds) {
    evidence = *self_tested_;
    return {};
  }
  KW_TRY([[maybe_unused]] const Calibration measured, calibration());
  LoadReport load;
  KW_TRY(const std::unique_ptr<Arm> twin, spawn(baseline, load));
  RaceOptions own = options;
  own.windows = 1;
  own.workloads = {0};
  for (std::size_t i = 1; i < workloads_.size(); ++i)
    if (distance(workloads_[i]) < distance(workloads_[own.workloads[0]]))
      own.workloads[0] = i;
  Race race =
      make_race({{"baseline", baseline.arm.get(), true}, {"baseline twin", twin.get(), true}}, own);
  KW_TRY(const RoundOutcome warm, race.warm_up());
  (void)warm;
  if (race.chosen().empty())
    return {}; // too short to time: evidence.fit stays false
  EGate gate(options.gate);
  std::vector<double> ratios;
  for (int i = 0; i < self_test_rounds; ++i) {
    KW_TRY(const RoundOutcome outcome, race.round());
    ratios.push_back(combined_ratio(outcome, workloads_, options.objective));
    gate.add(ratios.back());
  }
  evidence.protocol = options.warm ? "warm" : "cold";
  if (options.objective != Objective::weighted)
    evidence.objective = name(options.objective);
  evidence.doorbell =
      session_->doorbell(definition_.ext.threads) == Doorbell::spin ? "spin" : "futex";
  evidence.window_ns = least_window_ns(options);
  evidence.windows_per_half = options.windows;
  evidence.aa_sigma = mad_sigma(ratios);
  evidence.fit = evidence.aa_sigma <= unfit_sigma && gate.decision() != GateDecision::faster;
  if (evidence.fit)
    self_tested_ = evidence, self_tested_at_ = std::chrono::steady_clock::now();
  return {};
}

Result<ScreenReading> Judge::screen(Subject& reference, Subject& candidate, std::size_t workload,
                                    int rounds, Verdict& verdict) {
  RaceOptions options;
  options.windows = 1;
  options.least_window_ns = 1e6;
  options.most_calls = 24;
  options.workloads = {workload};
  options.warm = definition_.ext.protocol != "cold";
  Race race = make_race(
      {{"reference", reference.arm.get(), true}, {"candidate", candidate.arm.get(), false}},
      options);
  std::vector<double> ratios;
  const auto hopeless = [&] {
    return ratios.size() >= 2 &&
           *std::max_element(ratios.begin(), ratios.end()) < hopelessly_behind;
  };
  for (int i = -1; i < rounds && !hopeless(); ++i) {
    KW_TRY(const RoundOutcome outcome, i < 0 ? race.warm_up() : race.round());
    verdict.trials += outcome.calls;
    if (outcome.failed != SIZE_MAX) {
      reject(verdict, outcome.failure);
      return ScreenReading{};
    }
    if (i < 0 && race.chosen().empty())
      return ScreenReading{}; // too short to tell from outside: a tie
    if (i >= 0)
      ratios.push_back(combined_ratio(outcome, workloads_, Objective::weighted));
  }
  return ScreenReading{.ahead = median(ratios),
                       .least = *std::min_element(ratios.begin(), ratios.end()),
                       .rounds = ratios.size()};
}

Result<bool> Judge::timeable(Subject& subject, std::size_t workload) {
  RaceOptions options;
  options.workloads = {workload};
  options.warm = definition_.ext.protocol != "cold";
  Race race = make_race({{"baseline", subject.arm.get(), true}}, options);
  KW_TRY([[maybe_unused]] const RoundOutcome warm, race.warm_up());
  return !race.chosen().empty();
}

Status Judge::time(Subject& baseline, Subject& candidate, const RaceOptions& options,
                   Verdict& verdict) {
  TimingEvidence evidence;
  // Noise may pass, and no candidate has been timed yet: asking again biases nothing.
  for (int i = 0; i < self_test_attempts && !evidence.fit; ++i)
    KW_CHECK(self_test(baseline, options, evidence));
  if (!evidence.fit) {
    verdict.timing.summary =
        fmt::format("this machine is unfit for timing now: the baseline against itself shows "
                    "{:.1f} % noise (limit {:.0f} %)",
                    100 * evidence.aa_sigma, 100 * unfit_sigma);
    verdict.timing.details = {"remedy: stop other work on the machine and run again; `kernwright "
                              "doctor` shows the noise"};
    verdict.times = std::move(evidence);
    return {};
  }
  Race race = make_race(
      {{"baseline", baseline.arm.get(), true}, {"candidate", candidate.arm.get(), false}}, options);
  EGate gate(options.gate);
  std::vector<EGate> guards;
  std::vector<double> ratios;
  const Deadline deadline(options.seconds);
  std::uint64_t discarded = 0;
  // Fewer rounds than can decide would be time spent for nothing.
  const int deciding = least_rounds_to_accept(options.gate);
  for (int i = -1; gate.decision() == GateDecision::undecided && !gate.exhausted(); ++i) {
    if (i >= 0 && deadline.passed() && (gate.losses() > 0 || gate.rounds() >= deciding))
      break;
    context_.progress("time", static_cast<std::uint64_t>(std::max(i, 0)),
                      static_cast<std::uint64_t>(options.gate.max_rounds));
    KW_TRY(const RoundOutcome outcome, i < 0 ? race.warm_up() : race.round());
    verdict.trials += outcome.calls;
    if (outcome.failed != SIZE_MAX) {
      reject(verdict, outcome.failure);
      verdict.timing.summary = "not completed: a timed call failed";
      verdict.times = std::move(evidence);
      return {};
    }
    if (i < 0) {
      guards.assign(race.chosen().size(),
                    EGate({.min_effect = tolerated_loss, .alpha_accept = 0.05}));
      if (race.chosen().empty()) {
        verdict.timing.summary = fmt::format(
            "every workload takes less than {:.0f} us per call: too short to time from outside",
            least_call_ns / 1e3);
        verdict.times = std::move(evidence);
        return {};
      }
      continue;
    }
    if (outcome.discarded) {
      ++discarded;
      if (i >= 9 && static_cast<double>(discarded) > unfit_discards * (i + 1)) {
        evidence.fit = false;
        verdict.timing.summary =
            fmt::format("this machine is unfit for timing now: {} of {} rounds were preempted",
                        discarded, i + 1);
        verdict.times = std::move(evidence);
        return {};
      }
      continue;
    }
    ratios.push_back(combined_ratio(outcome, workloads_, options.objective));
    gate.add(ratios.back());
    for (std::size_t w = 0; w < outcome.times.size(); ++w)
      guards[w].add(-log_ratio(outcome.times[w]));
    append_round(evidence.gate, outcome, workloads_, baseline.solution.name);
  }
  if (ratios.empty()) {
    evidence.fit = false;
    verdict.timing.summary =
        fmt::format("no undisturbed round in the time given ({} were preempted)", discarded);
    verdict.timing.details = {
        "remedy: stop other work on the machine, or allow more time with --timing-budget"};
    verdict.times = std::move(evidence);
    return {};
  }
  summarise(evidence.gate);
  for (PairedTiming& p : evidence.gate)
    p.decision = word(gate.decision()), p.discarded_rounds = discarded;

  verdict.failure_rate_bound = failure_rate_bound(verdict.trials, 0.95);
  verdict.timing.outcome = Outcome::pass;
  verdict.timing.summary =
      fmt::format("{} rounds, {} won; A/A noise {:.2f} %, {} protocol", gate.rounds(), gate.wins(),
                  100 * evidence.aa_sigma, evidence.protocol);
  for (std::size_t w = 0; w < race.chosen().size(); ++w) {
    const BoundWorkload& workload = workloads_[race.chosen()[w]];
    PairedTiming& p = evidence.gate[w];
    p.floor_ns = context_.floor_ns(workload);
    for (int i = 0; i < floor_measurements && p.floor_ns > 0 &&
                    median(p.candidate_ns) < impossible_fraction * p.floor_ns;
         ++i)
      p.floor_ns = context_.fresh_floor_ns(workload);
    if (p.floor_ns > 0 && median(p.candidate_ns) < impossible_fraction * p.floor_ns) {
      verdict.timing.outcome = Outcome::fail;
      verdict.finding = Finding::timing;
      verdict.timing.summary = fmt::format(
          "physically impossible on {}: {:.0f} ns per call, the roofline floor is {:.0f} ns",
          workload.axes_text, median(p.candidate_ns), p.floor_ns);
    }
  }
  // One thread that cannot start others (seccomp) has nowhere to hide work: nothing to look for.
  const bool can_hide = definition_.ext.threads > 1 || !session_->sandbox().seccomp;
  if (can_hide && exceeds_threads(race.cpu_shares(1), definition_.ext.threads)) {
    verdict.timing.outcome = Outcome::fail;
    verdict.finding = Finding::timing;
    verdict.timing.summary = fmt::format(
        "used {:.2f} CPU-seconds per second (median of {} rounds) with {} declared thread(s)",
        median(race.cpu_shares(1)), race.cpu_shares(1).size(), definition_.ext.threads);
  }
  GateReading reading{.decision = gate.decision(),
                      .ratios = std::move(ratios),
                      .loser = {},
                      .baseline = baseline.solution.name,
                      .min_effect = options.gate.min_effect};
  for (std::size_t w = 0; w < guards.size(); ++w)
    if (guards[w].decision() == GateDecision::faster)
      reading.loser = workloads_[race.chosen()[w]].axes_text;
  if (verdict.timing.outcome == Outcome::fail)
    verdict.merit.summary = "not judged: the timing evidence was refused";
  else
    verdict.merit = merit_of(reading);
  verdict.times = std::move(evidence);
  return {};
}

Status Judge::confirm(const Subject& baseline, const Subject& candidate,
                      const std::vector<PeerSpec>& peers, const RaceOptions& options,
                      Verdict& verdict) {
  KW_ASSERT(verdict.times.has_value());
  struct PeerArm {
    std::string name;
    ArmSpec spec;
    bool checked;
  };
  std::vector<PeerArm> peer_arms;
  for (const PeerSpec& peer : peers) {
    Result<ArmSpec> spec = prepare_peer(peer, definition_, context_.oracle);
    if (spec)
      peer_arms.push_back({peer.name, std::move(*spec), peer.kind != "copy"});
    else
      verdict.merit.details.push_back(
          fmt::format("peer `{}` not timed: {}", peer.name, spec.error().message));
  }
  std::vector<double> ratios;
  const Deadline deadline(options.seconds);
  const int rounds_each =
      (options.confirm_rounds + options.process_pairs - 1) / options.process_pairs;
  for (int pair = 0; pair < options.process_pairs; ++pair) {
    LoadReport load;
    KW_TRY(const std::unique_ptr<Arm> base, spawn(baseline, load));
    KW_TRY(const std::unique_ptr<Arm> cand, spawn(candidate, load));
    std::vector<Contestant> contestants{{baseline.solution.name, base.get(), true},
                                        {"candidate", cand.get(), false}};
    std::vector<std::unique_ptr<Arm>> peer_processes;
    for (const auto& [peer, spec, checked] : peer_arms) {
      KW_TRY(Arm arm, session_->spawn(spec, load));
      if (load.end != CallEnd::returned) {
        if (pair == 0)
          verdict.merit.details.push_back(
              fmt::format("peer `{}` not timed: {}", peer, load.detail));
        continue;
      }
      peer_processes.push_back(std::make_unique<Arm>(std::move(arm)));
      contestants.push_back({peer, peer_processes.back().get(), true, checked});
    }
    const std::vector<Contestant> names = contestants;
    Race race = make_race(std::move(contestants), options);
    for (int i = -1; i < rounds_each; ++i) {
      if (i > 0 && pair > 0 && deadline.passed())
        break;
      context_.progress("confirm", static_cast<std::uint64_t>(pair * rounds_each + std::max(i, 0)),
                        static_cast<std::uint64_t>(options.process_pairs * rounds_each));
      KW_TRY(RoundOutcome outcome, i < 0 ? race.warm_up() : race.round());
      verdict.trials += outcome.calls;
      if (outcome.failed != SIZE_MAX) {
        reject(verdict, outcome.failure);
        verdict.merit = {.outcome = Outcome::unknown,
                         .summary = "not judged: a confirmation call failed",
                         .details = {}};
        return {};
      }
      if (i < 0 || outcome.discarded)
        continue;
      ratios.push_back(combined_ratio(outcome, workloads_, options.objective));
      append_round(verdict.times->confirmation, outcome, workloads_, baseline.solution.name);
      for (std::size_t k = 2; k < names.size(); ++k) {
        RoundOutcome against = outcome;
        for (RoundTimes& t : against.times)
          t.ns = {t.ns[k], t.ns[1]};
        append_round(verdict.times->confirmation, against, workloads_, names[k].name);
      }
    }
  }
  verdict.failure_rate_bound = failure_rate_bound(verdict.trials, 0.95);
  summarise(verdict.times->confirmation);
  for (PairedTiming& p : verdict.times->confirmation)
    for (const BoundWorkload& w : workloads_)
      if (w.workload.uuid == p.uuid)
        p.floor_ns = context_.floor_ns(w);
  if (ratios.size() < 6) {
    verdict.merit = {.outcome = Outcome::unknown,
                     .summary = "confirmation got too few undisturbed rounds",
                     .details = verdict.merit.details};
    return {};
  }
  const MedianInterval interval = median_interval(ratios, 0.95);
  TimingEvidence& times = *verdict.times;
  times.speedup = std::exp(median(ratios));
  times.low = std::exp(interval.low);
  times.high = std::exp(interval.high);
  if (times.low <= 1) {
    verdict.merit.outcome = Outcome::unknown;
    verdict.merit.summary =
        fmt::format("not confirmed in fresh processes: {:.3f}x [{:.3f}, {:.3f}]", times.speedup,
                    times.low, times.high);
  } else {
    verdict.merit.summary = fmt::format(
        "{:.2f}x [{:.2f}, {:.2f}] against `{}`, confirmed over {} fresh process pairs{}",
        times.speedup, times.low, times.high, baseline.solution.name, options.process_pairs,
        options.objective == Objective::weighted
            ? ""
            : fmt::format("; {}", described(options.objective)));
  }
  return {};
}

Status Judge::place(Subject& baseline, const std::vector<PeerSpec>& peers,
                    const RaceOptions& options, Verdict& verdict) {
  TimingEvidence evidence;
  KW_CHECK(self_test(baseline, options, evidence));
  verdict.timing.summary =
      fmt::format("A/A noise {:.2f} %, {} protocol", 100 * evidence.aa_sigma, evidence.protocol);
  verdict.timing.outcome = evidence.fit ? Outcome::pass : Outcome::unknown;
  verdict.times = std::move(evidence);
  KW_CHECK(confirm(baseline, baseline, peers, options, verdict));
  if (verdict.correctness.outcome == Outcome::pass)
    verdict.merit.outcome = Outcome::unknown,
    verdict.merit.summary = "the baseline against itself and its peers: no claim";
  return {};
}

} // namespace kw
