// SPDX-License-Identifier: Apache-2.0
// The laws of the interface, held against both implementations.
#include "archive/archive.hpp"

#include "archive/archive_fixture.hpp"
#include "archive/sqlite_archive.hpp"
#include "base/hash.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

using testing::HasSubstr;

class ArchiveLaws : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string_view(GetParam()) == "memory") {
      archive = make_memory_archive();
      return;
    }
    Result<std::unique_ptr<Archive>> opened = open_sqlite_archive(folder.path());
    ASSERT_TRUE(opened) << opened.error().text();
    archive = std::move(*opened);
  }
  ScratchFolder folder;
  std::unique_ptr<Archive> archive;
};

TEST_P(ArchiveLaws, ProbeComesBackWithDocumentBlobsAndColumns) {
  const std::string log = must(archive->put_blob("ld: warning\n"));
  EXPECT_EQ(log, sha256_hex("ld: warning\n"));
  const Probe probe = sample_probe("aa11");
  const std::vector<BlobRef> blobs = {{"build.log", log}};
  ASSERT_TRUE(archive->put_probe(probe, R"({"name":"x"})", blobs));

  const ArchivedProbe got = must(archive->get_probe("aa"));
  EXPECT_EQ(got.json, R"({"name":"x"})");
  ASSERT_EQ(got.blobs.size(), 1u);
  EXPECT_EQ(got.blobs[0].name, "build.log");
  EXPECT_EQ(must(archive->get_blob(got.blobs[0].sha256)), "ld: warning\n");
  EXPECT_EQ(got.row.id, "aa11");
  EXPECT_EQ(got.row.finding, "REJECT_WRONG");
  EXPECT_EQ(got.row.hypothesis, "tile=8 unroll=4");
  EXPECT_TRUE(got.row.timed);
  EXPECT_DOUBLE_EQ(got.row.speedup, 1.25);
  EXPECT_EQ(got.row.sequence, 1u);
}

TEST_P(ArchiveLaws, TextIsOpaqueBytes) {
  Probe probe = sample_probe("aa11");
  probe.reason = std::string("a\0b '\"; DROP TABLE probes; -- \xff", 31);
  const std::string json = "{\"k\":\"\xc3\xa9\"}";
  ASSERT_TRUE(archive->put_probe(probe, json));
  const ArchivedProbe got = must(archive->get_probe("aa11"));
  EXPECT_EQ(got.row.reason, probe.reason);
  EXPECT_EQ(got.json, json);
  const std::string bytes("\0\x01\xff zstd", 8);
  EXPECT_EQ(must(archive->get_blob(must(archive->put_blob(bytes)))), bytes);
  EXPECT_EQ(must(archive->get_blob(must(archive->put_blob("")))), "");
  EXPECT_TRUE(must(archive->verify_chain()).intact());
}

TEST_P(ArchiveLaws, StoringTheSameProbeTwiceChangesNothing) {
  ASSERT_TRUE(archive->put_probe(sample_probe("aa11"), "{}"));
  ASSERT_TRUE(archive->put_probe(sample_probe("aa11"), "{}"));
  EXPECT_EQ(must(archive->list_probes({})).size(), 1u);
  const Status other = archive->put_probe(sample_probe("aa11"), R"({"changed":1})");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind, ErrorKind::refused);
  EXPECT_EQ(must(archive->get_probe("aa11")).json, "{}");
}

TEST_P(ArchiveLaws, PrefixesMustBeUnique) {
  ASSERT_TRUE(archive->put_probe(sample_probe("aa11"), "{}"));
  ASSERT_TRUE(archive->put_probe(sample_probe("aa12"), "{}"));
  ASSERT_TRUE(archive->put_probe(sample_probe("aa1"), "{}"));
  EXPECT_EQ(must(archive->get_probe("aa12")).row.id, "aa12");
  EXPECT_EQ(must(archive->get_probe("aa1")).row.id, "aa1") << "a whole id wins over longer ones";
  const auto ambiguous = archive->get_probe("aa");
  ASSERT_FALSE(ambiguous);
  EXPECT_EQ(ambiguous.error().kind, ErrorKind::invalid_input);
  EXPECT_THAT(ambiguous.error().message, HasSubstr("aa11, aa12"));
  EXPECT_EQ(archive->get_probe("bb").error().kind, ErrorKind::not_found);
  EXPECT_EQ(archive->get_probe("").error().kind, ErrorKind::invalid_input);
}

TEST_P(ArchiveLaws, FiltersAndLimits) {
  for (int i = 0; i < 6; ++i) {
    Probe probe = sample_probe("p" + std::to_string(i));
    probe.run = i < 3 ? "0001" : "0002";
    probe.definition = i % 2 == 0 ? "gemm" : "softmax";
    probe.decision = i == 4 ? "promote" : "reject";
    if (i == 2)
      probe.verdict.times.reset();
    ASSERT_TRUE(archive->put_probe(probe, "{}"));
  }
  const auto ids = [&](const ProbeFilter& filter) {
    std::string out;
    for (const ProbeRow& row : must(archive->list_probes(filter)))
      out += row.id + " ";
    return out;
  };
  EXPECT_EQ(ids({}), "p0 p1 p2 p3 p4 p5 ");
  EXPECT_EQ(ids({.definition = "gemm"}), "p0 p2 p4 ");
  EXPECT_EQ(ids({.run = "0002"}), "p3 p4 p5 ");
  EXPECT_EQ(ids({.definition = "gemm", .run = "0002", .decision = "promote"}), "p4 ");
  EXPECT_EQ(ids({.limit = 2}), "p4 p5 ") << "the newest, oldest first";
}

TEST_P(ArchiveLaws, AttemptsAreTimedClaims) {
  const auto put = [&](const std::string& id, const std::string& run, const std::string& hypothesis,
                       bool timed) {
    Probe probe = sample_probe(id);
    probe.definition = "gemm";
    probe.run = run, probe.hypothesis = hypothesis;
    if (!timed)
      probe.verdict.times.reset();
    ASSERT_TRUE(archive->put_probe(probe, "{}"));
  };
  put("p0", "", "", true);
  put("p1", "", "", false);               // never reached the timing gate
  put("p2", "0001", "space=a R=4", true); // steers a search
  put("p3", "0001", "final; all: space=a R=4", true);
  EXPECT_EQ(must(archive->attempts("gemm")), 2u);
  EXPECT_EQ(must(archive->attempts("rope")), 0u);
}

TEST_P(ArchiveLaws, FailuresOfASolutionAreFoundByItsHash) {
  Probe failed = sample_probe("p1");
  failed.definition_hash = "d1";
  failed.solution_hash = "s1";
  ASSERT_TRUE(archive->put_probe(failed, "{}"));
  Probe later = failed;
  later.id = "p2";
  later.verdict.finding = Finding::none;
  ASSERT_TRUE(archive->put_probe(later, "{}"));
  Probe elsewhere = failed;
  elsewhere.id = "p3";
  elsewhere.definition_hash = "d2";
  ASSERT_TRUE(archive->put_probe(elsewhere, "{}"));

  const std::vector<ProbeRow> rows = must(archive->find_by_solution_hash("d1", "s1"));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].finding, "REJECT_WRONG");
  EXPECT_EQ(rows[1].finding, "NONE");
  EXPECT_TRUE(must(archive->find_by_solution_hash("d1", "s2")).empty());
}

TEST_P(ArchiveLaws, RunsAreNumberedAndUpdated) {
  kw::Run run;
  run.definition = "gemm";
  run.state = "running";
  EXPECT_EQ(must(archive->begin_run(run)), "0001");
  EXPECT_EQ(must(archive->begin_run(run)), "0002");
  run.id = "0002";
  run.state = "finished";
  run.champion = "p9";
  ASSERT_TRUE(archive->update_run(run));
  const std::vector<kw::Run> runs = must(archive->list_runs());
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].state, "running");
  EXPECT_EQ(runs[1].state, "finished");
  EXPECT_EQ(must(archive->get_run("0002")).champion, "p9");
  EXPECT_EQ(archive->begin_run(run).error().kind, ErrorKind::invalid_input) << "0002 is taken";
  run.id = "0009";
  EXPECT_EQ(archive->update_run(run).error().kind, ErrorKind::not_found);
  EXPECT_EQ(archive->get_run("0009").error().kind, ErrorKind::not_found);
}

TEST_P(ArchiveLaws, RefusesWhatItCannotStandBehind) {
  const std::vector<BlobRef> ghost = {{"samples", sha256_hex("never stored")}};
  EXPECT_EQ(archive->put_probe(sample_probe("p1"), "{}", ghost).error().kind,
            ErrorKind::invalid_input);
  EXPECT_EQ(archive->put_probe(sample_probe(""), "{}").error().kind, ErrorKind::invalid_input);
  EXPECT_EQ(archive->seal(sample_record("p1")).error().kind, ErrorKind::invalid_input);
  EXPECT_EQ(archive->get_blob(sha256_hex("x")).error().kind, ErrorKind::not_found);
  EXPECT_TRUE(must(archive->list_probes({})).empty());
}

TEST_P(ArchiveLaws, RecordsFormAChainThatVerifies) {
  EXPECT_TRUE(must(archive->verify_chain()).intact()) << "an empty archive is intact";
  fill(*archive, 5);
  const std::vector<SealedRecord> sealed = must(archive->records());
  ASSERT_EQ(sealed.size(), 2u);
  EXPECT_EQ(sealed[0].record.previous, "");
  EXPECT_EQ(sealed[1].record.previous, sealed[0].record.id);
  EXPECT_EQ(sealed[1].probe_count, 4u);
  const ChainReport report = must(archive->verify_chain());
  EXPECT_TRUE(report.intact()) << report.broken->message;
  EXPECT_EQ(report.probes, 5u);
  EXPECT_EQ(report.records, 2u);
  EXPECT_EQ(report.blobs, 5u);
  EXPECT_EQ(report.head, sealed[1].record.id);
  EXPECT_EQ(must(archive->find_record(report.head.substr(0, 10))).id, report.head);
  EXPECT_EQ(archive->find_record("zz").error().kind, ErrorKind::not_found);
}

TEST_P(ArchiveLaws, ACopyHasTheSameIdsAndVerifies) {
  fill(*archive, 7);
  kw::Run run;
  run.definition = "gemm";
  ASSERT_TRUE(archive->begin_run(run));
  const std::unique_ptr<Archive> copy = make_memory_archive();
  const Status copied = copy_archive(*archive, *copy);
  ASSERT_TRUE(copied) << copied.error().text();
  const ChainReport before = must(archive->verify_chain());
  const ChainReport after = must(copy->verify_chain());
  EXPECT_TRUE(after.intact());
  EXPECT_EQ(after.head, before.head);
  EXPECT_EQ(after.probe_chain, before.probe_chain);
  EXPECT_EQ(after.blobs, before.blobs);
  EXPECT_EQ(must(copy->list_runs()).size(), 1u);
  EXPECT_EQ(copy_archive(*archive, *copy).error().kind, ErrorKind::refused) << "not empty";
}

INSTANTIATE_TEST_SUITE_P(Both, ArchiveLaws, testing::Values("memory", "sqlite"),
                         [](const auto& which) { return std::string(which.param); });

} // namespace
} // namespace kw
