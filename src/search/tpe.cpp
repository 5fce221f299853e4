// SPDX-License-Identifier: Apache-2.0
#include "search/parzen.hpp"

namespace kw {
namespace {

class Tpe : public Strategy {
 public:
  std::optional<Config> propose(const History& history, Random& chance) override {
    constexpr std::size_t warm_up = 5; // without results there is nothing to estimate from
    if (history.trials.size() < warm_up)
      return history.random_new(chance);
    MostPromising most(history, chance);
    if (!history.set.listed().empty()) {
      for (const Config& config : history.set.listed())
        most.offer(config);
    } else {
      constexpr int pool = 2000;
      for (int i = 0; i < pool; ++i)
        most.offer(history.set.random(chance));
      if (const Trial* top = history.best())
        for (const Config& config : history.set.neighbours(top->config))
          most.offer(config);
    }
    return most.best();
  }
};

} // namespace

std::unique_ptr<Strategy> make_tpe() {
  return std::make_unique<Tpe>();
}

} // namespace kw
