// SPDX-License-Identifier: Apache-2.0
#include "base/strings.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

TEST(Strings, EditDistanceCountsSwapsOnce) {
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("flaot", "float"), 1u);
}

TEST(Strings, NearestNameOnlyForTypos) {
  const std::vector<std::string> names{"hidden_size", "batch_size", "n"};
  EXPECT_EQ(nearest_name("hiden_size", names), "hidden_size");
  EXPECT_EQ(nearest_name("bacth_size", names), "batch_size");
  EXPECT_EQ(nearest_name("weights", names), "");
  EXPECT_EQ(nearest_name("m", names), ""); // a one-letter name is no typo of another
  EXPECT_EQ(nearest_name(std::string(1 << 20, 'x'), names), "");
}

TEST(Strings, Identifiers) {
  for (const char* name : {"a", "_", "x1", "Long_Name_9"})
    EXPECT_TRUE(is_identifier(name)) << name;
  for (const char* name : {"", "1a", "a b", "a-b", "a;", "\xc3\xa9", "a\n", "*/"})
    EXPECT_FALSE(is_identifier(name)) << name;
}

TEST(Strings, Utf8) {
  EXPECT_TRUE(is_utf8("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"));
  for (const char* bad : {"\xff", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                          "\xc3", "\xe2\x82", "\x80"})
    EXPECT_FALSE(is_utf8(bad));
}

TEST(Strings, InnerPaths) {
  for (const char* good : {"a", "a/b.cpp", "..a/b..", ".hidden"})
    EXPECT_TRUE(is_inner_path(good)) << good;
  for (const char* bad : {"", "/a", "../a", "a/../b", "a//b", "a/", "./a", "a/.", "..", "a\\b"})
    EXPECT_FALSE(is_inner_path(bad)) << bad;
  EXPECT_FALSE(is_inner_path(std::string_view("a\0b", 3)));
}

} // namespace
} // namespace kw
