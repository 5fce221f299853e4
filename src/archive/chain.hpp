// SPDX-License-Identifier: Apache-2.0
// The hashes that tie the archive together, as pure functions over its rows. Every hash is SHA-256
// over length-prefixed fields, the first of which names the kind and version of what is hashed.
#pragma once

#include "archive/archive.hpp"

namespace kw {

/// The row of a probe that is not yet in a chain: `sequence` and `chain` stay empty.
ProbeRow make_row(const Probe& probe, std::string_view json, std::span<const BlobRef> blobs);
/// Over every field of the row but sequence, row_hash and chain, and over the blob list.
std::string row_hash(const ProbeRow& row, std::span<const BlobRef> blobs);
/// The next value of the probe chain.
std::string extend_probe_chain(std::string_view previous, std::string_view row_hash);
/// The id of a record: covers `previous`, all fields, and what the seal pins of the probes.
std::string record_id(const SealedRecord& sealed);
/// Equal to a whole id, or else a prefix of exactly one. `kind` is for messages ("probe").
Result<std::string> resolve_prefix(std::string_view kind, std::string_view wanted,
                                   const std::vector<std::string>& matches);

/// The digits of a hash that messages show.
std::string short_id(std::string_view id);

/// Refusals that every implementation words alike.
Status check_probe_id(std::string_view id);
Status same_or_refused(const ProbeRow& stored, const ProbeRow& offered);
Error no_run(std::string_view id);
Error no_blob(std::string_view sha256);
Error missing_blob(const BlobRef& ref);
Error unknown_promoted(std::string_view probe);

} // namespace kw
