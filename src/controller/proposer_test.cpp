// SPDX-License-Identifier: Apache-2.0
#include "controller/proposer.hpp"

#include "controller/command_proposer.hpp"
#include "controller/directory_proposer.hpp"
#include "controller/list_proposer.hpp"
#include "controller/solution_folder.hpp"
#include "os/files.hpp"
#include "os/temp_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kw {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kernel = "extern \"C\" int f(const float* x, float* y) { return 0; }\n";

Definition definition() {
  Definition d;
  d.name = "copy_f32";
  return d;
}

Solution solution(const std::string& text = kernel) {
  Solution s;
  s.name = "one", s.definition = "copy_f32", s.author = "me";
  s.spec.entry_point = "k.cpp::f";
  s.spec.binding = "kernwright";
  s.sources = {{"k.cpp", text}};
  return s;
}

ProposalRequest request(const Definition& d, const Solution& champion, int count = 4,
                        const std::string& regime = "all") {
  return {.definition = d,
          .regime = regime,
          .condition = {},
          .axes = {},
          .direction = {},
          .does = {},
          .why = {},
          .state = "memory",
          .champion = champion,
          .attempts = {},
          .handoff = {},
          .count = count};
}

std::vector<std::string> names(const Result<Proposals>& given) {
  std::vector<std::string> out;
  for (const Proposal& p : given->proposals)
    out.push_back(p.hypothesis);
  return out;
}

TEST(Command, SplitsLikeAShell) {
  EXPECT_THAT(*split_command(R"(run  'a b' "c\"d" e\ f "" {out})"),
              ElementsAre("run", "a b", "c\"d", "e f", "", "{out}"));
  EXPECT_THAT(*split_command(R"('a\b')"), ElementsAre(R"(a\b)"));
  EXPECT_FALSE(split_command("run 'a"));
  EXPECT_FALSE(split_command("  \t"));
}

TEST(ParseProposer, KindsAndArguments) {
  EXPECT_EQ(parse_proposer("command:a:b c")->argument, "a:b c");
  EXPECT_EQ(parse_proposer("tuner")->kind, "tuner");
  for (const char* wrong : {"", "tuner:", "tuner:x", "directory", "directory:", "model:x"})
    EXPECT_FALSE(parse_proposer(wrong)) << wrong;
}

TEST(Proposals, SurviveTheJournal) {
  Proposals given{.proposals = {{.solution = solution(),
                                 .hypothesis = "h\n\xc3\xa9",
                                 .source = "a/b.cpp",
                                 .commit = "0123",
                                 .licence = "MIT"}},
                  .problems = {"p"},
                  .usage = {.tokens = 12, .cost_usd = 0.5}};
  const Result<Proposals> back = proposals_from_json(Json::parse(dump_json(to_json(given))));
  ASSERT_TRUE(back) << back.error().text();
  ASSERT_EQ(back->proposals.size(), 1U);
  const Proposal& p = back->proposals[0];
  EXPECT_EQ(source_identity(p.solution), source_identity(solution()));
  EXPECT_EQ(p.solution.spec.binding, "kernwright");
  EXPECT_EQ(p.hypothesis + p.source + p.commit + p.licence, "h\n\xc3\xa9"
                                                            "a/b.cpp"
                                                            "0123"
                                                            "MIT");
  EXPECT_THAT(back->problems, ElementsAre("p"));
  EXPECT_EQ(back->usage.tokens, 12);
  EXPECT_EQ(back->usage.cost_usd, 0.5);
  for (const char* damaged : {"3", "{}", R"({"proposals":3})", R"({"proposals":[3]})",
                              R"({"proposals":[{"solution":{}}]})"})
    EXPECT_FALSE(proposals_from_json(Json::parse(damaged))) << damaged;
}

TEST(Request, HoldsTheSources) {
  const Definition d = definition();
  const Solution champion = solution();
  ProposalRequest r = request(d, champion);
  r.attempts = {{.probe = "p",
                 .proposer = "tuner",
                 .hypothesis = "h",
                 .decision = "reject",
                 .reason = "slow",
                 .finding = "NONE",
                 .speedup = 0.5}};
  const Json json = request_json(r);
  EXPECT_EQ(json["schema"], "kernwright.proposal_request/1");
  EXPECT_EQ(json["champion"]["solution"]["sources"][0]["content"], kernel);
  EXPECT_EQ(json["attempts"][0]["speedup"], 0.5);
  EXPECT_EQ(json["definition"]["name"], "copy_f32");
}

TEST(List, GoesThroughItOncePerRegime) {
  const Definition d = definition();
  const Solution s = solution();
  const auto one = [&](const std::string& regime, const std::string& name) {
    return ListedProposal{.regime = regime,
                          .proposal = {.solution = s, .hypothesis = name, .source = name}};
  };
  const auto list = make_list_proposer("replay", "0001",
                                       {one("", "a"), one("m", "b"), one("n", "c"), one("m", "d")});
  EXPECT_THAT(names(list->propose(request(d, s, 2, "m"))), ElementsAre("a", "b"));
  EXPECT_THAT(names(list->propose(request(d, s, 2, "n"))), ElementsAre("a", "c"));
  list->had("m", {.solution = s, .hypothesis = "d", .source = "d"});
  EXPECT_THAT(names(list->propose(request(d, s, 2, "m"))), ElementsAre());
  EXPECT_THAT(names(list->propose(request(d, s, 2, "n"))), ElementsAre());
}

TEST(Directory, TakesWhatIsNewAndTellsHowItFared) {
  const Result<TempDir> dir = TempDir::create();
  ASSERT_TRUE(dir);
  const Definition d = definition();
  const Solution champion = solution();
  EXPECT_FALSE(make_directory_proposer(dir->file("none"), [] { return false; }));
  auto made = make_directory_proposer(dir->path(), [] { return false; });
  ASSERT_TRUE(made);
  Proposer& folder = **made;
  EXPECT_THAT(names(folder.propose(request(d, champion))), ElementsAre());
  const auto put = [&](const std::string& name, const std::string& text) {
    ASSERT_TRUE(write_file_atomic(dir->file(name), text));
  };
  put("b.cpp", kernel);
  put("a.cpp", kernel + std::string("// a\n"));
  put("c.solution.json", "{");
  put("notes.txt", "none");
  put(".hidden.cpp", kernel);
  const Result<Proposals> first = folder.propose(request(d, champion));
  EXPECT_THAT(names(first), ElementsAre("a.cpp", "b.cpp"));
  EXPECT_THAT(first->problems, ElementsAre(HasSubstr("c.solution.json")));
  EXPECT_THAT(names(folder.propose(request(d, champion))), ElementsAre());
  EXPECT_TRUE(folder.propose(request(d, champion))->problems.empty()) << "said once";
  EXPECT_THAT(names(folder.propose(request(d, champion, 1, "other regime"))), ElementsAre("a.cpp"));
  put("a.cpp", kernel + std::string("// changed\n"));
  EXPECT_THAT(names(folder.propose(request(d, champion))), ElementsAre("a.cpp"));

  folder.hear(first->proposals[1], {.probe = "77",
                                    .proposer = {},
                                    .hypothesis = {},
                                    .decision = "keep",
                                    .reason = "r",
                                    .finding = "NONE",
                                    .speedup = 2});
  const Result<std::string> told = read_file(dir->file("results/b.cpp.json"));
  ASSERT_TRUE(told);
  EXPECT_EQ(Json::parse(*told)["speedup"], 2);
  EXPECT_THAT(names(folder.propose(request(d, champion))), ElementsAre());

  // A run that goes on from its journal had handed these out before.
  auto again = make_directory_proposer(dir->path(), [] { return false; });
  for (const Proposal& p : first->proposals)
    (*again)->had("all", p);
  EXPECT_THAT(names((*again)->propose(request(d, champion))), ElementsAre("a.cpp"));
}

} // namespace
} // namespace kw
