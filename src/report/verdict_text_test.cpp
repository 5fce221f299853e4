// SPDX-License-Identifier: Apache-2.0
#include "report/verdict_text.hpp"

#include "report/report_fixture.hpp"
#include "report/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

namespace kw {
namespace {

using testing::HasSubstr;
using testing::Not;

VerdictView view(std::string command) {
  return VerdictView{.name = "mykernel",
                     .next_command = std::move(command),
                     .workload_axes = {{"w-1", "m=1 n=4096"}, {"w-12", "batch=12"}}};
}

TEST(VerdictText, UpstreamsVerdictIsShownWhereItDiffers) {
  Verdict v = wrong_verdict();
  EXPECT_THAT(render_verdict(v, "k"), testing::Not(testing::HasSubstr("fib-compat")));
  v.fib = FibCompat{.status = "PASSED",
                    .reason = "",
                    .evaluator = "default",
                    .atol = 0.01,
                    .rtol = 0.01,
                    .workloads = {{.uuid = "u", .trials = 3, .matched = 3}}};
  const std::string text = render_verdict(v, "k");
  EXPECT_THAT(text, testing::HasSubstr("\nfib-compat   PASSED  would have been accepted upstream: "
                                       "3 of 3 trials matched"));
  EXPECT_LT(text.find("verdict      REJECTED"), text.find("fib-compat"));
  v.fib->status = "INCORRECT_NUMERICAL"; // both say no: nothing to add
  EXPECT_THAT(render_verdict(v, "k"), testing::Not(testing::HasSubstr("fib-compat")));
}

TEST(VerdictText, MatchesItsGoldenFiles) {
  EXPECT_EQ(golden_difference("accepted.txt",
                              render_verdict(accepted_verdict(), view("kernwright export 7f3a91"))),
            "");
  EXPECT_EQ(
      golden_difference("wrong.txt", render_verdict(wrong_verdict(),
                                                    view("kernwright replay 9bd1c2 --trial 41"))),
      "");
  EXPECT_EQ(golden_difference("build.txt", render_verdict(build_failure(), "mykernel")), "");
  Verdict infra;
  infra.word = "INFRASTRUCTURE";
  infra.infrastructure_error = "cannot fork: too many processes";
  infra.build = {Outcome::pass, "cached", {}};
  EXPECT_EQ(golden_difference("infrastructure.txt", render_verdict(infra, "mykernel")), "");
}

TEST(VerdictText, ColourOnlyWhenAsked) {
  EXPECT_THAT(render_verdict(wrong_verdict(), view("x")), Not(HasSubstr("\x1b")));
  VerdictView coloured = view("x");
  coloured.colour = true;
  const std::string text = render_verdict(wrong_verdict(), coloured);
  EXPECT_THAT(text, HasSubstr("\x1b[31mFAIL\x1b[0m"));
  EXPECT_THAT(text, HasSubstr("\x1b[31mREJECTED\x1b[0m"));
}

TEST(VerdictText, HostileTextCannotReachTheTerminal) {
  const OptimizeReport r = hostile_report();
  const std::string text = render_verdict(r.verdict, r.champion);
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("\x07")));
  EXPECT_THAT(text, Not(HasSubstr("\xe2\x80\xae")));
  EXPECT_THAT(text, HasSubstr("\\u{1b}[2J"));
}

TEST(VerdictText, WhatTheSummarySaysIsNotSaidAgain) {
  Verdict v = wrong_verdict();
  v.correctness.summary =
      "3 of 24576 elements of `out` wrong on batch=12, first at [7, 1033]: got 31.97";
  const std::string text = render_verdict(v, view("x"));
  EXPECT_THAT(text, Not(HasSubstr("elements of `out` are wrong")));
  EXPECT_THAT(text, HasSubstr("trial 41: got 31.97, should be 38.02"));
}

TEST(VerdictText, WrapsToTheWidth) {
  Verdict v = accepted_verdict();
  v.times.reset();
  v.correctness.summary = "many words that go on and on until they need more than one line of the "
                          "terminal to be shown in full";
  VerdictView narrow = view("");
  narrow.width = 60;
  std::string text = render_verdict(v, narrow);
  for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
    EXPECT_LE(display_width(text.substr(at, end - at)), 60u) << text;
}

TEST(VerdictText, LongListsAreCutWithACount) {
  Verdict v = build_failure();
  v.diagnostics.resize(20, v.diagnostics[0]);
  EXPECT_THAT(render_verdict(v, "k"), HasSubstr("and 12 more, all in --json"));
}

TEST(VerdictText, PrecisionIsSaidAndReducedPrecisionStandsOut) {
  Verdict v = accepted_verdict();
  EXPECT_EQ(precision_sentence(v), "");
  v.precision = PrecisionEvidence{.word = "AS_BASELINE", .summary = "error 1.1x of b's"};
  EXPECT_THAT(render_verdict(v, "k"), HasSubstr("precision: error 1.1x of b's"));
  EXPECT_THAT(render_verdict(v, "k"), Not(HasSubstr("REDUCED_PRECISION")));
  v.precision = PrecisionEvidence{.word = "REDUCED_PRECISION", .summary = "error 9x of b's"};
  const std::string text = render_verdict(v, "k");
  EXPECT_THAT(text, HasSubstr("REDUCED_PRECISION: error 9x of b's; within the tolerance, so no"));
  EXPECT_THAT(text, HasSubstr(" REDUCED_PRECISION\n")) << "beside the closing word";
}

TEST(VerdictText, SaysHowCallsDiffered) {
  Verdict v = accepted_verdict();
  EXPECT_EQ(exercise_sentence(v), "");
  v.exercise =
      Exercise{.end_aligned = 1170, .start_aligned = 169, .shapes = 16, .ragged = 9, .hidden = 8};
  EXPECT_EQ(exercise_sentence(v),
            "buffers ended at a guard page in 1,170 calls and began after one in 169; 16 "
            "shapes, 9 of them ragged, 8 that no workload lists");
}

TEST(Mismatch, PartsAndHintsFollowThePlace) {
  Mismatch m = *wrong_verdict().mismatch;
  EXPECT_EQ(mismatch_parts(m), "");
  const std::string general = mismatch_hint(m);
  m.place = MismatchPlace{.cluster = "last columns",
                          .text = "all in columns 496..511",
                          .rows = 8,
                          .columns = 512,
                          .relative_error = 0.0125,
                          .worst_row = 3,
                          .worst_row_error = 0.5,
                          .worst_tile_row = 0,
                          .worst_tile_column = 496,
                          .worst_tile_error = std::numeric_limits<double>::infinity(),
                          .max_ulp = 8388608};
  EXPECT_EQ(mismatch_parts(m),
            "error relative to the norm: whole output 1.25 %; worst row 3: 50 %; worst tile of 16 "
            "x 16, from row 0, column 496: infinite; up to 8,388,608 ulp");
  EXPECT_THAT(mismatch_hint(m), HasSubstr("only the end of rows is off"));
  m.place->cluster = "scattered";
  EXPECT_EQ(mismatch_hint(m), general);
  m.place->cluster = "tile";
  m.pattern = "poison left"; // says more than where
  EXPECT_THAT(mismatch_hint(m), HasSubstr("never wrote them"));
  m.place->rows = 1;
  EXPECT_THAT(mismatch_parts(m), Not(HasSubstr("tile")));
}

TEST(Mismatch, SentencesReadWell) {
  Mismatch m = *wrong_verdict().mismatch;
  EXPECT_EQ(mismatch_sentence(m),
            "3 of 24,576 elements of `out` are wrong in trial 41, first at [7, 1033]");
  EXPECT_EQ(mismatch_figures(m), "got 31.97, should be 38.02: off by 6.05, allowed 2e-05 (302,500 "
                                 "times as much)");
  m.got = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(mismatch_figures(m), "got nan, should be 38.02");
  for (const char* pattern : {"all", "tail", "rows", "scattered", "poison left", "non-finite"}) {
    m.pattern = pattern;
    EXPECT_NE(mismatch_hint(m), "") << pattern;
  }
  for (const char* pattern :
       {"out of range", "repeated", "other value", "order", "not the greatest"}) {
    m.pattern = pattern, m.got = 17, m.want = 203;
    EXPECT_NE(mismatch_hint(m), "") << pattern;
    EXPECT_EQ(mismatch_figures(m),
              "got place 17; with equal elements in order of place it would be 203");
  }
  for (const char* pattern :
       {"unreachable", "taken twice", "missing", "padding", "not among the greatest"}) {
    m.pattern = pattern;
    EXPECT_NE(mismatch_hint(m), "") << pattern;
    EXPECT_EQ(mismatch_figures(m), "got 17; by falling scores it would be 203");
  }
  m.pattern = "something new";
  EXPECT_EQ(mismatch_hint(m), "");
}

} // namespace
} // namespace kw
