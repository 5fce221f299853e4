// SPDX-License-Identifier: Apache-2.0
// The stored schema. PRAGMA user_version counts the migrations that a file has had.
#pragma once

#include "archive/database.hpp"

namespace kw {

/// Number of migrations this build knows.
[[nodiscard]] int schema_version();

/// Brings a new or older file up to date, each step in a transaction of its own.
/// Errors: unsupported for a file of a newer Kernwright, invalid_input for some other database.
Status migrate(Database& db, const std::string& path);

/// The schema version of a file, 0 for an empty one; changes nothing. Errors as migrate().
Result<int> stored_version(Database& db, const std::string& path);

} // namespace kw
