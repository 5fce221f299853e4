// SPDX-License-Identifier: Apache-2.0
#include "archive/audit.hpp"

#include "archive/chain.hpp"
#include "base/hash.hpp"

#include <fmt/format.h>
#include <map>
#include <set>
#include <utility>

namespace kw {
namespace {

class Audit {
 public:
  explicit Audit(const ReadBlob& read_blob) : read_blob_(read_blob) {}

  void probe(const ArchivedProbe& probe) {
    const ProbeRow& row = probe.row;
    const std::uint64_t number = report.probes + 1;
    const std::string label = fmt::format("probe {} ({})", number, short_id(row.id));
    if (row.sequence != number)
      return broken("probe", row.id,
                    fmt::format("probe {} is missing: the next one stored is number {} ({})",
                                number, row.sequence, short_id(row.id)));
    if (sha256_hex(probe.json) != row.json_sha256)
      return broken("probe", row.id,
                    "the document of " + label + " was changed after it was stored");
    if (row_hash(row, probe.blobs) != row.row_hash)
      return broken("probe", row.id,
                    "a column or the blob list of " + label + " was changed after it was stored");
    if (extend_probe_chain(report.probe_chain, row.row_hash) != row.chain)
      return broken("probe", row.id,
                    label + " does not continue the chain: it or one before it was replaced");
    for (const BlobRef& ref : probe.blobs)
      if (!blob(ref, label))
        return;
    report.probes = number;
    report.probe_chain = row.chain;
    row_hashes_[row.id] = row.row_hash;
  }

  void record(const SealedRecord& sealed) {
    const Record& record = sealed.record;
    const std::string label =
        fmt::format("record {} ({})", report.records + 1, short_id(record.id));
    if (record.previous != report.head)
      return broken("record", record.id,
                    label + " does not follow the one before it: a record was removed or moved");
    if (record_id(sealed) != record.id)
      return broken("record", record.id, label + " was changed after it was sealed");
    if (sealed.probe_count != report.probes || sealed.probe_chain != report.probe_chain)
      return broken("record", record.id,
                    fmt::format("{} was sealed over {} probes that are no longer the first {} here",
                                label, sealed.probe_count, sealed.probe_count));
    const auto promoted = row_hashes_.find(record.probe);
    if (promoted == row_hashes_.end() || promoted->second != sealed.probe_row_hash)
      return broken("record", record.id,
                    label + " names a probe that is not in the archive as it was sealed");
    ++report.records;
    report.head = record.id;
  }

  ChainReport report;

 private:
  void broken(std::string what, std::string id, std::string message) {
    report.broken = ChainReport::Broken{std::move(what), std::move(id), std::move(message)};
  }

  bool blob(const BlobRef& ref, const std::string& owner) {
    if (blobs_seen_.contains(ref.sha256))
      return true;
    if (Result<std::string> content = read_blob_(ref.sha256); !content) {
      broken("blob", ref.sha256,
             fmt::format("'{}' of {}: {}", ref.name, owner, content.error().message));
      return false;
    }
    blobs_seen_.insert(ref.sha256);
    ++report.blobs;
    return true;
  }

  const ReadBlob& read_blob_;
  std::set<std::string, std::less<>> blobs_seen_;
  std::map<std::string, std::string, std::less<>> row_hashes_;
};

} // namespace

Result<ChainReport> audit_chain(const NextProbe& next, const std::vector<SealedRecord>& records,
                                const ReadBlob& read_blob) {
  Audit audit(read_blob);
  auto record = records.begin();
  // A record belongs where the chain stood when it was sealed: after its last probe.
  const auto seal_records_due = [&] {
    while (!audit.report.broken && record != records.end() &&
           record->probe_count <= audit.report.probes)
      audit.record(*record++);
  };
  while (!audit.report.broken) {
    KW_TRY(std::optional<ArchivedProbe> probe, next());
    if (!probe)
      break;
    audit.probe(*probe);
    seal_records_due();
  }
  while (!audit.report.broken && record != records.end())
    audit.record(*record++);
  return std::move(audit.report);
}

} // namespace kw
