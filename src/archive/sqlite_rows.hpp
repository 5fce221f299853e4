// SPDX-License-Identifier: Apache-2.0
// Columns of the tables in reading order, and the rows made of them.
#pragma once

#include "archive/archive.hpp"
#include "archive/database.hpp"

namespace kw::sqlite_rows {

inline constexpr const char* probe_columns =
    "seq, id, run, definition, definition_hash, solution, solution_hash, parent, proposer, "
    "hypothesis, decision, reason, finding, word, timed, speedup, low, high, started_at, wall_ms, "
    "json_sha256, row_hash, chain";
inline constexpr int probe_column_count = 23; ///< `json` follows where it is selected

inline constexpr const char* record_columns =
    "id, previous, probe, definition, solution_name, speedup, low, high, baseline, sealed_at, "
    "probe_count, probe_chain, probe_row_hash";

inline constexpr const char* run_columns =
    "id, definition, state, options, started_at, finished_at, champion";

ProbeRow probe(const Statement& s);
SealedRecord record(const Statement& s);
Run run(const Statement& s);

Status insert(Database& db, const ArchivedProbe& probe);
Status insert(Database& db, const SealedRecord& sealed);

/// The blob list of one probe, in its order.
Result<std::vector<BlobRef>> blobs_of(Database& db, std::uint64_t sequence);

} // namespace kw::sqlite_rows
