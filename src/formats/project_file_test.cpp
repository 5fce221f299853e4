// SPDX-License-Identifier: Apache-2.0
#include "formats/project_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ProjectFile, ValuesAreWhatOneWouldType) {
  const auto file = parse_project_file(
      "state = \"st\"\n\n[evaluate]\ngate = \"accept\"\njobs = 2\ntime = true\nleast_window = 0.5\n"
      "workload = [\"rows=1\", \"rows=2\"]\n[optimize]\n",
      "sub/kernwright.toml");
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_EQ(file->folder, "sub");
  EXPECT_THAT(file->sections.at("").at("state").values, ElementsAre("st"));
  const auto& evaluate = file->sections.at("evaluate");
  EXPECT_THAT(evaluate.at("jobs").values, ElementsAre("2"));
  EXPECT_THAT(evaluate.at("time").values, ElementsAre("true"));
  EXPECT_THAT(evaluate.at("least_window").values, ElementsAre("0.5"));
  EXPECT_THAT(evaluate.at("workload").values, ElementsAre("rows=1", "rows=2"));
  EXPECT_EQ(evaluate.at("gate").where, "sub/kernwright.toml:4");
  EXPECT_TRUE(file->sections.at("optimize").empty());
}

TEST(ProjectFile, FaultsNameTheirLine) {
  const auto broken = parse_project_file("state = \"st\"\n[evaluate\n", "kernwright.toml");
  ASSERT_FALSE(broken);
  EXPECT_THAT(broken.error().where, HasSubstr("kernwright.toml:2:"));
  for (const char* text : {"\n[evaluate]\ngate = {a = 1}\n", "\n[evaluate]\ngate = 2020-01-01\n",
                           "\n[evaluate]\ngate = [[1]]\n"}) {
    const auto odd = parse_project_file(text, "k.toml");
    ASSERT_FALSE(odd) << text;
    EXPECT_EQ(odd.error().where, "k.toml:3");
    EXPECT_FALSE(odd.error().remedy.empty());
  }
}

TEST(ProjectFile, AbsentIsFineUnlessNamed) {
  EXPECT_EQ(read_project_file("/nonexistent/kernwright.toml").error().kind, ErrorKind::not_found);
}

} // namespace
} // namespace kw
