// SPDX-License-Identifier: Apache-2.0
// What can go wrong with files: tampering, damage, foreign and newer files, a full disk, a second
// writer. Each test changes the stored bytes behind the archive's back.
#include "archive/sqlite_archive.hpp"

#include "archive/archive_fixture.hpp"
#include "archive/blob_store.hpp"
#include "archive/database.hpp"
#include "base/hash.hpp"
#include "os/files.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

namespace kw {
namespace {

using testing::HasSubstr;

class SqliteArchiveTest : public testing::Test {
 protected:
  std::unique_ptr<Archive> open(const SqliteArchiveOptions& options = {}) {
    return must(open_sqlite_archive(folder.path(), options));
  }
  [[nodiscard]] std::string file() const { return folder.path() + "/archive.sqlite"; }

  /// The file itself, past the archive.
  Database raw(int busy_timeout_ms) {
    Result<Database> db = Database::open(file(), Database::Mode::read_write, busy_timeout_ms);
    KW_ASSERT(db.has_value());
    return std::move(*db);
  }
  void tamper(const std::string& sql) {
    Database db = raw(1000);
    const Status done = db.exec(sql);
    ASSERT_TRUE(done) << sql << ": " << done.error().text();
  }
  /// The first broken link as "what: message", "" when intact.
  std::string audit() {
    const ChainReport report = must(open()->verify_chain());
    return report.broken ? report.broken->what + ": " + report.broken->message : std::string{};
  }

  ScratchFolder folder;
};

TEST_F(SqliteArchiveTest, SurvivesReopening) {
  fill(*open(), 4);
  const std::unique_ptr<Archive> again = open();
  EXPECT_EQ(must(again->list_probes({})).size(), 4u);
  EXPECT_EQ(audit(), "");
  fill(*again, 6); // p1..p4 are there already, p5 and p6 continue the chain
  EXPECT_EQ(audit(), "");
}

TEST_F(SqliteArchiveTest, EveryColumnOfAProbeIsSealed) {
  fill(*open(), 4);
  const std::string good = must(read_file(file()));
  for (const char* change : {"json = '{}'",      "decision = 'promote'",
                             "finding = 'NONE'", "word = 'ACCEPTED'",
                             "reason = ''",      "run = '7'",
                             "definition = 'x'", "definition_hash = 'x'",
                             "solution = 'x'",   "solution_hash = 'x'",
                             "parent = 'x'",     "proposer = 'x'",
                             "hypothesis = 'x'", "timed = 0",
                             "speedup = 9.0",    "low = 9.0",
                             "high = 9.0",       "started_at = 'x'",
                             "wall_ms = 0.0",    "json_sha256 = 'x'",
                             "row_hash = 'x'",   "chain = 'x'"}) {
    ASSERT_TRUE(write_file_atomic(file(), good));
    tamper(std::string("UPDATE probes SET ") + change + " WHERE id = 'p3'");
    EXPECT_THAT(audit(), HasSubstr("probe 3 (p3)")) << change;
  }
}

TEST_F(SqliteArchiveTest, RemovedAndReplacedRowsAreFound) {
  fill(*open(), 5);
  const std::string good = must(read_file(file()));
  const auto after = [&](const std::string& sql) {
    EXPECT_TRUE(write_file_atomic(file(), good));
    tamper("PRAGMA foreign_keys = OFF; " + sql);
    return audit();
  };
  EXPECT_THAT(after("DELETE FROM probes WHERE id = 'p1'"), HasSubstr("probe 1 is missing"));
  EXPECT_THAT(after("DELETE FROM probes WHERE id = 'p3'; "
                    "UPDATE probes SET seq = seq - 1 WHERE seq > 3"),
              HasSubstr("probe 3"));
  EXPECT_THAT(after("DELETE FROM probes WHERE seq >= 4"), HasSubstr("record 2"));
  EXPECT_THAT(after("DELETE FROM probe_blobs WHERE probe = 2"), HasSubstr("blob list of probe 2"));
  EXPECT_THAT(after("UPDATE probe_blobs SET name = 'x' WHERE probe = 2"), HasSubstr("blob list"));
  EXPECT_THAT(after("DELETE FROM records WHERE seq = 1"), HasSubstr("record was removed"));
  for (const char* change :
       {"speedup = 9.0", "low = 9.0", "high = 9.0", "baseline = 'x'", "definition = 'x'",
        "solution_name = 'x'", "sealed_at = 'x'", "probe = 'p1'", "probe_count = 3",
        "probe_chain = 'x'", "probe_row_hash = 'x'", "id = 'x'"})
    EXPECT_THAT(after(std::string("UPDATE records SET ") + change + " WHERE seq = 1"),
                HasSubstr("record 1 ("))
        << change;
  EXPECT_EQ(after("SELECT 1"), "") << "the untouched copy is intact";
}

TEST_F(SqliteArchiveTest, DamagedBlobsAreFoundAndReplaced) {
  fill(*open(), 2);
  const std::string id = sha256_hex("samples of p1");
  const std::string path =
      folder.path() + "/blobs/" + id.substr(0, 2) + "/" + id.substr(2) + ".zst";
  const std::string good = must(read_file(path));
  for (const std::string& bad :
       {good.substr(0, good.size() - 3), std::string(), std::string("not zstd at all"),
        must(read_file(folder.path() + "/blobs/" + sha256_hex("samples of p2").insert(2, "/") +
                       ".zst"))}) {
    ASSERT_TRUE(write_file_atomic(path, bad));
    const Result<std::string> got = open()->get_blob(id);
    ASSERT_FALSE(got);
    EXPECT_THAT(got.error().message, HasSubstr("damaged"));
    EXPECT_THAT(audit(), HasSubstr("blob: 'samples' of probe 1 (p1)"));
    ASSERT_TRUE(open()->put_blob("samples of p1"));
    EXPECT_EQ(audit(), "") << "storing the content again repairs it";
  }
  std::filesystem::remove(path);
  EXPECT_THAT(audit(), HasSubstr("is not in this archive"));
}

TEST_F(SqliteArchiveTest, BlobNamesCannotLeaveTheFolder) {
  const BlobStore store(folder.path() + "/blobs");
  EXPECT_EQ(store.get("../../../../etc/passwd").error().kind, ErrorKind::invalid_input);
  EXPECT_FALSE(store.contains("../archive.sqlite"));
}

TEST_F(SqliteArchiveTest, NewerForeignAndDamagedFilesAreLeftAlone) {
  fill(*open(), 2);
  tamper("PRAGMA user_version = 99");
  const std::string newer = must(read_file(file()));
  const auto refused = open_sqlite_archive(folder.path());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::unsupported);
  EXPECT_THAT(refused.error().message, HasSubstr("schema 99"));
  EXPECT_THAT(refused.error().remedy, HasSubstr("update kernwright"));
  EXPECT_EQ(must(read_file(file())), newer);

  std::filesystem::remove(file());
  tamper("CREATE TABLE customers(id)");
  const std::string foreign = must(read_file(file()));
  EXPECT_THAT(open_sqlite_archive(folder.path()).error().message,
              HasSubstr("not a Kernwright archive"));
  EXPECT_EQ(must(read_file(file())), foreign);

  ASSERT_TRUE(write_file_atomic(file(), std::string(8192, 'x')));
  const auto damaged = open_sqlite_archive(folder.path());
  ASSERT_FALSE(damaged);
  EXPECT_THAT(damaged.error().message, HasSubstr("damaged"));
  EXPECT_THAT(damaged.error().remedy, HasSubstr("export"));
}

TEST_F(SqliteArchiveTest, DamageInsideTheFileIsFoundByTheAudit) {
  fill(*open(), 40);
  std::string bytes = must(read_file(file()));
  ASSERT_GT(bytes.size(), 5 * 4096u);
  for (std::size_t i = 3 * 4096; i < 5 * 4096; ++i)
    bytes[i] = static_cast<char>(i * 7);
  ASSERT_TRUE(write_file_atomic(file(), bytes));
  const Result<std::unique_ptr<Archive>> opened = open_sqlite_archive(folder.path());
  if (!opened) {
    EXPECT_THAT(opened.error().message, HasSubstr("damaged"));
    return;
  }
  const Result<ChainReport> report = (*opened)->verify_chain();
  EXPECT_TRUE(!report || !report->intact());
}

TEST_F(SqliteArchiveTest, FullDatabaseSaysSoAndKeepsWhatItHad) {
  fill(*open(), 2);
  Database db = raw(1000);
  const std::string pages = must(db.scalar("PRAGMA page_count"));
  ASSERT_TRUE(db.exec("PRAGMA max_page_count = " + pages));
  const Status full = db.exec("CREATE TABLE filler(x); INSERT INTO filler VALUES(zeroblob(9999))");
  ASSERT_FALSE(full);
  EXPECT_THAT(full.error().message, HasSubstr("disk is full"));
  EXPECT_EQ(audit(), "");
}

TEST_F(SqliteArchiveTest, SecondWriterGetsAClearMessageAndLosesNothing) {
  const std::unique_ptr<Archive> archive = open({.read_only = false, .busy_timeout_ms = 20});
  Database other = raw(20);
  {
    const Result<Transaction> held = Transaction::begin(other);
    ASSERT_TRUE(held);
    const Status busy = archive->put_probe(sample_probe("p1"), "{}");
    ASSERT_FALSE(busy);
    EXPECT_EQ(busy.error().kind, ErrorKind::timeout);
    EXPECT_THAT(busy.error().message, HasSubstr("another process is writing"));
    EXPECT_THAT(busy.error().remedy, HasSubstr("--state DIR"));
    EXPECT_TRUE(must(archive->list_probes({})).empty()) << "reading goes on meanwhile";
  }
  EXPECT_TRUE(archive->put_probe(sample_probe("p1"), "{}")) << "and afterwards writing does";
}

TEST_F(SqliteArchiveTest, ReadOnlyOpensShowButDoNotWrite) {
  const auto absent = open_sqlite_archive(folder.path(), {.read_only = true});
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().kind, ErrorKind::not_found);
  EXPECT_FALSE(std::filesystem::exists(file())) << "looking must not create";
  fill(*open(), 3);
  const std::unique_ptr<Archive> reader = open({.read_only = true});
  EXPECT_EQ(must(reader->list_probes({})).size(), 3u);
  EXPECT_TRUE(must(reader->verify_chain()).intact());
  const Status write = reader->put_probe(sample_probe("p9"), "{}");
  ASSERT_FALSE(write);
  EXPECT_THAT(write.error().message, HasSubstr("read-only"));
}

TEST_F(SqliteArchiveTest, FolderNamesAreNotUris) {
  const std::string odd = folder.path() + "/a b?mode=memory#%41";
  ASSERT_TRUE(open_sqlite_archive(odd));
  EXPECT_TRUE(std::filesystem::exists(odd + "/archive.sqlite"));
}

// An archive as the first release wrote it, kept as files. Whatever the schema becomes, it must
// still open, verify and give the same ids: that is the promise to everyone who has one.
TEST_F(SqliteArchiveTest, OpensTheArchiveOfSchemaOne) {
  const std::string golden = std::string(KW_SOURCE_DIR) + "/tests/golden/archive/schema-1";
  std::filesystem::copy(golden, folder.path(), std::filesystem::copy_options::recursive);
  const ChainReport report = must(open()->verify_chain());
  EXPECT_TRUE(report.intact()) << report.broken->message;
  EXPECT_EQ(report.probes, 3u);
  EXPECT_EQ(report.head, "f161fbc5fe2f9ed3babbd86d54c8bf8b0d9ff197d430dbe762df44923d00c5f3");
  EXPECT_EQ(must(open()->get_probe("p3")).json, R"({"probe":3})");
  fill(*open(), 4);
  EXPECT_EQ(audit(), "") << "and it can be continued";
}

TEST(DatabaseError, NamesCauseAndRemedyForEachClass) {
  const auto message = [](int code, int sys = 0) { return database_error(code, sys, "d", "f"); };
  EXPECT_THAT(message(SQLITE_FULL).message, HasSubstr("disk is full"));
  EXPECT_THAT(message(SQLITE_IOERR_WRITE, ENOSPC).message, HasSubstr("disk is full"));
  EXPECT_THAT(message(SQLITE_BUSY_SNAPSHOT).message, HasSubstr("another process"));
  EXPECT_THAT(message(SQLITE_READONLY_DIRECTORY).message, HasSubstr("read-only"));
  EXPECT_THAT(message(SQLITE_CORRUPT_VTAB).message, HasSubstr("damaged"));
  for (int code : {SQLITE_FULL, SQLITE_BUSY, SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_CORRUPT,
                   SQLITE_NOMEM, SQLITE_IOERR, SQLITE_ERROR, SQLITE_CONSTRAINT})
    EXPECT_FALSE(message(code).remedy.empty()) << code;
}

} // namespace
} // namespace kw
