// SPDX-License-Identifier: Apache-2.0
#include "controller/known.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kw {
namespace {

KnownAttempt attempt(std::string hash, std::string regime, std::string finding,
                     std::string decision) {
  return {.probe = "p-" + hash,
          .solution_hash = std::move(hash),
          .regime = std::move(regime),
          .hypothesis = "U=1",
          .estimate = finding == "NONE" ? std::optional(0.25) : std::nullopt,
          .finding = std::move(finding),
          .decision = std::move(decision),
          .reason = "why"};
}

TEST(Memory, AnswersForWhatASolutionIsEverywhereForItsSpeedInItsRegime) {
  const Memory memory({.attempts = {attempt("slow", "M <= 2", "NONE", "reject"),
                                    attempt("wrong", "M <= 2", "REJECT_WRONG", "reject"),
                                    attempt("good", "M <= 2", "NONE", "keep")},
                       .directions = {}});
  EXPECT_EQ(memory.rejected("slow", "M <= 2")->reason, "why");
  EXPECT_EQ(memory.rejected("slow", "M >= 64"), nullptr);
  EXPECT_NE(memory.rejected("wrong", "M >= 64"), nullptr);
  EXPECT_EQ(memory.rejected("good", "M <= 2"), nullptr);
  EXPECT_EQ(memory.rejected("never seen", "M <= 2"), nullptr);
}

TEST(Memory, TheNewestJudgementCounts) {
  const Memory memory(
      {.attempts = {attempt("a", "r", "NONE", "reject"), attempt("a", "r", "NONE", "keep"),
                    attempt("b", "r", "NONE", "keep"), attempt("b", "r", "NONE", "archive")},
       .directions = {}});
  EXPECT_EQ(memory.rejected("a", "r"), nullptr);
  EXPECT_NE(memory.rejected("b", "r"), nullptr);
}

TEST(Memory, GoesThroughTheJournalUnchanged) {
  const Knowledge known{
      .attempts = {attempt("a", "r", "NONE", "reject"), attempt("b", "r", "HANG", "reject")},
      .directions = {{"memory/rows", "prefetch", 3, 1}}};
  const Knowledge back = knowledge_from_json(to_json(known)).value();
  ASSERT_EQ(back.attempts.size(), 2u);
  EXPECT_EQ(dump_json(to_json(back)), dump_json(to_json(known)));
  EXPECT_EQ(back.attempts[0].estimate, 0.25);
  EXPECT_FALSE(back.attempts[1].estimate);
  EXPECT_EQ(back.directions[0].rounds, 3);
  for (const char* damaged :
       {"[]", "{}", R"({"attempts": [{"probe": "x"}], "directions": []})",
        R"({"attempts": [7], "directions": []})", R"({"attempts": [], "directions": [{}]})",
        R"({"attempts": [], "directions":
            [{"signature": "s", "direction": "d", "rounds": 1, "gains": 2}]})"})
    EXPECT_FALSE(knowledge_from_json(Json::parse(damaged))) << damaged;
}

TEST(Memory, DirectionsOfEarlierRunsAddUp) {
  std::vector<KnownDirection> known;
  const std::string log =
      R"({"decision":"account","regime":"r","signature":"memory/rows","direction":"prefetch","rounds":2,"gains":1}
{"decision":"round","direction":"prefetch","why":"an \"account\" of"}
{"decision":"account","regime":"q","signature":"memory/rows","direction":"prefetch","rounds":1,"gains":0}
{"decision":"account","regime":"q","signature":"compute/rows","direction":"prefetch","rounds":1,"gains":1}
{"decision":"account","signature":"x","direction":"y","rounds":1,"gains":5}
{"decision":"account","signat)";
  learn_directions(log, known);
  learn_directions("", known);
  ASSERT_EQ(known.size(), 2u);
  EXPECT_EQ(known[0].rounds, 3);
  EXPECT_EQ(known[0].gains, 1);
  EXPECT_EQ(known[1].signature, "compute/rows");
}

} // namespace
} // namespace kw
