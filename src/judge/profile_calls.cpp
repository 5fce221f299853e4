// SPDX-License-Identifier: Apache-2.0
// Calls that a profile is made of: how long they take, and where in the object the time goes. Not
// for claims: those come from paired rounds alone.
#include "judge/judge.hpp"

#include "os/ip_sampler.hpp"
#include "stats/robust.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <functional>

namespace kw {

Result<double> Judge::call_ns(Subject& subject, std::size_t workload, int calls, Verdict& verdict) {
  constexpr double disturbed = 0.02; // of a call's time spent waiting for a CPU
  constexpr int patience = 3;        // times `calls`, on a machine where others run
  constexpr std::size_t enough = 3;
  std::vector<double> quiet, all;
  for (int i = -1; i < patience * calls && static_cast<int>(quiet.size()) < calls; ++i) {
    TrialKey key;
    key.trial = next_trial_++;
    key.poison = static_cast<std::uint32_t>(key.trial);
    KW_CHECK(trials_->stage(workloads_.at(workload), key));
    KW_TRY(const CallReport report,
           trials_->call(*subject.arm, definition_.ext.protocol != "cold", true));
    Expected expected;
    if (report.end == CallEnd::returned && report.return_code == 0) {
      KW_TRY(expected, trials_->expect(true));
    }
    if (const TrialResult result = trials_->check(report, expected); !result.ok) {
      reject(verdict, result);
      return 0.0;
    }
    if (i < 0) // the first warms up
      continue;
    all.push_back(report.ns);
    if (report.delay_ns <= disturbed * report.ns)
      quiet.push_back(report.ns);
  }
  return median(quiet.size() >= enough ? quiet : all);
}

namespace {

/// Samplers of all threads of an arm, and what they have seen of its object.
class ThreadSamples {
 public:
  static Result<ThreadSamples> open(int pid) {
    ThreadSamples out;
    KW_TRY(out.object_, code_mapping(pid, fmt::format("memfd:{} (deleted)", object_memory)));
    if (Result<CodeMapping> runner = code_mapping(pid, "kernwright-runner"))
      out.runner_ = *runner;
    KW_TRY(const std::vector<pid_t> threads, threads_of(pid));
    for (const pid_t thread : threads) {
      KW_TRY(IpSampler sampler, IpSampler::open(thread));
      out.samplers_.push_back(std::move(sampler));
    }
    out.pending_.resize(out.samplers_.size());
    return out;
  }

  /// After a call. Calls too short for their samples to be ordered count together; of disturbed
  /// ones only the addresses count.
  void collect(SampledAddresses& to, bool disturbed) {
    constexpr std::size_t enough_to_order = 10;
    to.by_thread.resize(samplers_.size());
    to.by_rank.resize(samplers_.size());
    for (std::size_t t = 0; t < samplers_.size(); ++t)
      for (const std::uint64_t ip : samplers_[t].take()) {
        if (ip >= object_.begin && ip < object_.end) {
          to.addresses.push_back(ip - object_.begin + object_.offset);
          if (!disturbed)
            ++to.by_thread[t], ++pending_[t];
        } else if (!disturbed && t > 0 && ip >= runner_.begin && ip < runner_.end) {
          ++to.handing_out;
        }
      }
    std::vector<std::size_t> ordered = pending_;
    std::sort(ordered.begin(), ordered.end(), std::greater<>());
    if (ordered.front() < enough_to_order)
      return;
    for (std::size_t rank = 0; rank < ordered.size(); ++rank)
      to.by_rank[rank] += ordered[rank];
    std::fill(pending_.begin(), pending_.end(), 0);
  }

 private:
  CodeMapping object_, runner_;
  std::vector<IpSampler> samplers_; ///< the caller's first
  std::vector<std::size_t> pending_;
};

} // namespace

Result<SampledAddresses> Judge::sample(Subject& subject, std::size_t workload, double seconds) {
  constexpr std::size_t enough = 1000; // of one thread
  constexpr int calls_per_input = 8;
  constexpr double waited = 0.1; // of a call, for a CPU: says nothing of how threads share work
  const bool cold = definition_.ext.protocol == "cold";
  SampledAddresses out;
  Result<ThreadSamples> samples = ThreadSamples::open(subject.arm->pid());
  if (!samples)
    out.missing = samples.error().text();
  const Result<HardwareCounters> counters = HardwareCounters::open(subject.arm->pid());
  if (!counters)
    out.no_counts = counters.error().text();
  if (!samples && !counters)
    return out;
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  const std::size_t wanted = enough * static_cast<std::size_t>(definition_.ext.threads);
  while (std::chrono::steady_clock::now() < until && out.addresses.size() < wanted &&
         !context_.stop()) {
    TrialKey key;
    key.trial = next_trial_++;
    KW_CHECK(trials_->stage(workloads_.at(workload), key));
    for (int i = 0; i < calls_per_input && out.addresses.size() < wanted; ++i) {
      KW_TRY(const CallReport report, trials_->call(*subject.arm, !cold, true));
      if (report.end != CallEnd::returned)
        return out;
      if (samples)
        samples->collect(out, report.delay_ns > waited * report.ns);
    }
  }
  if (counters)
    out.counts = counters->read();
  if (samples && out.addresses.empty())
    out.missing = "no sample fell into the kernel";
  return out;
}

} // namespace kw
