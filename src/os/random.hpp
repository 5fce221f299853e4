// SPDX-License-Identifier: Apache-2.0
// Unpredictable bytes from the kernel. Everything that must be reproducible takes a seed instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace kw {

void fill_random(std::span<std::byte> out);
[[nodiscard]] std::uint64_t random_u64();
/// `bytes` random bytes as lower-case hex.
[[nodiscard]] std::string random_hex(std::size_t bytes);

} // namespace kw
