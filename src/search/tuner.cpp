// SPDX-License-Identifier: Apache-2.0
#include "search/tuner.hpp"

#include "search/focus.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace kw {
namespace {

constexpr std::array<std::pair<Algorithm, std::string_view>, 5> named = {{
    {Algorithm::hybrid, "hybrid"},
    {Algorithm::tpe, "tpe"},
    {Algorithm::hill_climb, "hill-climb"},
    {Algorithm::annealing, "annealing"},
    {Algorithm::random, "random"},
}};

std::unique_ptr<Strategy> make_strategy(Algorithm algorithm) {
  switch (algorithm) {
  case Algorithm::hybrid:
    return make_hybrid();
  case Algorithm::tpe:
    return make_tpe();
  case Algorithm::hill_climb:
    return make_hill_climb();
  case Algorithm::annealing:
    return make_annealing();
  case Algorithm::random:
    break;
  }
  return make_random_search();
}

std::size_t distance(const Config& a, const Config& b) {
  if (a.space != b.space)
    return a.choice.size() + 1;
  std::size_t different = 0;
  for (std::size_t p = 0; p < a.choice.size(); ++p)
    different += a.choice[p] != b.choice[p] ? 1 : 0;
  return different;
}

/// The best priors that differ from each other in at least two parameters.
std::vector<Config> diverse(const SpaceSet& set, std::vector<Prior> prior) {
  constexpr std::size_t most = 8;
  std::erase_if(prior, [](const Prior& p) { return !std::isfinite(p.cost); });
  std::sort(prior.begin(), prior.end(), [](const Prior& a, const Prior& b) {
    return a.cost != b.cost ? a.cost < b.cost : a.config < b.config;
  });
  std::vector<Config> chosen;
  for (const Prior& p : prior)
    if (chosen.size() < most && set.legal(p.config) &&
        std::all_of(chosen.begin(), chosen.end(),
                    [&](const Config& c) { return distance(c, p.config) >= 2; }))
      chosen.push_back(p.config);
  return chosen;
}

} // namespace

std::string_view name(Algorithm algorithm) {
  return std::find_if(named.begin(), named.end(),
                      [&](const auto& entry) { return entry.first == algorithm; })
      ->second;
}

std::optional<Algorithm> algorithm_from_name(std::string_view text) {
  for (const auto& [algorithm, known] : named)
    if (known == text)
      return algorithm;
  return std::nullopt;
}

std::vector<std::string> algorithm_names() {
  std::vector<std::string> out;
  for (const auto& [algorithm, known] : named)
    out.emplace_back(known);
  return out;
}

Tuner::Tuner(const SpaceSet& set, TunerOptions options)
    : options_(std::move(options)), history_{set, {}, {}}, chance_(options_.seed),
      strategy_(make_strategy(options_.algorithm)) {
  plan_start();
}

/// Random search is what nobody helps: no known good points. Otherwise those first, one random
/// point after each, and at least five random points: what was best on another shape or machine may
/// be a trap here.
void Tuner::plan_start() {
  constexpr std::size_t least_random = 5;
  if (options_.algorithm == Algorithm::random)
    return;
  std::vector<Config> known = diverse(history_.set, options_.prior);
  for (Config& config : history_.set.seeds())
    known.push_back(std::move(config));
  std::size_t random = 0;
  for (Config& config : known) {
    start_.emplace_back(std::move(config));
    if (random < least_random) {
      start_.emplace_back();
      ++random;
    }
  }
  for (; random < least_random; ++random)
    start_.emplace_back();
  std::reverse(start_.begin(), start_.end());
}

std::optional<Config> Tuner::choose() {
  while (!start_.empty()) {
    std::optional<Config> next = std::move(start_.back());
    start_.pop_back();
    if (!next)
      return history_.random_new(chance_);
    if (history_.is_new(*next))
      return next;
  }
  std::optional<Config> next = strategy_->propose(history_, chance_);
  return next ? next : history_.random_new(chance_);
}

std::optional<Config> Tuner::asked(std::optional<Config> next, const std::optional<Focus>& focus) {
  if (next) {
    KW_ASSERT(history_.is_new(*next));
    history_.asked.emplace(*next, std::nullopt);
    journal_.push_back({*next, std::nullopt, focus});
  }
  return next;
}

std::optional<Config> Tuner::ask() {
  return asked(choose(), std::nullopt);
}

std::optional<Config> Tuner::ask(const Focus& focus) {
  return asked(best_within(history_, focus, chance_), focus);
}

bool Tuner::has_new(const Focus& focus) const {
  return any_within(history_, focus);
}

void Tuner::tell(const Config& config, const Observation& observation) {
  if (!history_.set.legal(config))
    return;
  std::optional<double>& known = history_.asked[config];
  if (known)
    return;
  known = observation.rank();
  history_.trials.push_back({config, observation});
  journal_.push_back({config, observation});
  strategy_->learn(history_, history_.trials.back(), chance_);
}

} // namespace kw
