// SPDX-License-Identifier: Apache-2.0
// What planning a round costs when an archive knows 10,000 attempts and the search has tried as
// many: plan, ask for its candidates, look each of them up. Prints FIGURE lines (docs/BENCH.md).
#include "base/hash.hpp"
#include "controller/known.hpp"
#include "controller/rounds.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <vector>

namespace {

using namespace kw;
constexpr int attempts = 10'000;

Space big_space() {
  std::string parameters;
  for (int i = 0; i < 6; ++i)
    parameters += fmt::format(R"({}{{"name": "P{}", "role": "{}", "values": [0,1,2,3,4,5]}})",
                              i == 0 ? "" : ",", i, parameter_roles[static_cast<std::size_t>(i)]);
  return parse_space(R"({"schema": "kernwright.space/1", "name": "s", "family": "f",
    "template": "t.cpp", "entry": "e", "parameters": [)" +
                         parameters + "]}",
                     "s.space.json")
      .value();
}

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

} // namespace

int main() {
  const SpaceSet set = SpaceSet::bind({big_space()}, {}).value(); // 46,656 configurations
  Random chance(1);
  Tuner tuner(set, {.algorithm = Algorithm::hybrid, .seed = 1, .prior = {}});
  Knowledge known;
  for (int i = 0; i < attempts; ++i) {
    const Config config = set.random(chance);
    const double cost = 0.5 + chance.unit();
    tuner.tell(config, {.cost = cost});
    known.attempts.push_back({.probe = fmt::format("{:08x}", i),
                              .solution_hash = sha256_hex(set.text(config)),
                              .regime = "all",
                              .hypothesis = set.text(config),
                              .estimate = -std::log(cost),
                              .finding = "NONE",
                              .decision = "reject",
                              .reason = "slow"});
  }
  const Memory memory(std::move(known));
  RoundPlanner planner({}, 1, false);
  planner.reconnoitred();
  planner.state("memory", 3, "memory/s");
  for (int i = 0; i < attempts / RoundPlanner::round_candidates; ++i)
    planner.close({.number = i + 1, .signature = "memory/s", .tried = 3, .valid = 3, .seconds = 1});
  std::vector<double> directed, free;
  for (int i = 0; i < 40; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const RoundPlan plan = planner.next(
        [&](const Direction& d) { return focus_of(d, set, tuner.best()->config).has_value(); });
    int answered = 0;
    for (int c = 0; c < plan.candidates; ++c) {
      const std::optional<Config> next =
          plan.direction == nullptr
              ? tuner.ask()
              : tuner.ask(*focus_of(*plan.direction, set, tuner.best()->config));
      if (next)
        answered += memory.rejected(sha256_hex(set.text(*next)), "all") != nullptr ? 1 : 0;
    }
    (plan.direction == nullptr ? free : directed).push_back(milliseconds_since(start));
    planner.close({.number = plan.number,
                   .signature = planner.signature(),
                   .direction = plan.direction == nullptr ? "" : std::string(plan.direction->id),
                   .tried = plan.candidates,
                   .valid = plan.candidates - answered,
                   .seconds = 1});
  }
  for (auto& [name, all] : {std::pair{"directed", &directed}, std::pair{"free", &free}})
    if (!all->empty()) {
      std::sort(all->begin(), all->end());
      fmt::print("FIGURE controller.plan_ms_at_10000.{} {:.2f} ms median, worst {:.2f}\n", name,
                 (*all)[all->size() / 2], all->back());
    }
  return directed.empty() || free.empty() ? 1 : 0;
}
