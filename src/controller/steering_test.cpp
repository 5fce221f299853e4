// SPDX-License-Identifier: Apache-2.0
#include "controller/steering.hpp"

#include "os/files.hpp"
#include "os/temp_dir.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kw {
namespace {

TEST(Steering, IsCheckedBeforeItIsWritten) {
  EXPECT_TRUE(
      check_steering({.kind = "prefer", .direction = "prefetch", .text = {}, .by = {}, .at = {}}));
  EXPECT_TRUE(check_steering(
      {.kind = "note", .direction = {}, .text = "t", .by = {}, .at = {}, .minutes = 3}));
  const Status unknown =
      check_steering({.kind = "prefer", .direction = "fast", .text = {}, .by = {}, .at = {}});
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().remedy.find("prefetch"), std::string::npos) << "the remedy lists them";
  EXPECT_FALSE(check_steering({.kind = "prefer", .direction = {}, .text = {}, .by = {}, .at = {}}));
  EXPECT_FALSE(
      check_steering({.kind = "approve", .direction = "prefetch", .text = {}, .by = {}, .at = {}}));
  EXPECT_FALSE(check_steering({.kind = "pray", .direction = {}, .text = {}, .by = {}, .at = {}}));
  for (const double minutes : {-1.0, 1441.0, std::nan("")})
    EXPECT_FALSE(check_steering(
        {.kind = "note", .direction = {}, .text = {}, .by = {}, .at = {}, .minutes = minutes}));
}

TEST(Steering, TheLedgerIsReadFromWhereOneLeftOff) {
  const Result<TempDir> dir = TempDir::create();
  ASSERT_TRUE(dir);
  const std::string path = dir->file("steering.jsonl");
  EXPECT_EQ(read_steering(path, 0)->lines, 0U);
  const auto say = [&](const std::string& kind, const std::string& text) {
    ASSERT_TRUE(append_steering(path, {.kind = kind,
                                       .direction = {},
                                       .text = text,
                                       .by = "ann",
                                       .at = "2026-01-02T03:04:05Z",
                                       .minutes = 2}));
  };
  say("note", "one\ntwo");
  ASSERT_TRUE(append_line_durable(path, "{\"kind\": \"nonsense\"}"));
  ASSERT_TRUE(append_line_durable(path, "not json"));
  say("approve", "");
  const Result<SteeringLines> all = read_steering(path, 0);
  ASSERT_TRUE(all);
  ASSERT_EQ(all->steerings.size(), 2U);
  EXPECT_EQ(all->steerings[0].text, "one\ntwo");
  EXPECT_EQ(all->steerings[0].by, "ann");
  EXPECT_EQ(all->steerings[0].minutes, 2);
  EXPECT_EQ(all->lines, 4U);
  EXPECT_TRUE(read_steering(path, 4)->steerings.empty());
  EXPECT_EQ(read_steering(path, 3)->steerings.at(0).kind, "approve");
  // A line that is still being written is left for the next time.
  ASSERT_TRUE(write_file_atomic(path, *read_file(path) + "{\"kind\": \"note\""));
  EXPECT_EQ(read_steering(path, 0)->lines, 4U);
}

} // namespace
} // namespace kw
