// SPDX-License-Identifier: Apache-2.0
// Order of writes: blobs first (each durable before its name is used), then the row that names
// them, in one transaction with the chain value. A crash leaves at most an unnamed blob.
#include "archive/sqlite_archive.hpp"

#include <chrono>
#include <thread>

#include "archive/audit.hpp"
#include "archive/blob_store.hpp"
#include "archive/chain.hpp"
#include "archive/database.hpp"
#include "archive/migrations.hpp"
#include "archive/sqlite_rows.hpp"
#include "os/files.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <mutex>
#include <utility>

namespace kw {
namespace {

class SqliteArchive final : public Archive {
 public:
  SqliteArchive(Database db, BlobStore blobs) : db_(std::move(db)), blobs_(std::move(blobs)) {}
  using Archive::put_probe;

  Result<std::string> begin_run(const Run& run) override {
    const std::lock_guard lock(mutex_);
    KW_TRY(Transaction transaction, Transaction::begin(db_));
    std::string id = run.id;
    if (id.empty()) {
      KW_TRY(id, db_.scalar("SELECT printf('%04d', 1 + coalesce(max(CAST(id AS INTEGER)), 0)) "
                            "FROM runs"));
    }
    KW_TRY(Statement insert, db_.prepare(fmt::format("INSERT INTO runs({}) VALUES(?1, ?2, ?3, ?4, "
                                                     "?5, ?6, ?7) ON CONFLICT DO NOTHING "
                                                     "RETURNING id",
                                                     sqlite_rows::run_columns)));
    KW_TRY(const bool stored, insert
                                  .bind(id, run.definition, run.state, run.options, run.started_at,
                                        run.finished_at, run.champion)
                                  .step());
    if (!stored)
      return fail(ErrorKind::invalid_input, "run '" + id + "' exists already",
                  "leave the id empty to get the next free one");
    KW_CHECK(insert.run()); // a statement that is still open would block the commit
    KW_CHECK(transaction.commit());
    return id;
  }

  Status update_run(const Run& run) override {
    const std::lock_guard lock(mutex_);
    KW_TRY(Statement update, db_.prepare("UPDATE runs SET state = ?2, options = ?3, finished_at = "
                                         "?4, champion = ?5 WHERE id = ?1 RETURNING id"));
    KW_TRY(const bool found,
           update.bind(run.id, run.state, run.options, run.finished_at, run.champion).step());
    KW_CHECK(update.run());
    return found ? Status{} : fail(no_run(run.id));
  }

  Result<Run> get_run(std::string_view id) override {
    const std::lock_guard lock(mutex_);
    KW_TRY(Statement select,
           db_.prepare(fmt::format("SELECT {} FROM runs WHERE id = ?1", sqlite_rows::run_columns)));
    KW_TRY(const bool found, select.bind(id).step());
    return found ? Result<Run>(sqlite_rows::run(select)) : fail(no_run(id));
  }

  Result<std::vector<Run>> list_runs() override {
    const std::lock_guard lock(mutex_);
    KW_TRY(Statement select, db_.prepare(fmt::format("SELECT {} FROM runs ORDER BY rowid",
                                                     sqlite_rows::run_columns)));
    return all<Run>(select, sqlite_rows::run);
  }

  Status put_probe(const Probe& probe, std::string_view json,
                   std::span<const BlobRef> blobs) override {
    KW_CHECK(check_probe_id(probe.id));
    for (const BlobRef& ref : blobs)
      if (!blobs_.contains(ref.sha256))
        return fail(missing_blob(ref));
    ArchivedProbe stored{
        make_row(probe, json, blobs), std::string(json), {blobs.begin(), blobs.end()}};
    const std::lock_guard lock(mutex_);
    KW_TRY(Transaction transaction, Transaction::begin(db_));
    KW_TRY(const std::vector<ProbeRow> same, rows("WHERE id = ?1", probe.id));
    if (!same.empty())
      return same_or_refused(same.front(), stored.row);
    KW_TRY(const std::vector<ProbeRow> last, rows("ORDER BY seq DESC LIMIT 1"));
    stored.row.sequence = last.empty() ? 1 : last.front().sequence + 1;
    stored.row.chain =
        extend_probe_chain(last.empty() ? "" : last.front().chain, stored.row.row_hash);
    KW_CHECK(sqlite_rows::insert(db_, stored));
    return transaction.commit();
  }

  Result<ArchivedProbe> get_probe(std::string_view id_or_prefix) override {
    const std::lock_guard lock(mutex_);
    // As a range, so that the index serves it: everything from the prefix up to the prefix followed
    // by the largest code point.
    KW_TRY(Statement select,
           db_.prepare("SELECT id FROM probes WHERE id >= ?1 AND id < ?1 || char(0x10ffff) "
                       "ORDER BY id LIMIT 5"));
    select.bind(id_or_prefix);
    KW_TRY(const std::vector<std::string> matches,
           all<std::string>(select, [](const Statement& s) { return s.text(0); }));
    KW_TRY(const std::string id, resolve_prefix("probe", id_or_prefix, matches));
    KW_TRY(Statement whole, db_.prepare(fmt::format("SELECT {}, json FROM probes WHERE id = ?1",
                                                    sqlite_rows::probe_columns)));
    whole.bind(id);
    KW_TRY(std::optional<ArchivedProbe> probe, next_probe(whole));
    if (!probe)
      return fail(ErrorKind::not_found, "the probe vanished while it was looked up");
    return *std::move(probe);
  }

  Result<std::vector<ProbeRow>> list_probes(const ProbeFilter& filter) override {
    const std::lock_guard lock(mutex_);
    // LIMIT -1 means no limit. The newest rows are cut off, then turned oldest first.
    const std::int64_t limit = filter.limit == 0 ? -1 : static_cast<std::int64_t>(filter.limit);
    KW_TRY(std::vector<ProbeRow> found,
           rows("WHERE (?1 = '' OR definition = ?1) AND (?2 = '' OR run = ?2) AND (?3 = '' OR "
                "decision = ?3) ORDER BY seq DESC LIMIT ?4",
                filter.definition, filter.run, filter.decision, limit));
    std::ranges::reverse(found);
    return found;
  }

  Result<std::uint64_t> attempts(std::string_view definition) override {
    const std::lock_guard lock(mutex_);
    KW_TRY(Statement count,
           db_.prepare("SELECT count(*) FROM probes WHERE definition = ?1 AND timed = 1 "
                       "AND (run = '' OR hypothesis LIKE 'final%')"));
    KW_TRY([[maybe_unused]] const bool row, count.bind(definition).step());
    return static_cast<std::uint64_t>(count.integer(0));
  }

  Result<std::vector<ProbeRow>> find_by_solution_hash(std::string_view definition_hash,
                                                      std::string_view solution_hash) override {
    const std::lock_guard lock(mutex_);
    return rows("WHERE solution_hash = ?1 AND definition_hash = ?2 ORDER BY seq", solution_hash,
                definition_hash);
  }

  Result<std::string> put_blob(std::string_view bytes) override { return blobs_.put(bytes); }
  Result<std::string> get_blob(std::string_view sha256) override { return blobs_.get(sha256); }

  Result<Record> seal(const Record& record) override {
    const std::lock_guard lock(mutex_);
    KW_TRY(Transaction transaction, Transaction::begin(db_));
    KW_TRY(const std::vector<ProbeRow> promoted, rows("WHERE id = ?1", record.probe));
    if (promoted.empty())
      return fail(unknown_promoted(record.probe));
    KW_TRY(const std::vector<ProbeRow> last, rows("ORDER BY seq DESC LIMIT 1"));
    SealedRecord sealed{record, last.front().sequence, last.front().chain,
                        promoted.front().row_hash};
    KW_TRY(sealed.record.previous, db_.scalar("SELECT id FROM records ORDER BY seq DESC LIMIT 1"));
    sealed.record.id = record_id(sealed);
    KW_CHECK(sqlite_rows::insert(db_, sealed));
    KW_CHECK(transaction.commit());
    return sealed.record;
  }

  Result<std::vector<SealedRecord>> records() override {
    const std::lock_guard lock(mutex_);
    return read_records();
  }

  Result<ChainReport> verify_chain() override {
    const std::lock_guard lock(mutex_);
    KW_TRY(const std::string check, db_.scalar("PRAGMA quick_check(1)"));
    if (check != "ok") {
      ChainReport report;
      report.broken = ChainReport::Broken{"database", "", "the archive file is damaged: " + check};
      return report;
    }
    // One read transaction: rows that other processes add meanwhile stay out of sight.
    KW_CHECK(db_.exec("BEGIN"));
    Result<ChainReport> report = audit();
    KW_CHECK(db_.exec("COMMIT"));
    return report;
  }

 private:
  template <class T, class Read> static Result<std::vector<T>> all(Statement& s, const Read& read) {
    std::vector<T> out;
    KW_TRY(bool row, s.step());
    while (row) {
      out.push_back(read(s));
      KW_TRY(row, s.step());
    }
    return out;
  }

  /// Probe rows; `tail` is everything after FROM.
  template <class... Values>
  Result<std::vector<ProbeRow>> rows(std::string_view tail, const Values&... values) {
    KW_TRY(Statement select,
           db_.prepare(fmt::format("SELECT {} FROM probes {}", sqlite_rows::probe_columns, tail)));
    select.bind(values...);
    return all<ProbeRow>(select, sqlite_rows::probe);
  }

  /// Steps a statement over "probe_columns, json".
  Result<std::optional<ArchivedProbe>> next_probe(Statement& select) {
    KW_TRY(const bool row, select.step());
    if (!row)
      return std::nullopt;
    ArchivedProbe probe{
        sqlite_rows::probe(select), select.text(sqlite_rows::probe_column_count), {}};
    KW_TRY(probe.blobs, sqlite_rows::blobs_of(db_, probe.row.sequence));
    return probe;
  }

  Result<std::vector<SealedRecord>> read_records() {
    KW_TRY(Statement select, db_.prepare(fmt::format("SELECT {} FROM records ORDER BY seq",
                                                     sqlite_rows::record_columns)));
    return all<SealedRecord>(select, sqlite_rows::record);
  }

  Result<ChainReport> audit() {
    KW_TRY(Statement select, db_.prepare(fmt::format("SELECT {}, json FROM probes ORDER BY seq",
                                                     sqlite_rows::probe_columns)));
    KW_TRY(const std::vector<SealedRecord> sealed, read_records());
    return audit_chain([&] { return next_probe(select); }, sealed,
                       [&](std::string_view id) { return blobs_.get(id); });
  }

  std::mutex mutex_;
  Database db_;
  BlobStore blobs_;
};

Result<Database> open_for_writing(const std::string& path, int busy_timeout_ms) {
  KW_TRY(Database db, Database::open(path, Database::Mode::read_write, busy_timeout_ms));
  // Looked at before anything is written: a newer archive or somebody else's file stays as it is.
  KW_TRY([[maybe_unused]] const int version, stored_version(db, path));
  KW_TRY(const std::string journal, db.scalar("PRAGMA journal_mode = WAL"));
  if (journal != "wal")
    return fail(ErrorKind::unsupported,
                fmt::format("this file system cannot hold an archive (journal mode {})", journal),
                "choose a folder on a local disk with --state DIR", path);
  KW_CHECK(db.exec("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"));
  KW_CHECK(migrate(db, path));
  return db;
}

Result<Database> open_current(const std::string& path, Database::Mode mode, int busy_timeout_ms) {
  KW_TRY(Database db, Database::open(path, mode, busy_timeout_ms));
  KW_TRY(const int version, stored_version(db, path));
  if (version < schema_version())
    return fail(ErrorKind::unsupported,
                fmt::format("this archive has the older schema {}, which is not updated read-only",
                            version),
                "run a command that writes to it once, or copy it to a writable folder", path);
  return db;
}

Result<Database> open_for_reading(const std::string& path, int busy_timeout_ms) {
  if (!is_file(path))
    return fail(ErrorKind::not_found, "there is no archive here",
                "run `kernwright evaluate` or `optimize` first, or name its folder with "
                "--state DIR",
                path);
  Result<Database> db = open_current(path, Database::Mode::read_only, busy_timeout_ms);
  // WAL needs a shared-memory file beside the archive. Where none can be made (read-only media)
  // and no log is waiting to be applied, the file is complete by itself.
  if (!db && !is_file(path + "-wal"))
    if (Result<Database> still = open_current(path, Database::Mode::immutable, busy_timeout_ms))
      return still;
  return db;
}

} // namespace

Result<std::unique_ptr<Archive>> open_sqlite_archive(const std::string& folder,
                                                     const SqliteArchiveOptions& options) {
  const std::string path = join_path(folder, "archive.sqlite");
  if (!options.read_only)
    KW_CHECK(make_dirs(folder));
  // SQLite answers "busy" at once, without its timeout, while another process creates the file or
  // switches it to WAL: those moments are short, so asking again is the remedy.
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(options.busy_timeout_ms);
  Result<Database> opened = fail(ErrorKind::timeout, "not opened");
  for (;;) {
    opened = options.read_only ? open_for_reading(path, options.busy_timeout_ms)
                               : open_for_writing(path, options.busy_timeout_ms);
    if (opened || opened.error().kind != ErrorKind::timeout ||
        std::chrono::steady_clock::now() > deadline)
      break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  KW_TRY(Database db, std::move(opened));
  return std::make_unique<SqliteArchive>(std::move(db), BlobStore(join_path(folder, "blobs")));
}

} // namespace kw
