// SPDX-License-Identifier: Apache-2.0
// Content-addressed store of build results, shared by any number of processes.
//
//   <dir>/objects/ab/<key>/   object + manifest, published by one rename, read-only
//   <dir>/tmp/                entries being written
//
// An entry is trusted only after its bytes match the manifest's sha256: a flipped byte means a
// miss, and the entry is removed. Nothing here is worth an fsync: a torn entry is a miss as well.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace kw {

struct CacheEntry {
  std::string object_path;
  std::string object_hash; ///< sha256, verified
  std::string note;        ///< what the writer stored beside it (JSON text)
};

class BuildCache {
 public:
  /// Creates the folders. Errors: folder cannot be created or written, with the remedy.
  static Result<BuildCache> open(std::string dir, std::uint64_t max_bytes);

  /// Verified entry, or nothing.
  std::optional<CacheEntry> find(const std::string& key);

  /// Stores the bytes of an object. Of two writers of one key
  /// the first wins. Errors: disk full, read-only; the cache is unchanged then.
  Result<CacheEntry> publish(const std::string& key, std::string_view object, std::string_view note,
                             const std::string& file_name = "object.so");

  /// Removes entries, least recently used first, until the store fits. Entries used within the
  /// last `grace_seconds` stay: somebody may be about to load them.
  Status evict(std::int64_t grace_seconds = 600);

  [[nodiscard]] const std::string& dir() const { return dir_; }

  BuildCache(BuildCache&& other) noexcept
      : dir_(std::move(other.dir_)), max_bytes_(other.max_bytes_),
        since_evict_(other.since_evict_) {}

 private:
  BuildCache(std::string dir, std::uint64_t max_bytes)
      : dir_(std::move(dir)), max_bytes_(max_bytes) {}
  [[nodiscard]] std::string entry_dir(const std::string& key) const;
  void discard(const std::string& entry) const;

  std::string dir_;
  std::uint64_t max_bytes_;
  std::mutex mutex_;
  std::uint64_t since_evict_ = 0; ///< bytes published since the last look at the size
};

} // namespace kw
