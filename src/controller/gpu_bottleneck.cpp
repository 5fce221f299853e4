// SPDX-License-Identifier: Apache-2.0
// The rules for imported profiles. Order matters: a kernel that reaches a ceiling is bound by it
// whatever its grid looks like; only below the ceilings do waves and stalls explain the time.
#include "controller/bottleneck.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace kw {
namespace {

using namespace bottleneck;

class GpuClassifier {
 public:
  explicit GpuClassifier(const Profile& profile) : p_(profile) {}

  BottleneckState run() {
    const double sm = value("sm_share").value_or(0), memory = memory_share();
    if (const double nearest = std::max(sm, memory); nearest > 0)
      state_.headroom = std::max(1.0, 1 / nearest);
    if (launches() || ceilings(sm, memory) || tail() || latency())
      return std::move(state_);
    state_.evidence.emplace_back("no rule fits the figures of this export");
    state_.next.emplace_back("export more: ncu's raw page has the counters, a timeline the gaps");
    return std::move(state_);
  }

 private:
  [[nodiscard]] std::optional<double> value(std::string_view name) const {
    const ProfileFigure* f = p_.figure(std::string(name));
    return f == nullptr || !std::isfinite(f->value) ? std::nullopt : std::optional(f->value);
  }
  [[nodiscard]] double memory_share() const {
    return std::max(value("memory_share").value_or(0), value("dram_share").value_or(0));
  }
  bool say(const char* word, double confidence, std::string evidence, std::string next) {
    state_.word = word;
    state_.confidence = confidence;
    state_.evidence.push_back(std::move(evidence));
    state_.next.push_back(std::move(next));
    return true;
  }

  bool launches() {
    const auto idle = value("idle_share");
    if (!idle || *idle < gpu_idle)
      return false;
    return say("launch", 0.8,
               fmt::format("the GPU has no work for {:.0f} % of the timeline; the median pause is "
                           "{:.1f} us",
                           100 * *idle, value("launch_gap").value_or(0) / 1e3),
               "fewer launches: fuse kernels, capture a graph; take allocations and "
               "synchronisation out of the loop");
  }

  bool ceilings(double sm, double memory) {
    const std::string shares =
        fmt::format("{:.0f} % of the multiprocessors' ceiling, {:.0f} % of the memory's", 100 * sm,
                    100 * memory);
    if (std::max(sm, memory) < at_ceiling)
      return false;
    if (std::min(sm, memory) >= at_ceiling && std::abs(sm - memory) < gpu_balance)
      return say("mixed", 0.7, shares, "only less work helps: fewer operations and fewer bytes");
    if (sm > memory)
      return say("compute", 0.85, shares,
                 "fewer or cheaper instructions; tensor cores; narrower types");
    return say("memory", 0.85, shares,
               value("dram_share").value_or(1) >= at_ceiling
                   ? "fewer bytes: fuse passes, narrower types, tiles that fit the caches"
                   : "DRAM is not the limit: coalesce, widen accesses, avoid bank conflicts");
  }

  bool tail() {
    if (const auto waves = value("waves_per_sm"); waves && *waves > 0) {
      if (*waves < full_wave)
        return say(
            "tail", 0.8,
            fmt::format("{:.2f} waves: the grid does not fill the multiprocessors once", *waves),
            "more blocks: smaller tiles, or split the reduction");
      const double loss = 1 - *waves / std::ceil(*waves);
      return loss >= tail_loss &&
             say("tail", 0.65,
                 fmt::format("{:.2f} waves: the last one leaves {:.0f} % of all slots empty",
                             *waves, 100 * loss),
                 "a tile size that makes full waves, or persistent blocks that share the work");
    }
    const auto blocks = value("blocks_per_sm");
    return blocks && *blocks > 0 && *blocks < 1 &&
           say("tail", 0.7,
               fmt::format("{:.2f} blocks for each multiprocessor: some have none", *blocks),
               "more blocks: smaller tiles, or split the reduction");
  }

  /// Asked last: both ceilings are known and far.
  bool latency() {
    if (!value("sm_share") || (!value("memory_share") && !value("dram_share")))
      return false;
    say("latency", 0.65,
        fmt::format("far from both ceilings: {:.0f} % of the multiprocessors', {:.0f} % of the "
                    "memory's",
                    100 * *value("sm_share"), 100 * memory_share()),
        "more independent work in flight: unroll, several loads ahead, asynchronous copies");
    for (const ProfileFigure& f : p_.figures)
      if (f.name.starts_with("stall_") && f.value >= dominating_stall) {
        state_.confidence = 0.8;
        const std::string reason = f.name.substr(std::string_view("stall_").size());
        state_.evidence.push_back(
            fmt::format("{:.0f} % of the stalls are {}", 100 * f.value, reason));
        if (const char* advice = advice_for(reason); *advice != '\0')
          state_.next.emplace_back(advice);
      }
    const auto most = value("theoretical_occupancy"), got = value("achieved_occupancy");
    if (most && *most < low_occupancy) {
      state_.evidence.push_back(fmt::format("registers, shared memory or the block's size allow "
                                            "{:.0f} % occupancy",
                                            100 * *most));
      state_.next.emplace_back("fewer registers or less shared memory in a block: smaller tiles");
    }
    if (most && got && *most > 0 && *got < uneven_occupancy * *most) {
      state_.evidence.push_back(fmt::format("{:.0f} % occupancy is achieved of {:.0f} % possible",
                                            100 * *got, 100 * *most));
      state_.next.emplace_back("blocks of equal work, or persistent blocks");
    }
    return true;
  }

  static const char* advice_for(std::string_view reason) {
    for (const auto& [stall, advice] :
         {std::pair{"long_scoreboard", "load global memory earlier, or keep it in shared memory"},
          std::pair{"short_scoreboard", "fewer bank conflicts and special functions"},
          std::pair{"barrier", "fewer barriers, or smaller blocks between them"},
          std::pair{"wait", "longer independent instruction streams"},
          std::pair{"math_pipe_throttle", "another mix of instructions"},
          std::pair{"mio_throttle", "fewer, wider shared-memory accesses"},
          std::pair{"lg_throttle", "fewer, wider global accesses"}})
      if (reason == stall)
        return advice;
    return "";
  }

  const Profile& p_;
  BottleneckState state_;
};

} // namespace

BottleneckState classify_gpu(const Profile& profile) {
  return GpuClassifier(profile).run();
}

} // namespace kw
