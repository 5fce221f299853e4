// SPDX-License-Identifier: Apache-2.0
#include "search/tuner.hpp"

#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <set>

namespace kw {
namespace {

constexpr std::array<Algorithm, 5> algorithms = {Algorithm::hybrid, Algorithm::tpe,
                                                 Algorithm::hill_climb, Algorithm::annealing,
                                                 Algorithm::random};

/// `parameters` ordered parameters P0.. with values 0..values-1, and P0 + P1 even.
SpaceSet grid(int parameters, int values) {
  std::string text;
  for (int p = 0; p < parameters; ++p) {
    text += fmt::format("{}{{\"name\":\"P{}\",\"values\":[", p == 0 ? "" : ",", p);
    for (int v = 0; v < values; ++v)
      text += fmt::format("{}{}", v == 0 ? "" : ",", v);
    text += "]}";
  }
  return *SpaceSet::bind(
      {*parse_space(R"({"schema":"kernwright.space/1","name":"grid","template":"t","entry":"e",)"
                    R"("legal":["(P0 + P1) % 2 == 0"],"seeds":[],"parameters":[)" +
                        text + "]}",
                    "grid")},
      {});
}

/// A bowl with its floor at 3 in every parameter; every seventh configuration does not run.
Observation bowl(const SpaceSet& set, const Config& config) {
  if (set.hash(config) % 7 == 0)
    return {std::nullopt, false};
  double cost = 1;
  for (const int c : config.choice)
    cost += (c - 3) * (c - 3);
  return {cost, true};
}

std::vector<Config> run(Tuner& tuner, const SpaceSet& set, int evaluations) {
  std::vector<Config> proposals;
  for (int i = 0; i < evaluations; ++i) {
    const std::optional<Config> config = tuner.ask();
    if (!config)
      break;
    proposals.push_back(*config);
    tuner.tell(*config, bowl(set, *config));
  }
  return proposals;
}

TEST(Tuner, SameSeedSameProposals) {
  const SpaceSet set = grid(4, 8);
  for (const Algorithm algorithm : algorithms) {
    Tuner a(set, {algorithm, 5, {}}), b(set, {algorithm, 5, {}}), c(set, {algorithm, 6, {}});
    const std::vector<Config> first = run(a, set, 120);
    EXPECT_EQ(first, run(b, set, 120)) << name(algorithm);
    EXPECT_NE(first, run(c, set, 120)) << name(algorithm);
  }
}

TEST(Tuner, ProposesOnlyLegalNewConfigurationsUntilTheSpaceIsExhausted) {
  const SpaceSet set = grid(3, 5);
  const std::size_t size = set.listed().size();
  ASSERT_EQ(size, 65U);
  for (const Algorithm algorithm : algorithms) {
    Tuner tuner(set, {algorithm, 1, {}});
    const std::vector<Config> proposals = run(tuner, set, 1000);
    EXPECT_EQ(proposals.size(), size) << name(algorithm);
    EXPECT_EQ(std::set<Config>(proposals.begin(), proposals.end()).size(), size);
    for (const Config& config : proposals)
      EXPECT_TRUE(set.legal(config));
    EXPECT_EQ(tuner.ask(), std::nullopt);
  }
}

TEST(Tuner, SearchesASpaceTooBigToList) {
  const SpaceSet set = grid(6, 10);
  ASSERT_TRUE(set.listed().empty());
  for (const Algorithm algorithm : algorithms) {
    Tuner tuner(set, {algorithm, 3, {}});
    const std::vector<Config> proposals = run(tuner, set, 200);
    EXPECT_EQ(std::set<Config>(proposals.begin(), proposals.end()).size(), 200U);
    for (const Config& config : proposals)
      EXPECT_TRUE(set.legal(config)) << name(algorithm);
  }
}

/// Random search is the yardstick of what knowledge brings, so it may have none.
TEST(Tuner, RandomSearchKnowsNothingBeforehand) {
  const SpaceSet set = grid(4, 8);
  const Config known{0, {3, 3, 3, 3}}, prior{0, {4, 2, 3, 3}};
  const std::vector<Prior> knowledge{{known, 1}, {prior, 2}};
  for (const Algorithm algorithm : algorithms) {
    Tuner with(set, {algorithm, 5, knowledge}), without(set, {algorithm, 5, {}});
    const std::vector<Config> first = run(with, set, 4);
    if (algorithm == Algorithm::random)
      EXPECT_EQ(first, run(without, set, 4));
    else
      EXPECT_EQ(first.front(), known) << name(algorithm);
  }
}

TEST(Tuner, AnswersMayComeLateAndOutOfOrder) {
  const SpaceSet set = grid(4, 8);
  for (const Algorithm algorithm : algorithms) {
    Tuner tuner(set, {algorithm, 9, {}});
    std::set<Config> seen;
    for (int batch = 0; batch < 15; ++batch) {
      std::vector<Config> asked;
      for (int i = 0; i < 8; ++i) {
        const std::optional<Config> config = tuner.ask();
        ASSERT_TRUE(config);
        EXPECT_TRUE(seen.insert(*config).second) << name(algorithm);
        asked.push_back(*config);
      }
      for (auto config = asked.rbegin(); config != asked.rend(); ++config)
        tuner.tell(*config, bowl(set, *config));
    }
    EXPECT_EQ(tuner.trials().size(), 120U);
  }
}

TEST(Tuner, ToldConfigurationsAreNotProposedAndSecondResultsAreIgnored) {
  const SpaceSet set = grid(3, 5);
  Tuner tuner(set, {Algorithm::hybrid, 1, {}});
  const Config known{0, {3, 3, 3}};
  tuner.tell(known, {2.0, true});
  tuner.tell(known, {1.0, true});
  tuner.tell(Config{0, {0, 1, 0}}, {0.1, true}); // not legal
  tuner.tell(Config{0, {9, 9, 9}}, {0.1, true}); // does not exist
  ASSERT_NE(tuner.best(), nullptr);
  EXPECT_EQ(tuner.best()->observation.cost, 2.0);
  for (const Config& config : run(tuner, set, 1000))
    EXPECT_NE(config, known);
  EXPECT_EQ(tuner.trials().size(), 65U);
}

TEST(Tuner, InvalidRunsNeverWin) {
  const SpaceSet set = grid(3, 5);
  for (const Algorithm algorithm : algorithms) {
    Tuner tuner(set, {algorithm, 2, {}});
    for (int i = 0; i < 40; ++i)
      tuner.tell(*tuner.ask(),
                 {i % 2 == 0 ? std::nullopt : std::optional(std::nan("")), i % 3 == 0});
    EXPECT_EQ(tuner.best(), nullptr) << name(algorithm);
    tuner.tell(*tuner.ask(), {0.0, false}); // a cost does not make a wrong kernel good
    EXPECT_EQ(tuner.best(), nullptr);
    const Config last = *tuner.ask();
    tuner.tell(last, {7.0, true});
    EXPECT_EQ(tuner.best()->config, last);
  }
}

TEST(Tuner, ResumesFromItsStateAtAnyPoint) {
  const SpaceSet set = grid(4, 8);
  for (const Algorithm algorithm : algorithms)
    for (const int at : {0, 3, 30, 49, 50, 90}) {
      TunerOptions options{algorithm, 0xfedcba9876543210U, {{Config{0, {2, 4, 1, 1}}, 0.1 + 0.2}}};
      Tuner whole(set, options), part(set, options);
      std::vector<Config> expected = run(whole, set, 130);
      run(part, set, at);
      const std::optional<Config> pending = part.ask(); // stopped while one was running
      Result<Tuner> resumed = Tuner::resume(set, part.state());
      ASSERT_TRUE(resumed) << resumed.error().text();
      EXPECT_EQ(resumed->state(), part.state());
      resumed->tell(*pending, bowl(set, *pending));
      expected.erase(expected.begin(), expected.begin() + at + 1);
      EXPECT_EQ(run(*resumed, set, 129 - at), expected) << name(algorithm) << " at " << at;
    }
}

TEST(Tuner, StaysWithinItsFocusUntilAllOfItWasSeen) {
  const SpaceSet set = grid(4, 8);
  Tuner tuner(set, {Algorithm::hybrid, 3, {}});
  run(tuner, set, 20);
  const Config anchor = tuner.best()->config;
  const Focus focus{.anchor = anchor, .freed = {1, 3}};
  int proposed = 0;
  EXPECT_TRUE(tuner.has_new(focus));
  while (const std::optional<Config> next = tuner.ask(focus)) {
    EXPECT_EQ(next->choice[0], anchor.choice[0]);
    EXPECT_EQ(next->choice[2], anchor.choice[2]);
    EXPECT_TRUE(set.legal(*next));
    tuner.tell(*next, bowl(set, *next));
    ++proposed;
  }
  EXPECT_FALSE(tuner.has_new(focus));
  int legal = 0; // of the 64 settings, those that the earlier 20 did not have
  for (int a = 0; a < 8; ++a)
    for (int b = 0; b < 8; ++b) {
      Config config = anchor;
      config.choice[1] = a, config.choice[3] = b;
      legal += set.legal(config) ? 1 : 0;
    }
  EXPECT_LE(proposed, legal - 1);
  EXPECT_GE(proposed, legal - 20);
  Result<Tuner> resumed = Tuner::resume(set, tuner.state());
  ASSERT_TRUE(resumed) << resumed.error().text();
  EXPECT_EQ(resumed->state(), tuner.state());
  EXPECT_EQ(resumed->ask(), tuner.ask());
}

TEST(Tuner, DamagedStatesAreErrors) {
  const SpaceSet set = grid(4, 8);
  Tuner tuner(set, {Algorithm::hybrid, 1, {}});
  run(tuner, set, 20);
  const std::string state = tuner.state();
  for (std::size_t cut = 0; cut < state.size(); cut += 37)
    EXPECT_FALSE(Tuner::resume(set, state.substr(0, cut)));
  std::string other_seed = state;
  other_seed.replace(other_seed.find("\"seed\":\"1\""), 10, "\"seed\":\"2\"");
  const Result<Tuner> drifted = Tuner::resume(set, other_seed);
  ASSERT_FALSE(drifted);
  EXPECT_NE(drifted.error().message.find("another configuration"), std::string::npos);
  EXPECT_FALSE(Tuner::resume(grid(3, 8), state));
}

TEST(Tuner, PriorsComeEarlyButNotAlone) {
  const SpaceSet set = grid(4, 8);
  std::vector<Prior> prior;
  for (int v = 0; v < 8; ++v)
    prior.push_back({Config{0, {v, v, v, v}}, 8.0 - v});
  prior.push_back({Config{0, {7, 7, 7, 6}}, 1.5}); // one step from the best: adds nothing
  prior.push_back({Config{0, {0, 1, 0, 0}}, 0.1}); // not legal here
  Tuner tuner(set, {Algorithm::hybrid, 1, prior});
  const std::vector<Config> first = run(tuner, set, 13);
  EXPECT_EQ(first[0], (Config{0, {7, 7, 7, 7}}));
  EXPECT_EQ(first[2], (Config{0, {6, 6, 6, 6}}));
  int known = 0;
  for (const Config& config : first)
    for (const Prior& p : prior)
      known += p.config == config ? 1 : 0;
  EXPECT_EQ(known, 8); // so that five of the thirteen are random
}

TEST(Tuner, FindsTheFloorOfABowl) {
  const SpaceSet set = grid(5, 8); // 16,384 configurations
  for (const Algorithm algorithm : algorithms) {
    int found = 0;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      Tuner tuner(set, {algorithm, seed, {}});
      run(tuner, set, 200);
      found += *tuner.best()->observation.cost <= 2 ? 1 : 0;
    }
    // Random search needs luck (11 such points of 16,384); all others use the slope.
    if (algorithm == Algorithm::random)
      EXPECT_LE(found, 4);
    else if (algorithm == Algorithm::annealing)
      EXPECT_GE(found, 4);
    else
      EXPECT_GE(found, 9) << name(algorithm);
  }
}

TEST(Tuner, NamesRoundTrip) {
  for (const Algorithm algorithm : algorithms)
    EXPECT_EQ(algorithm_from_name(name(algorithm)), algorithm);
  EXPECT_EQ(algorithm_from_name("genetic"), std::nullopt);
}

} // namespace
} // namespace kw
