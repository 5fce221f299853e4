// SPDX-License-Identifier: Apache-2.0
// What every archive can do on top of its stored rows.
#include "archive/archive.hpp"

#include "archive/chain.hpp"

#include <fmt/format.h>
#include <utility>

namespace kw {
namespace {

/// Only the columns that make_row() reads: enough to store the row again, hash for hash.
Probe probe_of(const ProbeRow& row) {
  Probe probe;
  probe.id = row.id;
  probe.run = row.run;
  probe.definition = row.definition;
  probe.definition_hash = row.definition_hash;
  probe.solution.name = row.solution;
  probe.solution_hash = row.solution_hash;
  probe.parent = row.parent;
  probe.proposer = row.proposer;
  probe.hypothesis = row.hypothesis;
  probe.decision = row.decision;
  probe.reason = row.reason;
  probe.verdict.word = row.word;
  for (int f = 0; f <= static_cast<int>(last_finding); ++f)
    if (name(static_cast<Finding>(f)) == row.finding)
      probe.verdict.finding = static_cast<Finding>(f);
  if (row.timed || row.speedup != 0 || row.low != 0 || row.high != 0) {
    TimingEvidence times;
    times.gate.resize(row.timed ? 1 : 0);
    times.speedup = row.speedup;
    times.low = row.low;
    times.high = row.high;
    probe.verdict.times = std::move(times);
  }
  probe.started_at = row.started_at;
  probe.wall_ms = row.wall_ms;
  return probe;
}

Status copy_probe(Archive& from, Archive& to, const std::string& id) {
  KW_TRY(const ArchivedProbe probe, from.get_probe(id));
  for (const BlobRef& ref : probe.blobs) {
    KW_TRY(const std::string bytes, from.get_blob(ref.sha256));
    KW_TRY(const std::string stored, to.put_blob(bytes));
    KW_ASSERT(stored == ref.sha256);
  }
  return to.put_probe(probe_of(probe.row), probe.json, probe.blobs);
}

} // namespace

Result<Record> Archive::find_record(std::string_view id_or_prefix) {
  KW_TRY(const std::vector<SealedRecord> all, records());
  std::vector<std::string> matches;
  for (const SealedRecord& sealed : all)
    if (sealed.record.id.starts_with(id_or_prefix))
      matches.push_back(sealed.record.id);
  KW_TRY(const std::string id, resolve_prefix("record", id_or_prefix, matches));
  for (const SealedRecord& sealed : all)
    if (sealed.record.id == id)
      return sealed.record;
  return fail(ErrorKind::not_found, "the record vanished while it was looked up");
}

Status copy_archive(Archive& from, Archive& to) {
  KW_TRY(const std::vector<ProbeRow> there, to.list_probes({.limit = 1}));
  KW_TRY(const std::vector<Run> runs_there, to.list_runs());
  if (!there.empty() || !runs_there.empty())
    return fail(ErrorKind::refused, "the archive to copy into is not empty",
                "name a new folder: two archives are never mixed, their chains would not fit");
  KW_TRY(const ChainReport before, from.verify_chain());
  if (before.broken)
    return fail(ErrorKind::infrastructure,
                "the archive to copy from is damaged: " + before.broken->message,
                "restore it from an earlier export, or read single probes with `kernwright "
                "archive show`");
  KW_TRY(const std::vector<Run> runs, from.list_runs());
  for (const Run& run : runs) {
    KW_TRY(const std::string id, to.begin_run(run));
    KW_ASSERT(id == run.id);
  }
  KW_TRY(const std::vector<ProbeRow> probes, from.list_probes({}));
  KW_TRY(const std::vector<SealedRecord> records, from.records());
  std::size_t copied = 0;
  for (const SealedRecord& sealed : records) {
    for (; copied < sealed.probe_count && copied < probes.size(); ++copied)
      KW_CHECK(copy_probe(from, to, probes[copied].id));
    KW_TRY(const Record again, to.seal(sealed.record));
    KW_ASSERT(again.id == sealed.record.id);
  }
  for (; copied < probes.size(); ++copied)
    KW_CHECK(copy_probe(from, to, probes[copied].id));
  return {};
}

} // namespace kw
