// SPDX-License-Identifier: Apache-2.0
#include "archive/migrations.hpp"

#include <array>
#include <cstdint>
#include <fmt/format.h>

namespace kw {
namespace {

// "KWAR" as a 32-bit number: tells our files from other SQLite databases (file(1) shows it).
constexpr int application_id = 0x4b574152;

// Never edit a migration that has been released: add the next one and its golden file.
constexpr std::array<const char*, 1> migrations = {R"sql(
CREATE TABLE runs(
  id TEXT PRIMARY KEY, definition TEXT NOT NULL, state TEXT NOT NULL, options TEXT NOT NULL,
  started_at TEXT NOT NULL, finished_at TEXT NOT NULL, champion TEXT NOT NULL) STRICT;

CREATE TABLE probes(
  seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, run TEXT NOT NULL,
  definition TEXT NOT NULL, definition_hash TEXT NOT NULL,
  solution TEXT NOT NULL, solution_hash TEXT NOT NULL,
  parent TEXT NOT NULL, proposer TEXT NOT NULL, hypothesis TEXT NOT NULL,
  decision TEXT NOT NULL, reason TEXT NOT NULL, finding TEXT NOT NULL, word TEXT NOT NULL,
  timed INTEGER NOT NULL, speedup REAL NOT NULL, low REAL NOT NULL, high REAL NOT NULL,
  started_at TEXT NOT NULL, wall_ms REAL NOT NULL,
  json_sha256 TEXT NOT NULL, row_hash TEXT NOT NULL, chain TEXT NOT NULL,
  json TEXT NOT NULL) STRICT;
CREATE INDEX probes_by_definition ON probes(definition, timed);
CREATE INDEX probes_by_solution ON probes(solution_hash, definition_hash);
CREATE INDEX probes_by_run ON probes(run);

CREATE TABLE probe_blobs(
  probe INTEGER NOT NULL REFERENCES probes(seq), position INTEGER NOT NULL,
  name TEXT NOT NULL, sha256 TEXT NOT NULL, PRIMARY KEY(probe, position)) STRICT, WITHOUT ROWID;

CREATE TABLE records(
  seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, previous TEXT NOT NULL UNIQUE,
  probe TEXT NOT NULL REFERENCES probes(id), definition TEXT NOT NULL,
  solution_name TEXT NOT NULL, speedup REAL NOT NULL, low REAL NOT NULL, high REAL NOT NULL,
  baseline TEXT NOT NULL, sealed_at TEXT NOT NULL,
  probe_count INTEGER NOT NULL, probe_chain TEXT NOT NULL, probe_row_hash TEXT NOT NULL) STRICT;
)sql"};

Error newer(std::int64_t version, const std::string& path) {
  return {ErrorKind::unsupported,
          fmt::format("this archive was written by a newer Kernwright (schema {}, this build "
                      "reads up to {})",
                      version, schema_version()),
          "update kernwright, or choose another archive with --state DIR", path};
}

Error foreign(const std::string& path) {
  return {ErrorKind::invalid_input, "this SQLite file is not a Kernwright archive",
          "choose another folder with --state DIR; the file was not changed", path};
}

} // namespace

int schema_version() {
  return static_cast<int>(migrations.size());
}

Result<int> stored_version(Database& db, const std::string& path) {
  // In one statement, so that all three are of the same moment while others migrate.
  KW_TRY(Statement look,
         db.prepare("SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema) "
                    "FROM pragma_application_id, pragma_user_version"));
  KW_TRY([[maybe_unused]] const bool row, look.step());
  const std::int64_t id = look.integer(0), version = look.integer(1), tables = look.integer(2);
  if (id == application_id) {
    if (version > schema_version())
      return fail(newer(version, path));
    return static_cast<int>(version);
  }
  if (id != 0 || version != 0 || tables != 0)
    return fail(foreign(path));
  return 0;
}

Status migrate(Database& db, const std::string& path) {
  KW_TRY(const int seen, stored_version(db, path));
  for (int version = seen; version < schema_version(); ++version) {
    KW_TRY(Transaction transaction, Transaction::begin(db));
    // Another process may have done it while we waited for the lock.
    KW_TRY(const int now, stored_version(db, path));
    if (now > version)
      continue;
    KW_CHECK(db.exec(migrations.at(static_cast<std::size_t>(version))));
    KW_CHECK(db.exec(fmt::format("PRAGMA application_id = {}", application_id)));
    KW_CHECK(db.exec(fmt::format("PRAGMA user_version = {}", version + 1)));
    KW_CHECK(transaction.commit());
  }
  return {};
}

} // namespace kw
