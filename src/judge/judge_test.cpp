// SPDX-License-Identifier: Apache-2.0
// From the axes of a verdict to its word. The tables are written out, not computed: they are the
// rule.
#include "judge/judge.hpp"

#include <algorithm>
#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

using testing::ElementsAre;

constexpr Outcome outcomes[] = {Outcome::unknown, Outcome::pass, Outcome::fail};

using Axes = std::array<Outcome, 5>; ///< build, sandbox, correctness, timing, merit

Verdict verdict_of(const Axes& axes) {
  Verdict v;
  v.build.outcome = axes[0];
  v.sandbox.outcome = axes[1];
  v.correctness.outcome = axes[2];
  v.timing.outcome = axes[3];
  v.merit.outcome = axes[4];
  return v;
}

Verdict concluded(Verdict v, bool timing_asked) {
  v.accepted = true; // a leftover must not survive
  v.word = "leftover";
  conclude(v, timing_asked);
  return v;
}

template <class Visit> void for_all_axes(Visit visit) {
  for (const Outcome build : outcomes)
    for (const Outcome sandbox : outcomes)
      for (const Outcome correctness : outcomes)
        for (const Outcome timing : outcomes)
          for (const Outcome merit : outcomes)
            visit(Axes{build, sandbox, correctness, timing, merit});
}

std::string text(const Axes& axes) {
  std::string out;
  for (const Outcome o : axes)
    out += name(o) + " ";
  return out;
}

/// correctness, timing, merit where build and sandbox passed and nothing failed.
struct Row {
  Outcome correctness, timing, merit;
  const char* word;       ///< timing was not asked for
  const char* timed_word; ///< it was
};
constexpr Outcome u = Outcome::unknown, p = Outcome::pass;
constexpr Row rows[] = {
    {u, u, u, "UNDECIDED", "UNDECIDED"}, {u, u, p, "UNDECIDED", "UNDECIDED"},
    {u, p, u, "UNDECIDED", "UNDECIDED"}, {u, p, p, "UNDECIDED", "UNDECIDED"},
    {p, u, u, "CORRECT", "UNDECIDED"},   {p, u, p, "CORRECT", "ACCEPTED"},
    {p, p, u, "CORRECT", "UNDECIDED"},   {p, p, p, "CORRECT", "ACCEPTED"},
};

TEST(Conclude, TheWordFollowsTheAxes) {
  for (const Row& row : rows) {
    const Axes axes{p, p, row.correctness, row.timing, row.merit};
    for (const bool timed : {false, true}) {
      const Verdict v = concluded(verdict_of(axes), timed);
      const std::string word = timed ? row.timed_word : row.word;
      EXPECT_EQ(v.word, word) << text(axes) << timed;
      EXPECT_EQ(v.accepted, word == "CORRECT" || word == "ACCEPTED") << text(axes) << timed;
    }
  }
}

TEST(Conclude, OneFailedAxisRejectsWhateverTheOthersSay) {
  int failed = 0;
  for_all_axes([&](const Axes& axes) {
    if (std::count(axes.begin(), axes.end(), Outcome::fail) == 0)
      return;
    for (const bool timed : {false, true}) {
      const Verdict v = concluded(verdict_of(axes), timed);
      EXPECT_EQ(v.word, "REJECTED") << text(axes) << timed;
      EXPECT_FALSE(v.accepted) << text(axes) << timed;
    }
    ++failed;
  });
  EXPECT_EQ(failed, 243 - 32);
}

TEST(Conclude, OurOwnFailureIsNeverAVerdict) {
  for_all_axes([&](const Axes& axes) {
    Verdict v = verdict_of(axes);
    v.infrastructure_error = "the disk is full";
    for (const bool timed : {false, true}) {
      const Verdict said = concluded(v, timed);
      EXPECT_EQ(said.word, "INFRASTRUCTURE") << text(axes) << timed;
      EXPECT_FALSE(said.accepted) << text(axes) << timed;
    }
  });
}

TEST(Conclude, NothingIsAcceptedWithoutCorrectnessOrWithoutWhatWasAsked) {
  for_all_axes([&](const Axes& axes) {
    for (const bool timed : {false, true}) {
      if (!concluded(verdict_of(axes), timed).accepted)
        continue;
      EXPECT_EQ(axes[2], Outcome::pass) << text(axes);
      if (timed) {
        EXPECT_EQ(axes[4], Outcome::pass) << text(axes);
      }
    }
  });
}

TEST(Reject, TheSentenceGoesToTheAxisOfTheFinding) {
  for (const Finding f : {Finding::protocol, Finding::crash, Finding::wrong, Finding::state,
                          Finding::nondeterminism, Finding::resource, Finding::sandbox}) {
    Verdict v = verdict_of({p, p, u, u, u});
    reject(v, {.finding = f, .detail = "it went wrong"});
    const bool sandbox = f == Finding::sandbox;
    const AxisVerdict& axis = sandbox ? v.sandbox : v.correctness;
    EXPECT_EQ(axis.outcome, Outcome::fail) << name(f);
    EXPECT_EQ(axis.summary, "it went wrong") << name(f);
    EXPECT_EQ((sandbox ? v.correctness : v.sandbox).outcome, sandbox ? u : p) << name(f);
    EXPECT_EQ(v.finding, f);
    conclude(v, false);
    EXPECT_EQ(v.word, "REJECTED") << name(f);
  }
}

TEST(Reject, RemedyAndMismatchAreKept) {
  Verdict v;
  v.correctness.details = {"59 trials planned"};
  TrialResult result{.finding = Finding::wrong, .detail = "wrong", .remedy = "look at the tail"};
  result.mismatch = Mismatch{.workload = "w-1", .trial = 4, .output = "y", .at = {2, 3}};
  reject(v, result);
  EXPECT_THAT(v.correctness.details, ElementsAre("59 trials planned", "remedy: look at the tail"));
  ASSERT_TRUE(v.mismatch.has_value());
  EXPECT_EQ(v.mismatch->trial, 4U);
  EXPECT_THAT(v.mismatch->at, ElementsAre(2, 3));
}

TEST(Reject, WithoutARemedyNoLineIsAdded) {
  Verdict v;
  reject(v, {.finding = Finding::crash, .detail = "killed by signal 11"});
  EXPECT_TRUE(v.correctness.details.empty());
  EXPECT_FALSE(v.mismatch.has_value());
}

} // namespace
} // namespace kw
