// SPDX-License-Identifier: Apache-2.0
// Whole-file operations that either happen or leave the old state, with errors that say what to do.
// Temporary folders: temp_dir.hpp. Locks between processes: file_lock.hpp.
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

inline constexpr std::size_t default_max_file = std::size_t{256} << 20;

/// The bytes of a regular file. Errors: not_found; invalid_input when it is larger than `max_bytes`
/// or no regular file (devices and pipes are never read).
Result<std::string> read_file(const std::string& path, std::size_t max_bytes = default_max_file);

/// Temporary file beside `path`, fsync, rename, fsync of the folder: readers see the old or the new
/// content, never a part, also after a power cut. The folder must exist.
Status write_file_atomic(const std::string& path, std::string_view content, unsigned mode = 0644);

/// Appends `line` and a newline under an exclusive lock, then fdatasync. A torn last line left by a
/// crash is closed with a newline first; a failed append is cut off again. `line` has no newline.
Status append_line_durable(const std::string& path, std::string_view line);

/// mkdir -p.
Status make_dirs(const std::string& path);

struct TreeEntry {
  std::string path; ///< relative to the root, '/'-separated
  std::uint64_t bytes = 0;
};
/// Regular files below `root`, sorted by path. Symbolic links are neither followed nor listed.
/// Errors: more than `max_entries` files.
Result<std::vector<TreeEntry>> list_tree(const std::string& root,
                                         std::size_t max_entries = 100'000);

/// Removes a file or a whole folder; absent is fine.
Status remove_tree(const std::string& path);

[[nodiscard]] bool is_file(const std::string& path);
[[nodiscard]] bool is_dir(const std::string& path);

/// Writes all of `bytes` to a descriptor, resuming after interrupts. `path` is for the message.
Status write_all(int fd, std::string_view bytes, const std::string& path);

/// "a/b" + "c" -> "a/b/c"; an absolute `name` is returned alone, an empty folder adds nothing.
[[nodiscard]] std::string join_path(std::string_view folder, std::string_view name);
/// Folder part of a path, "." if it has none; and the last component.
[[nodiscard]] std::string parent_path(const std::string& path);
[[nodiscard]] std::string base_name(const std::string& path);

} // namespace kw
