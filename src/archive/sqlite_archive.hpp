// SPDX-License-Identifier: Apache-2.0
// The archive of a project: <folder>/archive.sqlite (WAL, synchronous=FULL) and <folder>/blobs/.
// What a call has acknowledged survives kill -9 and a power cut; several processes may use one
// archive at once, writers take turns.
#pragma once

#include "archive/archive.hpp"

namespace kw {

struct SqliteArchiveOptions {
  bool read_only = false;     ///< for list, show and export; also on read-only media
  int busy_timeout_ms = 5000; ///< how long to wait for another writer before saying so
};

/// Creates folder and file where absent, unless read-only.
/// Errors: not_found (read-only and absent), unsupported (newer schema), invalid_input (other
/// SQLite file), infrastructure (read-only folder, full disk, damaged file, busy).
Result<std::unique_ptr<Archive>> open_sqlite_archive(const std::string& folder,
                                                     const SqliteArchiveOptions& options = {});

} // namespace kw
