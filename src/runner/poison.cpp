// SPDX-License-Identifier: Apache-2.0
#include "runner/poison.hpp"

#include <algorithm>
#include <cstring>

namespace kw {
namespace {

constexpr std::uint32_t nan_word = 0xffc1'ffc1;   // NaN as float32, bfloat16, float16
constexpr std::uint32_t large_word = 0x7149'f2ca; // 1e30 as float32, large in the 16-bit types

std::uint32_t poison_word(std::uint32_t pattern) {
  // Low mantissa bits only: a NaN stays a NaN, a large number large, in both halves of the word.
  const std::uint32_t vary = (pattern / 2 & 0x1fU) * 0x0002'0002U;
  return (pattern % 2 == 0 ? nan_word : large_word) ^ vary;
}

/// `begin` and the arena's start are multiples of 4 or the tail is cut.
void fill_words(std::byte* begin, std::byte* end, std::uint32_t word) {
  for (; begin < end; begin += sizeof word)
    std::memcpy(begin, &word,
                std::min<std::size_t>(sizeof word, static_cast<std::size_t>(end - begin)));
}

/// SplitMix64's output function over (key, position): Steele, Lea, Flood, OOPSLA 2014.
std::uint64_t keyed(std::uint64_t key, std::uint64_t position) {
  std::uint64_t z = key + (position + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

std::byte canary(std::uint64_t key, std::size_t at) {
  return static_cast<std::byte>(keyed(key, at / 8) >> (at % 8 * 8));
}

/// Calls f(begin, end) for the slack before and after a buffer.
template <class F> void for_slack(const BufferSpan& buffer, F f) {
  f(buffer.pages_begin, buffer.offset);
  f(buffer.offset + buffer.bytes, buffer.pages_end);
}

} // namespace

void poison_output(std::byte* arena, const BufferSpan& buffer, std::uint32_t pattern) {
  const std::uint32_t word = poison_word(pattern);
  std::byte* begin = arena + buffer.offset;
  const std::size_t whole = buffer.bytes / 4 * 4;
  // Doubling copies: memcpy writes at memory speed, a loop of words may not.
  fill_words(begin, begin + std::min<std::size_t>(buffer.bytes, 4096), word);
  for (std::size_t done = 4096; done < whole;) {
    const std::size_t n = std::min<std::size_t>(done, whole - done);
    const std::size_t block = std::min<std::size_t>(n, 32768);
    std::memcpy(begin + done, begin, block);
    done += block;
  }
  if (buffer.bytes > 4096)
    fill_words(begin + whole, begin + buffer.bytes, word);
}

bool holds_poison(std::span<const std::byte> output, std::size_t size, std::uint64_t index,
                  std::uint32_t pattern) {
  const std::uint32_t twice[] = {poison_word(pattern), poison_word(pattern)};
  const std::size_t at = index * size;
  return at + size <= output.size() &&
         std::memcmp(output.data() + at, reinterpret_cast<const std::byte*>(twice) + at % 4,
                     size) == 0;
}

std::uint64_t count_poisoned(std::span<const std::byte> output, std::size_t size,
                             std::uint32_t pattern) {
  std::uint64_t count = 0;
  for (std::uint64_t i = 0; i < output.size() / size; ++i)
    count += holds_poison(output, size, i, pattern);
  return count;
}

void fill_input_slack(std::byte* arena, const BufferSpan& buffer, std::uint64_t key) {
  for_slack(buffer, [&](std::size_t begin, std::size_t end) {
    fill_words(arena + begin, arena + end, key % 2 == 0 ? nan_word : large_word);
  });
}

void fill_canaries(std::byte* arena, const BufferSpan& buffer, std::uint64_t key) {
  for_slack(buffer, [&](std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end; ++at)
      arena[at] = canary(key, at);
  });
}

std::optional<std::ptrdiff_t> first_broken_canary(const std::byte* arena, const BufferSpan& buffer,
                                                  std::uint64_t key) {
  std::optional<std::ptrdiff_t> broken;
  for_slack(buffer, [&](std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end && !broken; ++at)
      if (arena[at] != canary(key, at))
        broken = at < buffer.offset
                     ? static_cast<std::ptrdiff_t>(at) - static_cast<std::ptrdiff_t>(buffer.offset)
                     : static_cast<std::ptrdiff_t>(at - (buffer.offset + buffer.bytes));
  });
  return broken;
}

} // namespace kw
