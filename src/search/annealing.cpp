// SPDX-License-Identifier: Apache-2.0
#include "search/strategy.hpp"

#include <cmath>

namespace kw {
namespace {

class Annealing : public Strategy {
 public:
  std::optional<Config> propose(const History& history, Random& chance) override {
    if (here_) {
      std::vector<Config> near = history.set.neighbours(*here_);
      std::erase_if(near, [&](const Config& c) { return !history.is_new(c); });
      if (!near.empty())
        return near[chance.below(near.size())];
    }
    here_.reset();
    return history.random_new(chance);
  }

  void learn(const History& history, const Trial& trial, Random& chance) override {
    // Accept a move that is worse by the share d with probability exp(-d / temperature): at first
    // one in e of the moves that cost 50 %, in the end only those within the noise.
    constexpr double first = 0.5, cooling = 0.98, last = 0.001;
    const double rank = trial.observation.rank();
    if (!std::isfinite(rank))
      return;
    const double temperature =
        std::max(last, first * std::pow(cooling, static_cast<double>(history.trials.size())));
    if (!here_ || rank <= cost_ || chance.unit() < std::exp((1 - rank / cost_) / temperature)) {
      here_ = trial.config;
      cost_ = rank;
    }
  }

 private:
  std::optional<Config> here_;
  double cost_ = 0;
};

} // namespace

std::unique_ptr<Strategy> make_annealing() {
  return std::make_unique<Annealing>();
}

} // namespace kw
