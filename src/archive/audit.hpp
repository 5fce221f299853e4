// SPDX-License-Identifier: Apache-2.0
// Reads an archive front to back and finds the first thing that does not fit.
#pragma once

#include "archive/archive.hpp"

#include <functional>

namespace kw {

/// The next probe in sequence order, nullopt after the last.
using NextProbe = std::function<Result<std::optional<ArchivedProbe>>()>;
/// The bytes of a blob, checked against their name.
using ReadBlob = std::function<Result<std::string>(std::string_view sha256)>;

/// Checks every row hash, both chains and every blob. Holds one probe at a time. Errors only when
/// `next` fails; damage is in the report.
Result<ChainReport> audit_chain(const NextProbe& next, const std::vector<SealedRecord>& records,
                                const ReadBlob& read_blob);

} // namespace kw
