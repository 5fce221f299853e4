// SPDX-License-Identifier: Apache-2.0
#include "archive/chain.hpp"

#include "base/hash.hpp"

#include <fmt/format.h>

namespace kw {
namespace {

// 17 significant digits name every double, so equal text means equal value on every platform.
std::string exact(double value) {
  return fmt::format("{:.17g}", value);
}

} // namespace

std::string short_id(std::string_view id) {
  return std::string(id.substr(0, 12));
}

ProbeRow make_row(const Probe& probe, std::string_view json, std::span<const BlobRef> blobs) {
  ProbeRow row;
  row.id = probe.id;
  row.run = probe.run;
  row.definition = probe.definition;
  row.definition_hash = probe.definition_hash;
  row.solution = probe.solution.name;
  row.solution_hash = probe.solution_hash;
  row.parent = probe.parent;
  row.proposer = probe.proposer;
  row.hypothesis = probe.hypothesis;
  row.decision = probe.decision;
  row.reason = probe.reason;
  row.finding = name(probe.verdict.finding);
  row.word = probe.verdict.word;
  if (const auto& times = probe.verdict.times) {
    row.timed = !times->gate.empty();
    row.speedup = times->speedup;
    row.low = times->low;
    row.high = times->high;
  }
  row.started_at = probe.started_at;
  row.wall_ms = probe.wall_ms;
  row.json_sha256 = sha256_hex(json);
  row.row_hash = row_hash(row, blobs);
  return row;
}

std::string row_hash(const ProbeRow& row, std::span<const BlobRef> blobs) {
  Digest digest;
  digest.field("kernwright probe row 1");
  for (const std::string* text :
       {&row.id, &row.run, &row.definition, &row.definition_hash, &row.solution, &row.solution_hash,
        &row.parent, &row.proposer, &row.hypothesis, &row.decision, &row.reason, &row.finding,
        &row.word, &row.started_at, &row.json_sha256})
    digest.field(*text);
  digest.field(row.timed ? "1" : "0");
  for (double value : {row.speedup, row.low, row.high, row.wall_ms})
    digest.field(exact(value));
  for (const BlobRef& blob : blobs)
    digest.field(blob.name).field(blob.sha256);
  return digest.hex();
}

std::string extend_probe_chain(std::string_view previous, std::string_view row_hash) {
  return Digest{}.field("kernwright probe chain 1").field(previous).field(row_hash).hex();
}

std::string record_id(const SealedRecord& sealed) {
  const Record& r = sealed.record;
  Digest digest;
  digest.field("kernwright record 1");
  for (const std::string* text : {&r.previous, &r.probe, &sealed.probe_row_hash, &r.definition,
                                  &r.solution_name, &r.baseline, &r.sealed_at, &sealed.probe_chain})
    digest.field(*text);
  for (double value : {r.speedup, r.low, r.high})
    digest.field(exact(value));
  digest.field(std::to_string(sealed.probe_count));
  return digest.hex();
}

Result<std::string> resolve_prefix(std::string_view kind, std::string_view wanted,
                                   const std::vector<std::string>& matches) {
  if (wanted.empty())
    return fail(ErrorKind::invalid_input, fmt::format("no {} id was given", kind),
                fmt::format("list the {}s with `kernwright archive list`", kind));
  if (matches.empty())
    return fail(ErrorKind::not_found,
                fmt::format("no {} in this archive has an id that starts with '{}'", kind, wanted),
                "list what is there with `kernwright archive list`");
  for (const std::string& id : matches)
    if (id == wanted)
      return id;
  if (matches.size() == 1)
    return matches.front();
  std::string some;
  for (std::size_t i = 0; i < matches.size() && i < 4; ++i)
    some += (i ? ", " : "") + short_id(matches[i]);
  return fail(ErrorKind::invalid_input,
              fmt::format("'{}' is the start of more than one {} id ({}{})", wanted, kind, some,
                          matches.size() > 4 ? ", ..." : ""),
              "give more digits of the id");
}

Status check_probe_id(std::string_view id) {
  if (id.empty())
    return fail(ErrorKind::invalid_input, "a probe without an id cannot be archived",
                "compute the content address of the probe before it is stored");
  return {};
}

Status same_or_refused(const ProbeRow& stored, const ProbeRow& offered) {
  if (stored.row_hash == offered.row_hash)
    return {};
  return fail(ErrorKind::refused,
              fmt::format("a different probe is already archived as {}", short_id(stored.id)),
              "probes are never rewritten: store the new judgement under an id of its own");
}

Error no_run(std::string_view id) {
  return {ErrorKind::not_found,
          fmt::format("there is no run '{}' in this archive", id),
          "list the runs with `kernwright archive list --runs`",
          {}};
}

Error no_blob(std::string_view sha256) {
  return {ErrorKind::not_found,
          fmt::format("blob {} is not in this archive", short_id(sha256)),
          "restore the blobs/ folder of the archive from an export",
          {}};
}

Error missing_blob(const BlobRef& ref) {
  return {ErrorKind::invalid_input,
          fmt::format("the probe names blob {} ('{}'), which was never stored",
                      short_id(ref.sha256), ref.name),
          "store every blob before the probe that names it",
          {}};
}

Error unknown_promoted(std::string_view probe) {
  return {ErrorKind::invalid_input,
          fmt::format("probe '{}' is not archived, so no record can be sealed over it",
                      short_id(probe)),
          "store the probe first",
          {}};
}

} // namespace kw
