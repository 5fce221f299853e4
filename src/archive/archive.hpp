// SPDX-License-Identifier: Apache-2.0
// The memory of every attempt: runs, probes (kept or failed), the blobs they name, and the sealed
// records of promotions.
//
// Two hash chains make silent changes visible. Every probe row extends the probe chain; every
// record extends the record chain and pins the head of the probe chain at the moment of sealing.
// So altering or deleting any probe that is older than the newest record breaks verify_chain(),
// failed probes included (a numerical failure must stay on file). There is no key: somebody who
// rewrites the whole archive can recompute both chains. To exclude that, keep a copy of the head
// that verify_chain() reports outside the archive.
//
// Documents are opaque here: the caller encodes a Probe as JSON and passes the record for the
// indexed columns. Implementations are safe to call from several threads.
#pragma once

#include "base/result.hpp"
#include "model/probe.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

/// A named blob of a probe, e.g. {"build.log", sha256 of its uncompressed bytes}.
struct BlobRef {
  std::string name;
  std::string sha256;
};

/// The indexed columns of an archived probe: enough to list, filter and count without its JSON.
struct ProbeRow {
  std::uint64_t sequence = 0; ///< position in the probe chain, from 1
  std::string id;
  std::string run;
  std::string definition, definition_hash;
  std::string solution, solution_hash;
  std::string parent, proposer, hypothesis;
  std::string decision, reason;
  std::string finding; ///< name(Finding), e.g. "REJECT_WRONG"; "NONE"
  std::string word;    ///< ACCEPTED | REJECTED | ...
  bool timed = false;  ///< a timing gate was taken, so this probe spent significance
  double speedup = 0, low = 0, high = 0; ///< confirmed; 0 where none was taken
  std::string started_at;
  double wall_ms = 0;
  std::string json_sha256;
  std::string row_hash; ///< over all fields above and the blob list, without `sequence`
  std::string chain;    ///< probe chain up to and including this row
};

struct ArchivedProbe {
  ProbeRow row;
  std::string json;
  std::vector<BlobRef> blobs;
};

/// A record with what its seal pins of the probe chain.
struct SealedRecord {
  Record record;
  std::uint64_t probe_count = 0; ///< probes in the archive when it was sealed
  std::string probe_chain;       ///< chain value of the last of them
  std::string probe_row_hash;    ///< of the promoted probe
};

/// Empty members do not filter.
struct ProbeFilter {
  std::string definition = {};
  std::string run = {};
  std::string decision = {};
  std::uint64_t limit = 0; ///< 0 = all; otherwise the newest `limit`
};

/// Outcome of an audit. A broken link is a finding, not an error of the audit.
struct ChainReport {
  struct Broken {
    std::string what; ///< "probe", "blob", "record", "database"
    std::string id;
    std::string message; ///< full sentence
  };
  std::uint64_t probes = 0, records = 0, blobs = 0; ///< found intact before the first broken link
  std::string head;             ///< id of the newest record, "" if there is none
  std::string probe_chain;      ///< chain value of the newest probe
  std::optional<Broken> broken; ///< the first broken link
  [[nodiscard]] bool intact() const { return !broken.has_value(); }
};

class Archive {
 public:
  virtual ~Archive() = default;

  /// Stores a new run and returns its id; an empty `run.id` gets the next number ("0001", ...).
  virtual Result<std::string> begin_run(const Run& run) = 0;
  /// Replaces state, options, finished_at and champion. Errors: not_found.
  virtual Status update_run(const Run& run) = 0;
  virtual Result<Run> get_run(std::string_view id) = 0;
  /// Oldest first.
  virtual Result<std::vector<Run>> list_runs() = 0;

  /// Durable when it returns. Storing an identical probe again changes nothing; a different probe
  /// under a stored id is refused. Every blob must have been put before.
  virtual Status put_probe(const Probe& probe, std::string_view json,
                           std::span<const BlobRef> blobs) = 0;
  Status put_probe(const Probe& probe, std::string_view json) { return put_probe(probe, json, {}); }
  /// By id or a prefix that only one probe has. Errors: not_found, invalid_input (ambiguous).
  virtual Result<ArchivedProbe> get_probe(std::string_view id_or_prefix) = 0;
  /// Oldest first.
  virtual Result<std::vector<ProbeRow>> list_probes(const ProbeFilter& filter) = 0;
  /// Timing gates taken for a definition (by name) that stood for a claim, those inside a search
  /// left out: attempt k + 1 comes next in alpha spending. Probes that failed before timing could
  /// not win by luck and do not count.
  virtual Result<std::uint64_t> attempts(std::string_view definition) = 0;
  /// Every judgement of this very solution, oldest first: a numerical failure among them is sticky.
  virtual Result<std::vector<ProbeRow>> find_by_solution_hash(std::string_view definition_hash,
                                                              std::string_view solution_hash) = 0;

  /// Returns the sha256 of `bytes`. Durable when it returns; equal content is stored once.
  virtual Result<std::string> put_blob(std::string_view bytes) = 0;
  /// Errors: not_found; infrastructure when the stored bytes no longer match their name.
  virtual Result<std::string> get_blob(std::string_view sha256) = 0;

  /// Fills in `id` and `previous` and appends to the chain. `record.probe` must be stored, and the
  /// caller supplies `sealed_at`, so that sealing is reproducible.
  virtual Result<Record> seal(const Record& record) = 0;
  /// Oldest first.
  virtual Result<std::vector<SealedRecord>> records() = 0;
  /// By id or unique prefix.
  Result<Record> find_record(std::string_view id_or_prefix);

  /// Reads everything back: row hashes, both chains, blobs. Stops at the first broken link.
  virtual Result<ChainReport> verify_chain() = 0;
};

/// An archive that lives in memory: for tests and for `--no-archive`.
std::unique_ptr<Archive> make_memory_archive();

/// Copies all of `from` into the empty archive `to`; record ids come out the same. This is export
/// and restore. Errors: refused when `to` is not empty, infrastructure when `from` is damaged.
Status copy_archive(Archive& from, Archive& to);

} // namespace kw
