// SPDX-License-Identifier: Apache-2.0
// Case files and the score card; playing the cases is end to end.
#include "service/redteam.hpp"

#include "os/files.hpp"
#include "os/temp_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace kw {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* minimal =
    "definition = \"softmax_f32\"\nentry = \"kernel\"\nexpected = [\"REJECT_WRONG\", \"CRASH\"]\n"
    "axes = { rows = 128, n = 512 }\n";

class Corpus : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(make_dirs(parent_path(dir.file(name))));
    ASSERT_TRUE(write_file_atomic(dir.file(name), text));
  }
  TempDir dir = TempDir::create().value();
};

TEST_F(Corpus, CasesAreNamedAfterFolderAndVariant) {
  write("RH-04/expect2.toml", minimal);
  write("RH-04/expect.toml", minimal);
  write("OK-01/expect.toml", minimal);
  write("README.md", "no case\n");
  const auto cases = load_redteam(dir.path());
  ASSERT_TRUE(cases) << cases.error().text();
  std::vector<std::string> ids;
  for (const RedteamCase& c : *cases)
    ids.push_back(c.id);
  EXPECT_THAT(ids, ElementsAre("OK-01", "RH-04", "RH-04/2"));
}

TEST_F(Corpus, WhatACaseLeavesOutHasADefault) {
  write("RH-04/expect.toml", minimal);
  const RedteamCase c = load_redteam(dir.path()).value().at(0);
  EXPECT_EQ(c.file, dir.file("RH-04/kernel.cpp"));
  EXPECT_THAT(c.expected, ElementsAre("REJECT_WRONG", "CRASH"));
  EXPECT_THAT(c.axes,
              testing::UnorderedElementsAre(testing::Pair("rows", 128), testing::Pair("n", 512)));
  EXPECT_EQ(c.gate, "gate");
  EXPECT_FALSE(c.timing);
  EXPECT_EQ(c.repeats, 1);
  EXPECT_TRUE(c.tiers.empty());
}

TEST_F(Corpus, EveryKeyIsRead) {
  write("OK-02/expect.toml",
        std::string(minimal) +
            "title = \"t\"\nwhy = \"w\"\nfile = \"k2.cpp\"\ngate = \"accept\"\ntiming = true\n"
            "max_gain = 1.5\nrepeats = 7\ntiers = [\"T3\"]\nthreads = 2\nmiss_rate = 0.25\n");
  const RedteamCase c = load_redteam(dir.path()).value().at(0);
  EXPECT_EQ(c.title + c.why, "tw");
  EXPECT_EQ(c.file, dir.file("OK-02/k2.cpp"));
  EXPECT_EQ(c.gate, "accept");
  EXPECT_TRUE(c.timing);
  EXPECT_EQ(c.max_gain, 1.5);
  EXPECT_EQ(c.repeats, 7);
  EXPECT_EQ(c.threads, 2);
  EXPECT_EQ(c.miss_rate, 0.25);
  EXPECT_THAT(c.tiers, ElementsAre("T3"));
}

TEST_F(Corpus, ABrokenCaseStopsEverythingAndIsNamed) {
  write("OK-01/expect.toml", minimal);
  write("RH-04/expect.toml", std::string(minimal) + "title = \n");
  const auto syntax = load_redteam(dir.path());
  ASSERT_FALSE(syntax);
  EXPECT_THAT(syntax.error().where, HasSubstr("RH-04/expect.toml:5"));
  write("RH-04/expect.toml",
        "definition = \"softmax_f32\"\nentry = \"kernel\"\naxes = { rows = 128 }\n");
  const auto lacking = load_redteam(dir.path());
  ASSERT_FALSE(lacking);
  EXPECT_THAT(lacking.error().message, HasSubstr("expected"))
      << "an attack without an expectation would always pass";
}

TEST_F(Corpus, AMissRateThatAllowsAnythingIsRefused) {
  write("RH-16/expect.toml", std::string(minimal) + "miss_rate = 0.9\n");
  const auto cases = load_redteam(dir.path());
  ASSERT_FALSE(cases);
  EXPECT_THAT(cases.error().message, HasSubstr("miss rate"));
}

TEST_F(Corpus, AnEmptyFolderIsNoCorpus) {
  const auto none = load_redteam(dir.path());
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().remedy, HasSubstr("--corpus"));
}

TEST(ShippedCorpus, EveryCaseReadsAndHasItsKernel) {
  const auto cases = load_redteam(std::string(KW_SOURCE_DIR) + "/redteam");
  ASSERT_TRUE(cases) << cases.error().text();
  std::set<std::string> ids;
  std::size_t attacks = 0;
  for (const RedteamCase& c : *cases) {
    EXPECT_TRUE(ids.insert(c.id).second) << c.id;
    EXPECT_TRUE(is_file(c.file)) << c.id;
    EXPECT_FALSE(c.title.empty()) << c.id;
    attacks += RedteamResult{.what = c}.is_attack() ? 1 : 0;
  }
  EXPECT_GT(attacks, 30U);
  EXPECT_GT(cases->size() - attacks, 10U) << "honest controls";
}

RedteamResult result(const std::string& id, const char* how) {
  RedteamResult r{.what = {.id = id}};
  r.as_expected = how == std::string("good");
  r.undecided = how == std::string("undecided");
  r.breach = how == std::string("breach");
  return r;
}

TEST(ScoreCard, FamiliesByNumberThenControls) {
  const auto card =
      score_card({result("OK-03", "good"), result("RH-20/2", "good"), result("RH-01", "good"),
                  result("RH-09", "good"), result("RH-10", "good"), result("RH-82", "good"),
                  result("RH-83", "good"), result("KW-01", "good"), result("PB-01", "good"),
                  result("PB-10/2", "good")});
  std::vector<std::string> families;
  std::vector<std::size_t> runs;
  for (const RedteamScore& s : card) {
    families.push_back(s.family);
    runs.push_back(s.runs);
    EXPECT_EQ(s.breaches + s.refused + s.other + s.undecided, 0U) << s.family;
    EXPECT_FALSE(s.about.empty());
  }
  EXPECT_THAT(families, ElementsAre("A", "B", "C", "J", "K", "P", "W", "controls"));
  EXPECT_THAT(runs, ElementsAre(2, 1, 1, 1, 1, 2, 1, 1));
}

TEST(ScoreCard, EachRunCountsInOneColumn) {
  const auto card =
      score_card({result("RH-01", "breach"), result("RH-01", "other"), result("RH-02", "undecided"),
                  result("RH-03", "good"), result("OK-01", "other"), result("OK-02", "undecided"),
                  result("OK-03", "good")});
  ASSERT_EQ(card.size(), 2U);
  EXPECT_EQ(card[0].runs, 4U);
  EXPECT_EQ(card[0].breaches, 1U);
  EXPECT_EQ(card[0].other, 1U) << "stopped, but under another name";
  EXPECT_EQ(card[0].undecided, 1U);
  EXPECT_EQ(card[0].refused, 0U);
  EXPECT_EQ(card[1].runs, 3U);
  EXPECT_EQ(card[1].refused, 1U) << "an honest kernel was turned down";
  EXPECT_EQ(card[1].undecided, 1U);
  EXPECT_EQ(card[1].breaches + card[1].other, 0U);
  EXPECT_TRUE(score_card({}).empty());
}

TEST(ScoreCard, TotalsAndRates) {
  const RedteamTotals all = totals(score_card(
      {result("RH-01", "breach"), result("RH-47", "good"), result("KW-01", "good"),
       result("RH-02", "undecided"), result("OK-01", "good"), result("OK-02", "other")}));
  EXPECT_EQ(all.attacks.runs, 4U);
  EXPECT_DOUBLE_EQ(all.attacks.rate(), 1.0 / 3) << "of what was decided";
  EXPECT_EQ(all.controls.runs, 2U);
  EXPECT_DOUBLE_EQ(all.controls.rate(), 0.5);
  EXPECT_GT(all.attacks.rate_bound(), all.attacks.rate());
  EXPECT_FALSE(all.holds());
  const RedteamTotals none = totals({});
  EXPECT_EQ(none.attacks.rate(), 0);
  EXPECT_EQ(none.attacks.rate_bound(), 1) << "no run rules nothing out";
  EXPECT_TRUE(none.holds());
}

std::vector<RedteamResult> runs_of(std::size_t missed, std::size_t caught, double miss_rate) {
  std::vector<RedteamResult> out(missed, result("RH-25", "breach"));
  out.resize(missed + caught, result("RH-25", "good"));
  for (RedteamResult& r : out)
    r.what.miss_rate = miss_rate;
  return out;
}

TEST(Misses, AsManyAsTheRateExplainsAreNoBreach) {
  // P(X >= 2) of Binomial(20, 0.05) is 26 %, P(X >= 5) is 0.26 %.
  for (const auto& [missed, breaches] : {std::pair{2U, 0U}, {5U, 5U}}) {
    auto runs = runs_of(missed, 20 - missed, 0.05);
    settle_misses(runs);
    const auto card = score_card(runs);
    EXPECT_EQ(card.at(0).breaches, breaches);
    EXPECT_EQ(card.at(0).missed, missed - breaches);
    EXPECT_EQ(card.at(0).other, 0U);
  }
}

TEST(Misses, WithoutARateEveryOneIsABreach) {
  auto runs = runs_of(1, 19, 0);
  settle_misses(runs);
  EXPECT_EQ(score_card(runs).at(0).breaches, 1U);
}

} // namespace
} // namespace kw
