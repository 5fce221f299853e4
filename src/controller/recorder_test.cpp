// SPDX-License-Identifier: Apache-2.0
#include "controller/recorder.hpp"

#include "base/hash.hpp"
#include "formats/definition_json.hpp"
#include "formats/verdict_json.hpp"

#include <gtest/gtest.h>
#include <memory>

namespace kw {
namespace {

const Seed seed{0, 1, 2, 0xff};
constexpr const char* seed_text = "000102ff000000000000000000000000";

Definition definition() {
  Definition d;
  d.name = "scale";
  d.op_type = "ew";
  d.axes = {{.name = "n", .value = {}}};
  d.inputs = {{.name = "x", .shape = {{"n"}}}};
  d.outputs = {{.name = "y", .shape = {{"n"}}}};
  d.reference = "def run(x):\n    return x\n";
  return d;
}

Solution solution(const std::string& text = "// kernel\n") {
  Solution s;
  s.name = "candidate";
  s.definition = "scale";
  s.author = "me";
  s.spec.entry_point = "kernel.cpp::scale";
  s.sources = {{.path = "kernel.cpp", .content = text}};
  return s;
}

class RecorderTest : public testing::Test {
 protected:
  std::unique_ptr<Archive> archive = make_memory_archive();
  ManualClock clock;
  Environment environment{.hardware = "a CPU",
                          .compiler = "g++-12 12.2.0",
                          .flags = "-O3",
                          .kernel = "6.1",
                          .version = "0"};
  Definition d = definition();
  Recorder recorder{*archive, clock, environment, d};

  Probe judged(const Solution& s = solution()) {
    Probe probe = recorder.open(s, seed);
    probe.proposer = "tuner";
    probe.decision = "promote";
    probe.verdict.accepted = true;
    probe.verdict.word = "ACCEPTED";
    probe.verdict.times = TimingEvidence{.speedup = 1.5, .low = 1.4, .high = 1.6};
    return probe;
  }
  void store(Probe& probe, const TargetBuild& build = {}) {
    const Status stored = recorder.store(probe, build, seed);
    ASSERT_TRUE(stored) << stored.error().text();
  }
};

TEST(Seeds, HexAndBack) {
  EXPECT_EQ(seed_hex(seed), seed_text);
  const Result<Seed> back = seed_from_hex(seed_text);
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, seed);
}

TEST(Seeds, AnythingButHexDigitsIsRefused) {
  const std::string good = seed_text;
  for (const std::string& bad :
       {std::string{}, good.substr(1), good + "0", "0x" + good.substr(2), " " + good.substr(1),
        std::string(32, 'F'), std::string(32, 'g')}) {
    const Result<Seed> read = seed_from_hex(bad);
    ASSERT_FALSE(read) << bad;
    EXPECT_EQ(read.error().kind, ErrorKind::invalid_input);
    EXPECT_FALSE(read.error().remedy.empty());
  }
}

TEST(Seeds, TheCommitmentIsTheTaggedHashOfTheHexDigits) {
  EXPECT_EQ(seed_commitment(seed), sha256_hex(std::string("kernwright.seed/1 ") + seed_text));
  Seed other = seed;
  other.back() = 1;
  EXPECT_NE(seed_commitment(other), seed_commitment(seed));
}

TEST(Seeds, FreshOnesDiffer) {
  EXPECT_NE(fresh_seed(), fresh_seed());
}

TEST_F(RecorderTest, OpeningCommitsToTheSeedWithoutRevealingIt) {
  recorder.run = "0003";
  const Probe probe = recorder.open(solution(), seed);
  EXPECT_EQ(probe.seed_commitment, seed_commitment(seed));
  EXPECT_TRUE(probe.seed.empty());
  EXPECT_TRUE(probe.id.empty());
  EXPECT_EQ(encode_probe(probe).find(seed_text), std::string::npos);
  EXPECT_EQ(probe.run, "0003");
  EXPECT_EQ(probe.definition, "scale");
  EXPECT_EQ(probe.definition_hash, definition_hash(d));
  EXPECT_EQ(probe.started_at, clock.wall_iso8601());
  EXPECT_EQ(probe.environment.compiler, "g++-12 12.2.0");
}

TEST_F(RecorderTest, TheSolutionHashIsThatOfWhatRuns) {
  const std::string hash = recorder.open(solution(), seed).solution_hash;
  Solution renamed = solution();
  renamed.name = "another";
  renamed.author = "somebody";
  EXPECT_EQ(recorder.open(renamed, seed).solution_hash, hash) << "names do not run";
  EXPECT_NE(recorder.open(solution("// kernel \n"), seed).solution_hash, hash);
  Environment other = environment;
  other.flags = "-O2";
  EXPECT_NE(Recorder(*archive, clock, other, d).open(solution(), seed).solution_hash, hash);
  other = environment;
  other.compiler = "g++-13";
  EXPECT_NE(Recorder(*archive, clock, other, d).open(solution(), seed).solution_hash, hash);
  Definition changed = d;
  changed.reference += "\n";
  EXPECT_NE(Recorder(*archive, clock, environment, changed).open(solution(), seed).solution_hash,
            hash);
}

TEST_F(RecorderTest, StoringRevealsTheSeedAndArchivesTheWholeProbe) {
  Probe probe = judged();
  store(probe);
  EXPECT_EQ(probe.seed, seed_text);
  const Result<ArchivedProbe> kept = archive->get_probe(probe.id);
  ASSERT_TRUE(kept) << kept.error().text();
  const Result<Probe> read = decode_probe(kept->json);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->id, probe.id);
  EXPECT_EQ(read->seed, seed_text);
  EXPECT_EQ(seed_commitment(*seed_from_hex(read->seed)), read->seed_commitment);
  EXPECT_EQ(read->solution.sources.front().content, "// kernel\n");
  EXPECT_EQ(encode_probe(*read), encode_probe(probe));
}

TEST_F(RecorderTest, TheIdIsTheHashOfEverythingElse) {
  Probe probe = judged();
  probe.id = "whatever was there before";
  store(probe);
  Probe bare = probe;
  bare.id.clear();
  EXPECT_EQ(probe.id, sha256_hex(encode_probe(bare)));

  Probe other = judged();
  other.verdict.trials = 59;
  store(other);
  EXPECT_NE(other.id, probe.id);
}

TEST_F(RecorderTest, TheBuildIsNamedWhereThereIsOne) {
  Probe without = judged();
  store(without);
  EXPECT_FALSE(without.environment.more.contains("build_key"));
  Probe with = judged();
  TargetBuild build;
  build.key = "abc";
  store(with, build);
  EXPECT_EQ(with.environment.more.at("build_key"), "abc");
}

TEST_F(RecorderTest, FailedProbesAreKeptAndFoundByTheirSolution) {
  Probe wrong = judged();
  wrong.decision = "reject";
  wrong.verdict = {};
  wrong.verdict.word = "REJECTED";
  wrong.verdict.finding = Finding::wrong;
  store(wrong);
  clock.advance_ns(1'000'000);
  Probe again = judged();
  store(again);
  const auto rows = archive->find_by_solution_hash(again.definition_hash, again.solution_hash);
  ASSERT_TRUE(rows) << rows.error().text();
  ASSERT_EQ(rows->size(), 2U);
  EXPECT_EQ(rows->front().finding, "REJECT_WRONG");
  EXPECT_EQ(rows->back().word, "ACCEPTED");
}

TEST_F(RecorderTest, PromotionSealsTheConfirmedFigures) {
  Probe probe = judged();
  store(probe);
  clock.advance_ns(2'000'000'000);
  const Result<Record> record = recorder.promote(probe, "plain-c++");
  ASSERT_TRUE(record) << record.error().text();
  EXPECT_EQ(record->probe, probe.id);
  EXPECT_EQ(record->definition, "scale");
  EXPECT_EQ(record->solution_name, "candidate");
  EXPECT_EQ(record->speedup, 1.5);
  EXPECT_EQ(record->low, 1.4);
  EXPECT_EQ(record->high, 1.6);
  EXPECT_EQ(record->baseline, "plain-c++");
  EXPECT_EQ(record->sealed_at, clock.wall_iso8601());
  EXPECT_NE(record->sealed_at, probe.started_at);

  const Result<Record> next = recorder.promote(probe, "plain-c++");
  ASSERT_TRUE(next);
  EXPECT_EQ(next->previous, record->id);
  const Result<ChainReport> chain = archive->verify_chain();
  ASSERT_TRUE(chain);
  EXPECT_TRUE(chain->intact());
  EXPECT_EQ(chain->records, 2U);
}

TEST_F(RecorderTest, WhatWasNotStoredCannotBePromoted) {
  Probe probe = judged();
  probe.id = std::string(64, 'a');
  EXPECT_FALSE(recorder.promote(probe, "plain-c++"));
}

} // namespace
} // namespace kw
