// SPDX-License-Identifier: Apache-2.0
// Finding what a command names: definitions, solutions, entries. Opening a judge is shown end to
// end.
#include "service/judging.hpp"

#include "os/files.hpp"
#include "os/temp_dir.hpp"
#include "service/scaffold.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

using testing::HasSubstr;

constexpr const char* kernel =
    "extern \"C\" int scale(const float* x, float* y, long rows) { return 0; }\n";

/// Two operators in a folder of their own.
class TwoOperators : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"scale_up", "halve"}) {
      const auto written = scaffold_operator(dir.file("ops/") + name, name, "c++");
      ASSERT_TRUE(written) << written.error().text();
    }
    workspace.operators = dir.file("ops");
  }
  std::string write(const std::string& name, const std::string& text) {
    EXPECT_TRUE(write_file_atomic(dir.file(name), text));
    return dir.file(name);
  }
  TempDir dir = TempDir::create().value();
  Workspace workspace;
};
using FindTask = TwoOperators;
using LoadSolution = TwoOperators;

TEST_F(FindTask, ByNameWithItsWorkloads) {
  const Result<Task> task = find_task(workspace, "scale_up");
  ASSERT_TRUE(task) << task.error().text();
  EXPECT_EQ(task->definition.name, "scale_up");
  EXPECT_EQ(task->workloads.size(), 2U);
  EXPECT_FALSE(task->definition.ext.oracle.source_text.empty());
}

TEST_F(FindTask, ByFileOrFolderWhateverTheOperatorsAre) {
  workspace.operators = dir.file("nowhere");
  for (const std::string& path :
       {dir.file("ops/halve"), dir.file("ops/halve/halve.definition.json")}) {
    const Result<Task> task = find_task(workspace, path);
    ASSERT_TRUE(task) << task.error().text();
    EXPECT_EQ(task->definition.name, "halve");
  }
}

TEST_F(FindTask, ATypoIsAnsweredWithTheNearestName) {
  for (const std::string& typo : {std::string("scale_pu"), std::string("sca")}) {
    const Result<Task> task = find_task(workspace, typo);
    ASSERT_FALSE(task);
    EXPECT_EQ(task.error().kind, ErrorKind::not_found);
    EXPECT_THAT(task.error().message, HasSubstr("there is no definition `" + typo + "`"));
    EXPECT_THAT(task.error().remedy, HasSubstr("did you mean `scale_up`?"));
  }
  EXPECT_THAT(find_task(workspace, "zzzzzzzz").error().remedy,
              testing::Not(HasSubstr("did you mean")));
  EXPECT_THAT(find_task(workspace, "").error().message, HasSubstr("no definition was named"));
}

TEST_F(FindTask, OnlyWhatTheTaskIsMadeOfHasToBeSound) {
  write("ops/halve/halve.definition.json", "{");
  EXPECT_TRUE(find_task(workspace, "scale_up"));
  const Result<Task> broken = find_task(workspace, "halve");
  ASSERT_FALSE(broken);
  EXPECT_THAT(broken.error().text(), HasSubstr("halve.definition.json:1"));
}

TEST_F(LoadSolution, ABareSourceNeedsItsDefinition) {
  const std::string path = write("k.cpp", kernel);
  const Result<Solution> unnamed = load_solution(path, "", "");
  ASSERT_FALSE(unnamed);
  EXPECT_THAT(unnamed.error().remedy, HasSubstr("-d"));
  const Result<Solution> named = load_solution(path, "scale_up", "");
  ASSERT_TRUE(named) << named.error().text();
  EXPECT_EQ(named->definition, "scale_up");
  EXPECT_EQ(named->spec.entry_point, "k.cpp::scale");
  EXPECT_EQ(named->spec.language, "cpp");
}

TEST_F(LoadSolution, SeveralEntriesHaveToBeChosenFrom) {
  const std::string path =
      write("k.cpp", std::string(kernel) + "extern \"C\" int other(long n) { return 1; }\n");
  const Result<Solution> unclear = load_solution(path, "scale_up", "");
  ASSERT_FALSE(unclear);
  EXPECT_THAT(unclear.error().remedy, HasSubstr("--entry"));
  const Result<Solution> chosen = load_solution(path, "scale_up", "other");
  ASSERT_TRUE(chosen) << chosen.error().text();
  EXPECT_EQ(chosen->spec.entry_function(), "other");
}

TEST_F(LoadSolution, AMissingFileIsNamed) {
  const Result<Solution> missing = load_solution(dir.file("none.cpp"), "scale_up", "f");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().text(), HasSubstr("none.cpp"));
}

TEST(BaselineSolution, IsTheDeclaredSourceUnderItsBareName) {
  Definition d;
  d.name = "scale";
  d.ext.baseline = BaselineSpec{
      .name = "plain-c++", .source = "sub/baseline.cpp", .source_text = "// b\n", .entry = "base"};
  const Result<Solution> s = baseline_solution(d);
  ASSERT_TRUE(s);
  EXPECT_EQ(s->name, "plain-c++");
  EXPECT_EQ(s->definition, "scale");
  EXPECT_EQ(s->spec.entry_point, "baseline.cpp::base");
  ASSERT_EQ(s->sources.size(), 1U);
  EXPECT_EQ(s->sources[0].path, "baseline.cpp");
  EXPECT_EQ(s->sources[0].content, "// b\n");
  d.ext.baseline.reset();
  ASSERT_FALSE(baseline_solution(d));
  EXPECT_THAT(baseline_solution(d).error().remedy, HasSubstr("--baseline"));
}

TEST(PeersOf, AreTheDeclaredOnesThenTheCopies) {
  Definition d;
  d.name = "scale";
  d.axes = {{.name = "n", .value = {}}};
  d.inputs = {{.name = "x", .shape = {{"n"}}}};
  d.outputs = {{.name = "y", .shape = {{"n"}}}};
  d.ext.peers = {{.name = "openblas", .kind = "c++"}};
  std::vector<std::string> names;
  for (const PeerSpec& p : peers_of(d))
    names.push_back(p.name);
  EXPECT_THAT(names, testing::ElementsAre("openblas", "copy", "copy-nt"));
}

} // namespace
} // namespace kw
