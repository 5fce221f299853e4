// SPDX-License-Identifier: Apache-2.0
// The default. A Parzen estimator finds a good region within few evaluations, but looks at
// parameters one by one and can settle on the wrong region; hill climbing with random restarts sees
// how parameters act together, but passes by an optimum whose neighbours are all poor. So: the
// model first, then climbing from the best, and from then on, whenever a climb has ended, a few
// proposals of the model (which has learnt from the climb) before the next random restart. Measured
// in docs/tuner.md: either part alone stays stuck on one of the recorded spaces for most seeds, the
// mixture leaves both.
#include "search/hill_climb.hpp"

#include <cmath>

namespace kw {
namespace {

class Hybrid : public Strategy {
 public:
  std::optional<Config> propose(const History& history, Random& chance) override {
    if (history.trials.size() < model_trials)
      return model_->propose(history, chance);
    if (!started_) {
      started_ = true;
      if (const Trial* top = history.best())
        climb_.climb_from(history, top->config, top->observation.rank(), chance);
    }
    const bool climbs = climb_.climbing(history);
    if (climbed_ && !climbs)
      model_turns_ = model_turns;
    climbed_ = climbs;
    if (!climbs && model_turns_ > 0) {
      --model_turns_;
      return model_->propose(history, chance);
    }
    return climb_.propose(history, chance);
  }

  void learn(const History& history, const Trial& trial, Random& chance) override {
    if (!started_)
      return;
    const bool record =
        std::isfinite(trial.observation.rank()) && history.best()->config == trial.config;
    if (record && !climb_.climbing(history))
      climb_.climb_from(history, trial.config, trial.observation.rank(), chance);
    else
      climb_.learn(history, trial, chance);
  }

 private:
  static constexpr std::size_t model_trials = 50; // above it climbing is better (docs/tuner.md)
  static constexpr int model_turns = 10;          // between two climbs; 5 to 15 are alike

  std::unique_ptr<Strategy> model_ = make_tpe();
  HillClimb climb_;
  bool started_ = false;
  bool climbed_ = false;
  int model_turns_ = 0;
};

} // namespace

std::unique_ptr<Strategy> make_hybrid() {
  return std::make_unique<Hybrid>();
}

} // namespace kw
