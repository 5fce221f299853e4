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
  const Memory memory({attempt("slow", "M <= 2", "NONE", "reject"),
                       attempt("wrong", "M <= 2", "REJECT_WRONG", "reject"),
                       attempt("good", "M <= 2", "NONE", "keep")});
  EXPECT_EQ(memory.rejected("slow", "M <= 2")->reason, "why");
  EXPECT_EQ(memory.rejected("slow", "M >= 64"), nullptr);
  EXPECT_NE(memory.rejected("wrong", "M >= 64"), nullptr);
  EXPECT_EQ(memory.rejected("good", "M <= 2"), nullptr);
  EXPECT_EQ(memory.rejected("never seen", "M <= 2"), nullptr);
}

TEST(Memory, TheNewestJudgementCounts) {
  const Memory memory({attempt("a", "r", "NONE", "reject"), attempt("a", "r", "NONE", "keep"),
                       attempt("b", "r", "NONE", "keep"), attempt("b", "r", "NONE", "archive")});
  EXPECT_EQ(memory.rejected("a", "r"), nullptr);
  EXPECT_NE(memory.rejected("b", "r"), nullptr);
}

TEST(Memory, GoesThroughTheJournalUnchanged) {
  const std::vector<KnownAttempt> known{attempt("a", "r", "NONE", "reject"),
                                        attempt("b", "r", "HANG", "reject")};
  const std::vector<KnownAttempt> back = known_from_json(to_json(known)).value();
  ASSERT_EQ(back.size(), 2u);
  EXPECT_EQ(dump_json(to_json(back)), dump_json(to_json(known)));
  EXPECT_EQ(back[0].estimate, 0.25);
  EXPECT_FALSE(back[1].estimate);
  EXPECT_FALSE(known_from_json(Json::array({Json{{"probe", "x"}}})));
  EXPECT_FALSE(known_from_json(Json::array({7})));
}

} // namespace
} // namespace kw
