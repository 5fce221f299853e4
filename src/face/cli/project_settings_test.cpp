// SPDX-License-Identifier: Apache-2.0
#include "face/cli/project_settings.hpp"

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A command line like ours, small.
struct ProjectSettings : testing::Test {
  CLI::App app;
  Context context;
  std::string gate = "gate";
  std::vector<std::string> workloads;
  bool peers = false, weak = false;
  int jobs = 1;

  ProjectSettings() {
    CLI::App* evaluate = app.add_subcommand("evaluate");
    evaluate->add_option("--gate", gate)->check(CLI::IsMember({"smoke", "gate", "accept"}));
    evaluate->add_option("--workload", workloads);
    evaluate->add_flag("--no-peers", peers);
    evaluate->add_flag("--allow-weak-sandbox", weak);
    evaluate->add_option("-j,--jobs", jobs)->check(CLI::Range(1, 64));
    app.add_subcommand("replay")->add_option("--fresh", jobs);
  }

  Status apply(const std::string& toml, std::vector<std::string> typed) {
    std::reverse(typed.begin(), typed.end()); // as CLI11 wants them
    app.parse(typed);
    const Result<ProjectFile> file = parse_project_file(toml, "dir/kernwright.toml");
    EXPECT_TRUE(file) << file.error().text();
    return apply_project_file(*file, app, context);
  }
};

TEST_F(ProjectSettings, FillsWhatWasNotTyped) {
  ASSERT_TRUE(apply(
      "[evaluate]\ngate = \"accept\"\njobs = 3\nno_peers = true\nworkload = [\"a=1\", \"b=2\"]\n",
      {"evaluate", "--jobs", "2"}));
  EXPECT_EQ(gate, "accept");
  EXPECT_EQ(jobs, 2) << "typed wins";
  EXPECT_TRUE(peers);
  EXPECT_THAT(workloads, ElementsAre("a=1", "b=2"));
  EXPECT_EQ(context.origins.at("gate"), "dir/kernwright.toml:2");
  EXPECT_EQ(context.origins.at("jobs"), "command line");
  EXPECT_EQ(context.origins.at("allow-weak-sandbox"), "default");
}

TEST_F(ProjectSettings, OtherCommandsAreCheckedButNotApplied) {
  ASSERT_TRUE(apply("[evaluate]\njobs = 3\n", {"replay"}));
  EXPECT_EQ(jobs, 1);
}

TEST_F(ProjectSettings, PathsStartAtTheFile) {
  ASSERT_TRUE(
      apply("state = \"st\"\noperators = \"/abs\"\ncompiler = \"clang++-19\"\n", {"evaluate"}));
  EXPECT_EQ(context.workspace.project.state_dir, "dir/st");
  EXPECT_EQ(context.workspace.project.operators, "/abs");
  EXPECT_EQ(context.workspace.project.compiler, "clang++-19");
  EXPECT_EQ(context.workspace.state_dir, "") << "flags stay what was typed";
}

TEST_F(ProjectSettings, MistakesAreNamedWithTheirLine) {
  const auto refused = [&](const std::string& toml, const std::string& message,
                           const std::string& remedy) {
    const Status status = apply(toml, {"evaluate"});
    ASSERT_FALSE(status) << toml;
    EXPECT_THAT(status.error().message, HasSubstr(message));
    EXPECT_THAT(status.error().remedy, HasSubstr(remedy));
    EXPECT_THAT(status.error().where, HasSubstr("dir/kernwright.toml"));
  };
  refused("\n[evaluate]\ngtae = \"gate\"\n", "[evaluate] has no setting `gtae`", "`gate`");
  refused("[evalute]\ngate = \"gate\"\n", "no command `evalute`", "`evaluate`");
  refused("sate = \"x\"\n", "no setting `sate`", "`state`");
  refused("[evaluate]\ngate = \"huge\"\n", "huge", "--gate");
  refused("[evaluate]\njobs = 65\n", "65", "--jobs");
  refused("[replay]\nnope = 1\n", "[replay] has no setting `nope`", "");
}

TEST_F(ProjectSettings, TheSandboxIsNotWeakenedByAFile) {
  EXPECT_FALSE(apply("[evaluate]\nallow_weak_sandbox = true\n", {"evaluate"}));
  EXPECT_FALSE(weak);
}

} // namespace
} // namespace kw::cli
