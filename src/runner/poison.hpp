// SPDX-License-Identifier: Apache-2.0
// What buffers and the slack around them hold before a call.
#pragma once

#include "runner/layout.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace kw {

/// Fills an output: even patterns read as NaN in every floating type, odd ones as a large finite
/// number; the pattern number varies the low bits, so no stale value survives two calls unnoticed.
void poison_output(std::byte* arena, const BufferSpan& buffer, std::uint32_t pattern);

/// Whether element `index`, `size` bytes wide (1, 2, 4, 8), of an output still holds the poison.
[[nodiscard]] bool holds_poison(std::span<const std::byte> output, std::size_t size,
                                std::uint64_t index, std::uint32_t pattern);
/// How many elements of that width do.
[[nodiscard]] std::uint64_t count_poisoned(std::span<const std::byte> output, std::size_t size,
                                           std::uint32_t pattern);

/// Slack around an input: NaNs for an even key, 1e30 for an odd one. Results must not depend on it.
void fill_input_slack(std::byte* arena, const BufferSpan& buffer, std::uint64_t key);

/// Slack around an output: a keyed function of the position, unpredictable without the key.
void fill_canaries(std::byte* arena, const BufferSpan& buffer, std::uint64_t key);
/// Signed distance in bytes of the first changed canary: negative before the buffer's start, else
/// counted from its end. Nothing when all are intact.
std::optional<std::ptrdiff_t> first_broken_canary(const std::byte* arena, const BufferSpan& buffer,
                                                  std::uint64_t key);

} // namespace kw
