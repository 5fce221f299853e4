// SPDX-License-Identifier: Apache-2.0
#include "search/hill_climb.hpp"
#include "search/parzen.hpp"

#include <algorithm>

namespace kw {
namespace {

class Hybrid : public Strategy {
 public:
  std::optional<Config> propose(const History& history, Random& chance) override {
    constexpr std::size_t model_trials = 50;
    if (history.trials.size() < model_trials)
      return model_->propose(history, chance);
    if (!climbing_) {
      climbing_ = true;
      if (const Trial* top = history.best())
        climb_.climb_from(history, top->config, top->observation.rank(), chance);
    }
    return climb_.propose(history, chance);
  }

  void learn(const History& history, const Trial& trial, Random& chance) override {
    if (climbing_)
      climb_.learn(history, trial, chance);
  }

 private:
  std::unique_ptr<Strategy> model_ = make_tpe();
  HillClimb climb_;
  bool climbing_ = false;
};

} // namespace

std::unique_ptr<Strategy> make_hybrid() { return std::make_unique<Hybrid>(); }

} // namespace kw
