// SPDX-License-Identifier: Apache-2.0
#include "archive/archive.hpp"
#include "archive/audit.hpp"
#include "archive/chain.hpp"
#include "base/hash.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <utility>

namespace kw {
namespace {

class MemoryArchive final : public Archive {
 public:
  using Archive::put_probe;

  Result<std::string> begin_run(const Run& run) override {
    const std::lock_guard lock(mutex_);
    Run stored = run;
    if (stored.id.empty())
      stored.id = fmt::format("{:04}", runs_.size() + 1);
    for (const Run& r : runs_)
      if (r.id == stored.id)
        return fail(ErrorKind::invalid_input, "run '" + stored.id + "' exists already",
                    "leave the id empty to get the next free one");
    runs_.push_back(stored);
    return stored.id;
  }

  Status update_run(const Run& run) override {
    const std::lock_guard lock(mutex_);
    for (Run& r : runs_)
      if (r.id == run.id) {
        r.state = run.state;
        r.options = run.options;
        r.finished_at = run.finished_at;
        r.champion = run.champion;
        return {};
      }
    return fail(no_run(run.id));
  }

  Result<Run> get_run(std::string_view id) override {
    const std::lock_guard lock(mutex_);
    for (const Run& r : runs_)
      if (r.id == id)
        return r;
    return fail(no_run(id));
  }

  Result<std::vector<Run>> list_runs() override {
    const std::lock_guard lock(mutex_);
    return runs_;
  }

  Status put_probe(const Probe& probe, std::string_view json,
                   std::span<const BlobRef> blobs) override {
    const std::lock_guard lock(mutex_);
    for (const BlobRef& ref : blobs)
      if (!blobs_.contains(ref.sha256))
        return fail(missing_blob(ref));
    ArchivedProbe stored{
        make_row(probe, json, blobs), std::string(json), {blobs.begin(), blobs.end()}};
    KW_CHECK(check_probe_id(probe.id));
    for (const ArchivedProbe& p : probes_)
      if (p.row.id == probe.id)
        return same_or_refused(p.row, stored.row);
    stored.row.sequence = probes_.size() + 1;
    stored.row.chain = extend_probe_chain(chain(), stored.row.row_hash);
    probes_.push_back(std::move(stored));
    return {};
  }

  Result<ArchivedProbe> get_probe(std::string_view id_or_prefix) override {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> matches;
    for (const ArchivedProbe& p : probes_)
      if (p.row.id.starts_with(id_or_prefix))
        matches.push_back(p.row.id);
    KW_TRY(const std::string id, resolve_prefix("probe", id_or_prefix, matches));
    return *std::ranges::find(probes_, id, [](const ArchivedProbe& p) { return p.row.id; });
  }

  Result<std::vector<ProbeRow>> list_probes(const ProbeFilter& filter) override {
    const std::lock_guard lock(mutex_);
    std::vector<ProbeRow> rows = rows_where([&](const ProbeRow& row) {
      return (filter.definition.empty() || row.definition == filter.definition) &&
             (filter.run.empty() || row.run == filter.run) &&
             (filter.decision.empty() || row.decision == filter.decision);
    });
    if (filter.limit != 0 && rows.size() > filter.limit)
      rows.erase(rows.begin(), rows.end() - static_cast<std::ptrdiff_t>(filter.limit));
    return rows;
  }

  Result<std::uint64_t> attempts(std::string_view definition) override {
    const std::lock_guard lock(mutex_);
    return rows_where([&](const ProbeRow& row) {
             return row.timed && row.definition == definition &&
                    (row.run.empty() || row.hypothesis.starts_with("final"));
           })
        .size();
  }

  Result<std::vector<ProbeRow>> find_by_solution_hash(std::string_view definition_hash,
                                                      std::string_view solution_hash) override {
    const std::lock_guard lock(mutex_);
    return rows_where([&](const ProbeRow& row) {
      return row.definition_hash == definition_hash && row.solution_hash == solution_hash;
    });
  }

  Result<std::string> put_blob(std::string_view bytes) override {
    const std::lock_guard lock(mutex_);
    std::string id = sha256_hex(bytes);
    blobs_[id] = std::string(bytes);
    return id;
  }

  Result<std::string> get_blob(std::string_view sha256) override {
    const std::lock_guard lock(mutex_);
    return blob(sha256);
  }

  Result<Record> seal(const Record& record) override {
    const std::lock_guard lock(mutex_);
    const auto promoted =
        std::ranges::find(probes_, record.probe, [](const ArchivedProbe& p) { return p.row.id; });
    if (promoted == probes_.end())
      return fail(unknown_promoted(record.probe));
    SealedRecord sealed{record, probes_.size(), chain(), promoted->row.row_hash};
    sealed.record.previous = records_.empty() ? "" : records_.back().record.id;
    sealed.record.id = record_id(sealed);
    records_.push_back(sealed);
    return sealed.record;
  }

  Result<std::vector<SealedRecord>> records() override {
    const std::lock_guard lock(mutex_);
    return records_;
  }

  Result<ChainReport> verify_chain() override {
    const std::lock_guard lock(mutex_);
    std::size_t at = 0;
    const NextProbe next = [&]() -> Result<std::optional<ArchivedProbe>> {
      if (at == probes_.size())
        return std::nullopt;
      return probes_[at++];
    };
    return audit_chain(next, records_, [&](std::string_view id) { return blob(id); });
  }

 private:
  [[nodiscard]] std::string chain() const {
    return probes_.empty() ? std::string{} : probes_.back().row.chain;
  }

  Result<std::string> blob(std::string_view sha256) const {
    const auto found = blobs_.find(sha256);
    if (found == blobs_.end())
      return fail(no_blob(sha256));
    return found->second;
  }

  template <class Predicate>
  [[nodiscard]] std::vector<ProbeRow> rows_where(const Predicate& matches) const {
    std::vector<ProbeRow> rows;
    for (const ArchivedProbe& p : probes_)
      if (matches(p.row))
        rows.push_back(p.row);
    return rows;
  }

  std::mutex mutex_;
  std::vector<Run> runs_;
  std::vector<ArchivedProbe> probes_;
  std::map<std::string, std::string, std::less<>> blobs_;
  std::vector<SealedRecord> records_;
};

} // namespace

std::unique_ptr<Archive> make_memory_archive() {
  return std::make_unique<MemoryArchive>();
}

} // namespace kw
