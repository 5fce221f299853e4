// SPDX-License-Identifier: Apache-2.0
// SHA-256 is identity (content addressing, audit chain); SHA-1 only where upstream formats need it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace kw {

/// Lower-case hex digests.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);
[[nodiscard]] std::string sha1_hex(std::string_view bytes);

/// Incremental SHA-256 over length-prefixed fields, so that no two field lists collide.
class Digest {
 public:
  Digest();
  ~Digest();
  Digest(Digest&&) noexcept;
  Digest& operator=(Digest&&) noexcept;
  Digest& field(std::string_view bytes); ///< 8-byte little-endian length, then the bytes
  Digest& raw(std::span<const std::byte> bytes);
  [[nodiscard]] std::string hex(); ///< finishes; the object must not be used afterwards

 private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace kw
