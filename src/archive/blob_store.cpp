// SPDX-License-Identifier: Apache-2.0
#include "archive/blob_store.hpp"

#include "archive/chain.hpp"
#include "base/hash.hpp"
#include "os/files.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <zstd.h>

namespace kw {
namespace {

// Level 3: samples and logs shrink four- to tenfold at more than 200 MB/s.
constexpr int compression_level = 3;
// A frame may claim any size; beyond this one it is damage, not a blob.
constexpr unsigned long long max_blob = 1ULL << 31;

bool is_sha256(std::string_view s) {
  return s.size() == 64 && std::ranges::all_of(s, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

Result<std::string> compress(std::string_view bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size =
      ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), compression_level);
  if (ZSTD_isError(size) != 0)
    return fail(ErrorKind::infrastructure,
                fmt::format("cannot compress a blob ({})", ZSTD_getErrorName(size)),
                "close other programs and run the same command again");
  out.resize(size);
  return out;
}

/// False on any damage.
bool decompress(std::string_view frame, std::string& out) {
  const unsigned long long size = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > max_blob)
    return false;
  out.resize(static_cast<std::size_t>(size));
  return ZSTD_decompress(out.data(), out.size(), frame.data(), frame.size()) == out.size();
}

} // namespace

std::string BlobStore::path_of(std::string_view sha256) const {
  return fmt::format("{}/{}/{}.zst", root_, sha256.substr(0, 2), sha256.substr(2));
}

bool BlobStore::contains(std::string_view sha256) const {
  return is_sha256(sha256) && is_file(path_of(sha256));
}

Result<std::string> BlobStore::put(std::string_view bytes) {
  if (bytes.size() > max_blob)
    return fail(
        ErrorKind::invalid_input,
        fmt::format("a blob of {} bytes is larger than the archive takes (2 GiB)", bytes.size()),
        "store it outside and archive its path and hash");
  std::string id = sha256_hex(bytes);
  if (contains(id) && get(id))
    return id;
  KW_TRY(const std::string frame, compress(bytes));
  const std::string path = path_of(id);
  KW_CHECK(make_dirs(parent_path(path)));
  KW_CHECK(write_file_atomic(path, frame));
  return id;
}

Result<std::string> BlobStore::get(std::string_view sha256) const {
  if (!is_sha256(sha256))
    return fail(ErrorKind::invalid_input, "a blob is named by 64 lower-case hex digits");
  const std::string path = path_of(sha256);
  if (!is_file(path))
    return fail(no_blob(sha256));
  KW_TRY(const std::string frame, read_file(path, max_blob));
  std::string bytes;
  if (!decompress(frame, bytes) || sha256_hex(bytes) != sha256)
    return fail(
        ErrorKind::infrastructure,
        fmt::format("blob {} is damaged: its bytes no longer match its name", sha256.substr(0, 12)),
        "restore this file from an export; nothing else depends on it", path);
  return bytes;
}

} // namespace kw
