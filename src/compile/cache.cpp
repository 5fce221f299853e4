// SPDX-License-Identifier: Apache-2.0
#include "compile/cache.hpp"

#include "base/hash.hpp"
#include "os/file_lock.hpp"
#include "os/files.hpp"
#include "os/random.hpp"
#include "os/system_error.hpp"
#include "os/unique_fd.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/stat.h>
#include <vector>

namespace kw {
namespace fs = std::filesystem;

namespace {

constexpr std::size_t max_cached = std::size_t{512} << 20; ///< precompiled headers are the largest

// The manifest: format line, object file name, sha256 of the object, sha256 of the note, the note.
constexpr std::string_view manifest_format = "kernwright-build-cache 1";

std::string manifest_text(std::string_view file_name, std::string_view hash,
                          std::string_view note) {
  return fmt::format("{}\n{}\n{}\n{}\n{}", manifest_format, file_name, hash, sha256_hex(note),
                     note);
}

std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  return line;
}

/// Full paths of what a folder holds; entries that vanish meanwhile are left out.
std::vector<std::string> children_of(const std::string& folder) {
  std::vector<std::string> out;
  std::error_code ec;
  for (fs::directory_iterator it(folder, ec); !ec && it != fs::directory_iterator();
       it.increment(ec))
    out.push_back(it->path().string());
  return out;
}

Status write_read_only(const std::string& path, std::string_view bytes) {
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444));
  if (!fd)
    return fail_errno("write", path);
  return write_all(fd.get(), bytes, path);
}

} // namespace

Result<BuildCache> BuildCache::open(std::string dir, std::uint64_t max_bytes) {
  for (const char* folder : {"objects", "tmp"})
    KW_CHECK(make_dirs(join_path(dir, folder)));
  // Creating a folder proves that writing works, for root on a read-only mount as well.
  const std::string probe = join_path(dir, fmt::format("tmp/probe-{}", random_hex(6)));
  if (::mkdir(probe.c_str(), 0700) != 0)
    return fail_errno("write to the build cache", dir);
  ::rmdir(probe.c_str());
  return BuildCache(std::move(dir), max_bytes);
}

std::string BuildCache::entry_dir(const std::string& key) const {
  KW_ASSERT(key.size() > 2 && key.find_first_not_of("0123456789abcdef") == std::string::npos);
  return fmt::format("{}/objects/{}/{}", dir_, key.substr(0, 2), key);
}

void BuildCache::discard(const std::string& entry) const {
  // Out of sight first, so that nobody finds half an entry.
  const std::string trash = join_path(dir_, fmt::format("tmp/trash-{}", random_hex(8)));
  if (::rename(entry.c_str(), trash.c_str()) == 0)
    (void)remove_tree(trash);
}

std::optional<CacheEntry> BuildCache::find(const std::string& key) {
  const std::string entry = entry_dir(key);
  const Result<std::string> manifest = read_file(join_path(entry, "manifest"), 16 << 20);
  if (!manifest) {
    if (is_dir(entry))
      discard(entry);
    return std::nullopt;
  }
  std::string_view rest = *manifest;
  const std::string_view format = take_line(rest), file_name = take_line(rest);
  const std::string_view hash = take_line(rest), note_hash = take_line(rest);
  CacheEntry found;
  if (format == manifest_format && !file_name.empty() &&
      file_name.find('/') == std::string_view::npos && sha256_hex(rest) == note_hash) {
    found.object_path = join_path(entry, file_name);
    const Result<std::string> object = read_file(found.object_path, max_cached);
    if (object && sha256_hex(*object) == hash) {
      found.object_hash = hash;
      found.note = rest;
      ::utimensat(AT_FDCWD, entry.c_str(), nullptr, 0); // "used now", for eviction
      return found;
    }
  }
  discard(entry);
  return std::nullopt;
}

Result<CacheEntry> BuildCache::publish(const std::string& key, std::string_view object,
                                       std::string_view note, const std::string& file_name) {
  const std::string entry = entry_dir(key);
  const std::string staging = join_path(dir_, fmt::format("tmp/new-{}", random_hex(8)));
  const std::string hash = sha256_hex(object);
  bool lost_race = false;
  const auto write = [&]() -> Status {
    KW_CHECK(make_dirs(parent_path(entry)));
    if (::mkdir(staging.c_str(), 0755) != 0)
      return fail_errno("write to the build cache", dir_);
    KW_CHECK(write_read_only(join_path(staging, file_name), object));
    KW_CHECK(write_read_only(join_path(staging, "manifest"), manifest_text(file_name, hash, note)));
    // rename() onto a non-empty folder fails: another process was first with the same key.
    if (::rename(staging.c_str(), entry.c_str()) == 0)
      return {};
    if (errno != ENOTEMPTY && errno != EEXIST)
      return fail_errno("write to the build cache", dir_);
    lost_race = true;
    return {};
  };
  const Status written = write();
  if (is_dir(staging))
    (void)remove_tree(staging);
  if (!written)
    return fail(written.error());
  if (lost_race) {
    if (std::optional<CacheEntry> theirs = find(key))
      return *std::move(theirs);
    return publish(key, object, note, file_name); // theirs was damaged, and is gone now
  }
  bool full_look = false;
  {
    const std::lock_guard lock(mutex_);
    since_evict_ += object.size() + 4096;
    if (since_evict_ > max_bytes_ / 16) {
      since_evict_ = 0;
      full_look = true;
    }
  }
  if (full_look)
    (void)evict(); // a cache that is too large is no reason to fail a build
  return CacheEntry{join_path(entry, file_name), hash, std::string(note)};
}

Status BuildCache::evict(std::int64_t grace_seconds) {
  // One process at a time; the others need not wait for it.
  const Result<FileLock> lock = FileLock::acquire(join_path(dir_, "evict.lock"), "cache eviction");
  if (!lock)
    return {};
  struct Item {
    std::string path;
    std::uint64_t bytes;
    std::int64_t used;
  };
  std::vector<Item> items;
  std::uint64_t total = 0;
  for (const std::string& shelf : children_of(join_path(dir_, "objects")))
    for (const std::string& entry : children_of(shelf)) {
      struct stat info{};
      if (::stat(entry.c_str(), &info) != 0)
        continue;
      Item item{entry, 4096, info.st_mtim.tv_sec};
      std::error_code ec;
      for (const std::string& file : children_of(entry))
        if (const std::uint64_t bytes = fs::file_size(file, ec); !ec)
          item.bytes += bytes;
      total += item.bytes;
      items.push_back(std::move(item));
    }
  std::sort(items.begin(), items.end(),
            [](const Item& a, const Item& b) { return a.used < b.used; });
  const std::int64_t youngest = std::int64_t{std::time(nullptr)} - grace_seconds;
  for (const Item& item : items) {
    if (total <= max_bytes_ || item.used > youngest)
      break;
    discard(item.path);
    total -= item.bytes;
  }
  // What crashed writers left behind; a running one is never this old.
  const std::int64_t stale = std::int64_t{std::time(nullptr)} - 3600;
  for (const std::string& left : children_of(join_path(dir_, "tmp"))) {
    struct stat info{};
    if (::stat(left.c_str(), &info) == 0 && info.st_mtim.tv_sec < stale)
      (void)remove_tree(left);
  }
  return {};
}

} // namespace kw
