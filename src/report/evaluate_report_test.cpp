// SPDX-License-Identifier: Apache-2.0
#include "report/evaluate_report.hpp"

#include "base/json.hpp"
#include "report/report_fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kw {
namespace {

using testing::HasSubstr;
using testing::Not;

EvaluateReport four_solutions() {
  EvaluateReport r;
  r.definition = "softmax_128x512";
  r.version = "0.1.0";
  r.solutions = {{"good", "good/solution.json", accepted_verdict(), "kernwright replay aa"},
                 {"wrong", "wrong dir/solution.json", wrong_verdict(), "kernwright replay bb"},
                 {"broken", "broken/solution.json", build_failure(), ""},
                 {"unlucky", "unlucky.json", {}, ""}};
  r.solutions[3].verdict.word = "INFRASTRUCTURE";
  r.solutions[3].verdict.infrastructure_error = "cannot fork: too many processes";
  return r;
}

TEST(Junit, MatchesItsGoldenFileAndIsWellFormed) {
  const std::string xml = junit_xml(four_solutions());
  EXPECT_EQ(xml_problem(xml), "");
  EXPECT_EQ(golden_difference("junit.xml", xml), "");
  EXPECT_THAT(xml, HasSubstr("tests=\"4\" failures=\"2\" errors=\"1\""));
}

TEST(Junit, HostileTextStaysText) {
  EvaluateReport r = four_solutions();
  const OptimizeReport hostile = hostile_report();
  r.definition = hostile.definition;
  for (EvaluatedSolution& s : r.solutions)
    s = {hostile.champion, hostile.champion, hostile.verdict, hostile.replay_command};
  r.solutions[1].verdict.accepted = false;
  const std::string xml = junit_xml(r);
  EXPECT_EQ(xml_problem(xml), "");
  EXPECT_THAT(xml, Not(HasSubstr("\x1b")));
}

TEST(Sarif, MatchesItsGoldenFileAndHoldsTheRulesOfTheStandard) {
  const std::string text = sarif_json(four_solutions());
  EXPECT_EQ(golden_difference("report.sarif", text), "");
  const Json document = Json::parse(text);
  EXPECT_EQ(document["version"], "2.1.0");
  const Json& run = document["runs"][0];
  const Json& rules = run["tool"]["driver"]["rules"];
  EXPECT_FALSE(run["invocations"][0]["executionSuccessful"].get<bool>());
  ASSERT_EQ(run["results"].size(), 2u) << "one wrong, one diagnostic; none for the accepted one";
  for (const Json& result : run["results"]) {
    EXPECT_EQ(rules[result["ruleIndex"].get<std::size_t>()]["id"], result["ruleId"]);
    EXPECT_FALSE(result["message"]["text"].get<std::string>().empty());
    const std::string level = result["level"];
    EXPECT_TRUE(level == "error" || level == "warning" || level == "note");
    for (const Json& location : result["locations"]) {
      const Json& physical = location["physicalLocation"];
      EXPECT_THAT(physical["artifactLocation"]["uri"].get<std::string>(), Not(HasSubstr(" ")));
      if (physical.contains("region")) {
        EXPECT_GE(physical["region"]["startLine"].get<int>(), 1);
      }
    }
  }
  for (int f = 1; f <= static_cast<int>(last_finding); ++f)
    EXPECT_EQ(rules.at(static_cast<std::size_t>(f))["id"], name(static_cast<Finding>(f)));
}

TEST(Sarif, HostileTextIsValidJson) {
  EvaluateReport r = four_solutions();
  const OptimizeReport hostile = hostile_report();
  r.definition = r.version = hostile.definition;
  for (EvaluatedSolution& s : r.solutions) {
    s = {hostile.champion, hostile.champion, hostile.verdict, hostile.replay_command};
    s.verdict.accepted = false;
  }
  EXPECT_TRUE(Json::accept(sarif_json(r)));
}

} // namespace
} // namespace kw
