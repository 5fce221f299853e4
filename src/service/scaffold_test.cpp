// SPDX-License-Identifier: Apache-2.0
#include "service/scaffold.hpp"

#include "os/files.hpp"
#include "os/temp_dir.hpp"
#include "service/checking.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

using testing::HasSubstr;

TEST(Scaffold, BothKindsPassTheCheckAsWritten) {
  const TempDir dir = TempDir::create().value();
  for (const std::string& kind : {std::string("c++"), std::string("python")}) {
    const std::string folder = dir.file(kind);
    const auto written = scaffold_operator(folder, "my_op", kind);
    ASSERT_TRUE(written) << written.error().text();
    for (const std::string& file : *written)
      EXPECT_TRUE(is_file(file)) << file;
    EXPECT_EQ(is_file(folder + "/oracle.cpp"), kind == "c++");
    const Result<CheckReport> report = check({}, folder, false);
    ASSERT_TRUE(report) << report.error().text();
    EXPECT_THAT(report->definitions, testing::ElementsAre("my_op"));
    EXPECT_EQ(report->workloads, 2U);
    for (const Issue& issue : report->issues)
      ADD_FAILURE() << issue.error.text();
  }
}

TEST(Scaffold, NamesAreIdentifiers) {
  const TempDir dir = TempDir::create().value();
  for (const char* name : {"", "9x", "a-b", "a b", "../up", "a/b", "caf\xc3\xa9"}) {
    const auto written = scaffold_operator(dir.file("op"), name, "c++");
    ASSERT_FALSE(written) << name;
    EXPECT_EQ(written.error().kind, ErrorKind::invalid_input);
    EXPECT_FALSE(is_dir(dir.file("op"))) << name;
  }
}

TEST(Scaffold, AnExistingFolderIsLeftAlone) {
  const TempDir dir = TempDir::create().value();
  ASSERT_TRUE(write_file_atomic(dir.file("file"), "mine"));
  for (const std::string& taken : {dir.path(), dir.file("file")}) {
    const auto written = scaffold_operator(taken, "my_op", "c++");
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().kind, ErrorKind::refused);
    EXPECT_THAT(written.error().remedy, HasSubstr("--dir"));
  }
  EXPECT_EQ(list_tree(dir.path()).value().size(), 1U);
}

} // namespace
} // namespace kw
