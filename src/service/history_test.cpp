// SPDX-License-Identifier: Apache-2.0
#include "service/history.hpp"

#include "archive/sqlite_archive.hpp"
#include "controller/recorder.hpp"
#include "os/temp_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

using testing::HasSubstr;

/// An archive with one rejected and one promoted probe of `scale`, and one of `other`.
class HistoryTest : public testing::Test {
 protected:
  void SetUp() override {
    workspace.state_dir = dir.file("state");
    const auto archive = open_sqlite_archive(workspace.state_dir);
    ASSERT_TRUE(archive) << archive.error().text();
    rejected = store(**archive, "scale", "reject", "// wrong\n").id;
    const Probe best = store(**archive, "scale", "promote", "// right\n");
    promoted = best.id;
    Definition d;
    d.name = "scale";
    const auto sealed = Recorder(**archive, clock, {}, d).promote(best, "plain-c++");
    ASSERT_TRUE(sealed) << sealed.error().text();
    record = sealed->id;
    store(**archive, "other", "reject", "// other\n");
  }
  Probe store(Archive& archive, const std::string& definition, const std::string& decision,
              const std::string& text) {
    Definition d;
    d.name = definition;
    const Recorder recorder(archive, clock, {.hardware = "a CPU"}, d);
    Solution s{.name = "kernel", .definition = definition, .author = "me"};
    s.spec.entry_point = "k.cpp::f";
    s.sources = {{.path = "k.cpp", .content = text}};
    Probe probe = recorder.open(s, Seed{1});
    probe.decision = decision;
    probe.reason = "because";
    probe.verdict.accepted = decision == "promote";
    probe.verdict.word = probe.verdict.accepted ? "ACCEPTED" : "REJECTED";
    if (probe.verdict.accepted)
      probe.verdict.times = TimingEvidence{.speedup = 2, .low = 1.9, .high = 2.1};
    const Status stored = recorder.store(probe, {}, Seed{1});
    EXPECT_TRUE(stored) << stored.error().text();
    return probe;
  }
  std::string shown(const std::string& id, bool json = false) {
    const Result<std::string> text = show_entry(workspace, id, json, false);
    EXPECT_TRUE(text) << text.error().text();
    return text ? *text : "";
  }
  TempDir dir = TempDir::create().value();
  ManualClock clock;
  Workspace workspace;
  std::string rejected, promoted, record;
};

TEST_F(HistoryTest, ListsAllOrOneDefinition) {
  const Result<ArchiveListing> all = read_history(workspace, {});
  ASSERT_TRUE(all);
  EXPECT_EQ(all->probes.size(), 3U);
  EXPECT_EQ(all->records.size(), 1U);
  const Result<ArchiveListing> other = read_history(workspace, {.definition = "other"});
  ASSERT_TRUE(other);
  EXPECT_EQ(other->probes.size(), 1U);
  EXPECT_TRUE(other->records.empty()) << "records of another definition are left out as well";
  EXPECT_EQ(read_history(workspace, {.definition = "scale"})->records.size(), 1U);
}

TEST_F(HistoryTest, AnEntryIsFoundByProbeRecordOrPrefix) {
  EXPECT_THAT(shown(rejected), HasSubstr("// wrong"));
  EXPECT_THAT(shown(promoted.substr(0, 12)), HasSubstr("// right"));
  EXPECT_THAT(shown(record), HasSubstr(promoted)) << "a record leads to its probe";
  EXPECT_THAT(shown(record.substr(0, 12)), HasSubstr("// right"));
}

TEST_F(HistoryTest, TheTextHasTheEvidenceAndTheJsonIsAsStored) {
  const std::string text = shown(rejected);
  for (const char* part : {"REJECTED", "decision    reject: because", "seed        01000000",
                           "machine     a CPU", "--- k.cpp"})
    EXPECT_THAT(text, HasSubstr(part));
  const auto archive = open_sqlite_archive(workspace.state_dir, {.read_only = true});
  ASSERT_TRUE(archive);
  EXPECT_EQ(shown(rejected, true), (*archive)->get_probe(rejected)->json);
}

TEST_F(HistoryTest, AnUnknownIdIsNotFound) {
  const Result<std::string> text = show_entry(workspace, "zzzz", false, false);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().kind, ErrorKind::not_found);
}

TEST_F(HistoryTest, AnExportIsAnArchiveOfItsOwn) {
  const Status exported = export_archive(workspace, dir.file("copy"));
  ASSERT_TRUE(exported) << exported.error().text();
  Workspace copy;
  copy.state_dir = dir.file("copy");
  const Result<ChainReport> report = audit(copy);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->intact());
  EXPECT_EQ(report->probes, 3U);
  EXPECT_EQ(report->head, record);
  EXPECT_FALSE(export_archive(workspace, dir.file("copy"))) << "never into a used folder";
}

TEST_F(HistoryTest, WithoutAnArchiveNothingIsMade) {
  Workspace none;
  none.state_dir = dir.file("none");
  EXPECT_FALSE(read_history(none, {}));
  EXPECT_FALSE(audit(none));
  EXPECT_FALSE(export_archive(none, dir.file("copy")));
  EXPECT_FALSE(open_sqlite_archive(none.state_dir, {.read_only = true})) << "reading created it";
}

} // namespace
} // namespace kw
