// SPDX-License-Identifier: Apache-2.0
#include "report/ablation_report.hpp"

#include "report/report_fixture.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

using testing::HasSubstr;
using testing::Not;

AblationReport sample(const std::string& text) {
  AblationReport r;
  r.id = "0001" + text, r.version = "1", r.started_at = "2026-01-01T00:00:00Z";
  r.environment = {{"machine", "some" + text}};
  r.arms = {"full", "tuner", "random"};
  r.reference = "tuner";
  r.seeds = 5, r.evaluations = 60, r.steps = 20, r.steps_done = 20, r.seconds = 3700;
  r.tasks = {{.definition = "softmax" + text,
              .workloads = {"rows=128, 266 us" + text},
              .left_out = {"M >= 64: too long" + text}}};
  r.cells = {{.definition = "softmax" + text,
              .arm = "full",
              .seed = 3,
              .evaluations = 60,
              .seconds = 31,
              .build_seconds = 9,
              .champion = "kw-softmax" + text,
              .fault = "REJECT_WRONG" + text,
              .over_baseline = 12.5,
              .over_reference = 1.25,
              .unmatched = {}},
             {.definition = "softmax" + text,
              .arm = "tuner",
              .seed = 3,
              .evaluations = 60,
              .champion = {},
              .fault = {},
              .over_baseline = 10.4,
              .over_reference = 1.0,
              .unmatched = {}}};
  r.comparisons = {{.arm = "full",
                    .against = "tuner",
                    .value = 1.25,
                    .low = 1.1,
                    .high = 1.4,
                    .low95 = 1.13,
                    .definitions = 1,
                    .pairs = 5,
                    .same = 2,
                    .refused = {},
                    .per_definition = {{"softmax" + text, 1.25}}},
                   {.arm = "random",
                    .against = "tuner",
                    .refused = "unmatched in 1 of 5 pairs" + text,
                    .per_definition = {}}};
  return r;
}

TEST(AblationReport, TheTextHasRatiosIntervalsAndRefusals) {
  const std::string text = ablation_text(sample(""), false);
  for (const char* part : {"1.25x", "[1.10, 1.40]", "1.13x", "10.40x", "faster", "no ranking",
                           "random and tuner are not ranked: unmatched in 1 of 5 pairs",
                           "the champion was REJECT_WRONG"})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_THAT(text, Not(HasSubstr("not final")));
  AblationReport partial = sample("");
  partial.steps_done = 7;
  EXPECT_THAT(ablation_text(partial, false), HasSubstr("7 of 20 runs and races"));
}

TEST(AblationReport, ThePageIsWellFormedAndComplete) {
  const std::string page = ablation_html(sample(""));
  if (const char* folder = std::getenv("KW_DUMP"))
    std::ofstream(std::string(folder) + "/ablation.html", std::ios::binary) << page;
  EXPECT_EQ(xml_problem(page), "");
  for (const char* outside : {"<script", "<link", "<img", "src=", "href=", "url(", "@import"})
    EXPECT_THAT(page, Not(HasSubstr(outside)));
  for (const char* part : {"1.25x", "[1.10, 1.40]", "full over tuner", "not ranked", "<svg"})
    EXPECT_THAT(page, HasSubstr(part));
}

TEST(AblationReport, HostileTextStaysText) {
  const std::string evil = "<script>\x1b[31m\"=1+1\n";
  const AblationReport r = sample(evil);
  EXPECT_EQ(xml_problem(ablation_html(r)), "");
  EXPECT_THAT(ablation_html(r), Not(HasSubstr("<script")));
  EXPECT_THAT(ablation_text(r, false), Not(HasSubstr("\x1b")));
}

TEST(AblationReport, TheWordFollowsTheInterval) {
  AblationComparison c{.arm = "a",
                       .against = "b",
                       .low = 1.01,
                       .high = 1.2,
                       .pairs = 3,
                       .refused = {},
                       .per_definition = {}};
  EXPECT_EQ(ablation_word(c), "faster");
  c.low = 0.9;
  EXPECT_EQ(ablation_word(c), "no difference shown");
  c.high = 0.99;
  EXPECT_EQ(ablation_word(c), "slower");
  c.pairs = 0;
  EXPECT_EQ(ablation_word(c), "no ranking");
}

TEST(AblationReport, TheTableOfRunsHasARowForEach) {
  const std::string csv = ablation_csv(sample(""));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3);
  EXPECT_THAT(csv, HasSubstr("1.25"));
}

} // namespace
} // namespace kw
