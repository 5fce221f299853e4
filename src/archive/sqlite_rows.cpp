// SPDX-License-Identifier: Apache-2.0
#include "archive/sqlite_rows.hpp"

#include <fmt/format.h>

namespace kw::sqlite_rows {
namespace {

/// "?1, ?2, ..., ?n"
std::string placeholders(int n) {
  std::string out;
  for (int i = 1; i <= n; ++i)
    out += fmt::format("{}?{}", i == 1 ? "" : ", ", i);
  return out;
}

} // namespace

ProbeRow probe(const Statement& s) {
  int c = 0;
  ProbeRow row;
  row.sequence = static_cast<std::uint64_t>(s.integer(c++));
  for (std::string* text : {&row.id, &row.run, &row.definition, &row.definition_hash, &row.solution,
                            &row.solution_hash, &row.parent, &row.proposer, &row.hypothesis,
                            &row.decision, &row.reason, &row.finding, &row.word})
    *text = s.text(c++);
  row.timed = s.integer(c++) != 0;
  for (double* value : {&row.speedup, &row.low, &row.high})
    *value = s.real(c++);
  row.started_at = s.text(c++);
  row.wall_ms = s.real(c++);
  for (std::string* text : {&row.json_sha256, &row.row_hash, &row.chain})
    *text = s.text(c++);
  KW_ASSERT(c == probe_column_count);
  return row;
}

SealedRecord record(const Statement& s) {
  int c = 0;
  SealedRecord sealed;
  Record& r = sealed.record;
  for (std::string* text : {&r.id, &r.previous, &r.probe, &r.definition, &r.solution_name})
    *text = s.text(c++);
  for (double* value : {&r.speedup, &r.low, &r.high})
    *value = s.real(c++);
  r.baseline = s.text(c++);
  r.sealed_at = s.text(c++);
  sealed.probe_count = static_cast<std::uint64_t>(s.integer(c++));
  sealed.probe_chain = s.text(c++);
  sealed.probe_row_hash = s.text(c++);
  return sealed;
}

Run run(const Statement& s) {
  int c = 0;
  Run r;
  for (std::string* text :
       {&r.id, &r.definition, &r.state, &r.options, &r.started_at, &r.finished_at, &r.champion})
    *text = s.text(c++);
  return r;
}

Status insert(Database& db, const ArchivedProbe& probe) {
  const ProbeRow& r = probe.row;
  KW_TRY(Statement statement,
         db.prepare(fmt::format("INSERT INTO probes({}, json) VALUES({})", probe_columns,
                                placeholders(probe_column_count + 1))));
  KW_CHECK(statement
               .bind(r.sequence, r.id, r.run, r.definition, r.definition_hash, r.solution,
                     r.solution_hash, r.parent, r.proposer, r.hypothesis, r.decision, r.reason,
                     r.finding, r.word, std::int64_t{r.timed}, r.speedup, r.low, r.high,
                     r.started_at, r.wall_ms, r.json_sha256, r.row_hash, r.chain, probe.json)
               .run());
  KW_TRY(Statement link, db.prepare("INSERT INTO probe_blobs(probe, position, name, sha256) "
                                    "VALUES(?1, ?2, ?3, ?4)"));
  std::int64_t position = 0;
  for (const BlobRef& ref : probe.blobs)
    KW_CHECK(link.bind(r.sequence, position++, ref.name, ref.sha256).run());
  return {};
}

Status insert(Database& db, const SealedRecord& sealed) {
  const Record& r = sealed.record;
  KW_TRY(Statement statement, db.prepare(fmt::format("INSERT INTO records({}) VALUES({})",
                                                     record_columns, placeholders(13))));
  return statement
      .bind(r.id, r.previous, r.probe, r.definition, r.solution_name, r.speedup, r.low, r.high,
            r.baseline, r.sealed_at, sealed.probe_count, sealed.probe_chain, sealed.probe_row_hash)
      .run();
}

Result<std::vector<BlobRef>> blobs_of(Database& db, std::uint64_t sequence) {
  KW_TRY(Statement statement, db.prepare("SELECT name, sha256 FROM probe_blobs WHERE probe = ?1 "
                                         "ORDER BY position"));
  statement.bind(sequence);
  std::vector<BlobRef> blobs;
  KW_TRY(bool row, statement.step());
  while (row) {
    blobs.push_back({statement.text(0), statement.text(1)});
    KW_TRY(row, statement.step());
  }
  return blobs;
}

} // namespace kw::sqlite_rows
