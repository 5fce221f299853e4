// SPDX-License-Identifier: Apache-2.0
#include "controller/journal.hpp"

#include "os/files.hpp"
#include "os/temp_dir.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kw {
namespace {

class JournalTest : public testing::Test {
 protected:
  JournalTest() : dir_(TempDir::create("kernwright-journal").value()) {
    path_ = join_path(dir_.path(), "journal.jsonl");
  }
  /// Three effects; counts those that were carried out.
  Result<int> go(Journal& journal) {
    int live = 0;
    for (int i = 0; i < 3; ++i) {
      KW_TRY(const Json result,
             journal.once("evaluate", "config " + std::to_string(i), [&]() -> Result<Json> {
               ++live;
               return Json{{"cost", 0.1 * i}, {"reason", "line\nbreak"}};
             }));
      EXPECT_EQ(result["cost"].get<double>(), 0.1 * i);
      EXPECT_EQ(result["reason"], "line\nbreak");
    }
    return live;
  }
  TempDir dir_;
  std::string path_;
};

TEST_F(JournalTest, WhatWasDoneIsNotDoneAgain) {
  Journal journal = Journal::open(path_).value();
  EXPECT_EQ(go(journal).value(), 3);
  Journal again = Journal::open(path_).value();
  EXPECT_TRUE(again.replaying());
  EXPECT_EQ(go(again).value(), 0);
  EXPECT_FALSE(again.replaying());
}

TEST_F(JournalTest, CutAnywhereItGoesOnAndEndsTheSame) {
  Journal journal = Journal::open(path_).value();
  ASSERT_TRUE(go(journal));
  const std::string whole = read_file(path_).value();
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    ASSERT_TRUE(write_file_atomic(path_, whole.substr(0, cut)));
    Result<Journal> torn = Journal::open(path_);
    ASSERT_TRUE(torn) << cut << ": " << torn.error().text();
    const std::size_t kept = torn->size();
    EXPECT_EQ(go(*torn).value(), 3 - static_cast<int>(kept)) << cut;
    EXPECT_EQ(read_file(path_).value(), whole) << cut;
  }
}

TEST_F(JournalTest, AFailedEffectIsNotRecorded) {
  Journal journal = Journal::open(path_).value();
  EXPECT_FALSE(journal.once("evaluate", "a",
                            [] { return Result<Json>(fail(ErrorKind::interrupted, "stopped")); }));
  EXPECT_EQ(journal.size(), 0u);
  EXPECT_EQ(go(journal).value(), 3);
}

TEST_F(JournalTest, AnotherEffectThanTheRecordedOneIsAnError) {
  Journal journal = Journal::open(path_).value();
  ASSERT_TRUE(go(journal));
  Journal again = Journal::open(path_).value();
  const Result<Json> other =
      again.once("evaluate", "config 7", [] { return Result<Json>(Json::object()); });
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("would go on otherwise"), std::string::npos);
}

TEST_F(JournalTest, AnswersFromAnotherJournalAreRecordedHere) {
  Journal first = Journal::open(path_).value();
  ASSERT_TRUE(go(first));
  const std::string copy = join_path(dir_.path(), "second.jsonl");
  Journal second = Journal::open(copy).value();
  ASSERT_TRUE(second.answer_from(path_));
  EXPECT_TRUE(second.answered());
  EXPECT_EQ(go(second).value(), 0);
  EXPECT_EQ(read_file(copy).value(), read_file(path_).value());
  EXPECT_FALSE(second.answered());
}

TEST_F(JournalTest, DamageBeforeTheLastLineNamesIt) {
  for (const std::string text :
       {"{\"schema\":\"kernwright.journal/2\"}\n",
        "{\"schema\":\"kernwright.journal/1\"}\nnot json\n",
        "{\"schema\":\"kernwright.journal/1\"}\n{\"effect\":7,\"result\":1}\n",
        "{\"schema\":\"kernwright.journal/1\"}\n{\"effect\":\"a\",\"key\":\"b\"}\n", "[]\n"}) {
    ASSERT_TRUE(write_file_atomic(path_, text));
    const Result<Journal> damaged = Journal::open(path_);
    ASSERT_FALSE(damaged) << text;
    EXPECT_NE(damaged.error().where.find("journal.jsonl:"), std::string::npos);
    EXPECT_FALSE(damaged.error().remedy.empty());
  }
}

} // namespace
} // namespace kw
