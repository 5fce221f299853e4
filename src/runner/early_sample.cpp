// SPDX-License-Identifier: Apache-2.0
#include "runner/call.hpp"

#include <algorithm>
#include <cstring>

namespace kw {
namespace {

constexpr std::size_t line_bytes = 64;
constexpr std::size_t sampled_lines = 64;
constexpr std::size_t whole_up_to = 4096; // bytes: as many lines as would be sampled anyway

/// xorshift64*, Vigna 2016: secret and unpredictable enough, the state is seeded by the kernel.
std::uint64_t next(std::uint64_t& state) {
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return state * 0x2545'f491'4f6c'dd1dU;
}

} // namespace

EarlySample::EarlySample(Arm::State& arm) : arm_(arm) {
  std::size_t lines = 0;
  for (const BufferSpan& buffer : arm.plan)
    lines += (buffer.bytes + line_bytes - 1) / line_bytes;
  const bool whole = lines * line_bytes <= whole_up_to;
  const std::size_t wanted = whole ? lines : sampled_lines;
  lines_.reserve(wanted);
  arm.sample_state |= 1; // xorshift must not be at zero
  for (std::size_t i = 0; i < wanted; ++i) {
    std::size_t line = whole ? i : next(arm.sample_state) % lines;
    for (std::size_t output = 0; output < arm.plan.size(); ++output) {
      const std::size_t bytes = arm.plan[output].bytes;
      const std::size_t here = (bytes + line_bytes - 1) / line_bytes;
      if (line < here) {
        const std::size_t offset = line * line_bytes;
        lines_.push_back({output, offset, std::min(line_bytes, bytes - offset)});
        break;
      }
      line -= here;
    }
  }
  arm.samples.resize(lines_.size() * line_bytes);
}

void EarlySample::take() {
  std::byte* to = arm_.samples.data();
  for (const Line& line : lines_) {
    std::memcpy(to, arm_.outputs.base() + arm_.plan[line.output].offset + line.offset, line.bytes);
    to += line_bytes;
  }
}

std::optional<std::size_t> EarlySample::first_difference() const {
  const std::byte* from = arm_.samples.data();
  for (const Line& line : lines_) {
    if (std::memcmp(from, arm_.copies[line.output].data() + line.offset, line.bytes) != 0)
      return line.output;
    from += line_bytes;
  }
  return std::nullopt;
}

} // namespace kw
