// SPDX-License-Identifier: Apache-2.0
// Calls that a profile is made of: how long they take, and where in the object the time goes. Not
// for claims: those come from paired rounds alone.
#include "judge/judge.hpp"

#include "os/ip_sampler.hpp"
#include "stats/robust.hpp"

#include <chrono>
#include <fmt/format.h>

namespace kw {

Result<double> Judge::call_ns(Subject& subject, std::size_t workload, int calls, Verdict& verdict) {
  std::vector<double> ns;
  for (int i = -1; i < calls; ++i) { // the first warms up
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
    if (i >= 0)
      ns.push_back(report.ns);
  }
  return median(ns);
}

Result<SampledAddresses> Judge::sample(Subject& subject, std::size_t workload, double seconds) {
  constexpr std::size_t enough = 1000;
  constexpr int calls_per_input = 8;
  SampledAddresses out;
  const Result<CodeMapping> code =
      code_mapping(subject.arm->pid(), fmt::format("memfd:{} (deleted)", object_memory));
  Result<IpSampler> sampler = IpSampler::open(subject.arm->pid());
  if (!code || !sampler) {
    out.missing = (code ? sampler.error() : code.error()).text();
    return out;
  }
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < until && out.addresses.size() < enough &&
         !context_.stop()) {
    TrialKey key;
    key.trial = next_trial_++;
    KW_CHECK(trials_->stage(workloads_.at(workload), key));
    for (int i = 0; i < calls_per_input; ++i) {
      KW_TRY(const CallReport report, trials_->call(*subject.arm, true));
      if (report.end != CallEnd::returned)
        return out;
    }
    for (const std::uint64_t ip : sampler->take())
      if (ip >= code->begin && ip < code->end)
        out.addresses.push_back(ip - code->begin + code->offset);
  }
  if (out.addresses.empty())
    out.missing = "no sample fell into the kernel";
  return out;
}

} // namespace kw
