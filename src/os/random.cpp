// SPDX-License-Identifier: Apache-2.0
#include "os/random.hpp"

#include "base/result.hpp"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <sys/random.h>
#include <vector>

namespace kw {

void fill_random(std::span<std::byte> out) {
  while (!out.empty()) {
    // Up to 256 bytes come in one piece and without interruption once the pool is seeded.
    const ssize_t n = ::getrandom(out.data(), std::min<std::size_t>(out.size(), 256), 0);
    if (n < 0 && errno == EINTR)
      continue;
    KW_ASSERT(n > 0); // a machine without getrandom cannot keep secrets
    out = out.subspan(static_cast<std::size_t>(n));
  }
}

std::uint64_t random_u64() {
  std::uint64_t value = 0;
  fill_random(std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

std::string random_hex(std::size_t bytes) {
  std::vector<std::byte> raw(bytes);
  fill_random(raw);
  std::string out;
  out.reserve(bytes * 2);
  for (const std::byte b : raw)
    out += fmt::format("{:02x}", static_cast<unsigned>(b));
  return out;
}

} // namespace kw
