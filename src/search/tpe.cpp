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
    return best_scored(history, ParzenEstimator(history, {}), chance);
  }

 private:
  static std::optional<Config> best_scored(const History& history, const ParzenEstimator& estimate,
                                           Random& chance) {
    std::optional<Config> best;
    double best_score = 0;
    std::size_t ties = 0;
    const auto offer = [&](const Config& config) {
      if (!history.is_new(config))
        return;
      const double score = estimate.score(config);
      if (best && score < best_score)
        return;
      ties = best && score == best_score ? ties + 1 : 1;
      if (chance.below(ties) == 0)
        best = config;
      best_score = score;
    };
    if (!history.set.listed().empty()) {
      for (const Config& config : history.set.listed())
        offer(config);
    } else {
      constexpr int pool = 2000;
      for (int i = 0; i < pool; ++i)
        offer(history.set.random(chance));
      if (const Trial* top = history.best())
        for (const Config& config : history.set.neighbours(top->config))
          offer(config);
    }
    return best;
  }
};

} // namespace

std::unique_ptr<Strategy> make_tpe() {
  return std::make_unique<Tpe>();
}

} // namespace kw
