// SPDX-License-Identifier: Apache-2.0
#include "target/cpu/admit_flags.hpp"

#include <array>
#include <fmt/format.h>

namespace kw {
namespace {

// Intel SDM volume 2. modrm: -1 = none follows; else the reg field (0-7) that must match, with a
// memory operand (mod != 3) or a register operand (mod == 3).
struct Pattern {
  const char* name;
  std::array<int, 3> bytes; ///< -1 = end
  int reg = -1;
  bool memory = true;
};

constexpr Pattern patterns[] = {
    {"syscall", {0x0f, 0x05, -1}},
    {"sysenter", {0x0f, 0x34, -1}},
    {"int 0x80", {0xcd, 0x80, -1}},
    {"rdtsc", {0x0f, 0x31, -1}},
    {"rdtscp", {0x0f, 0x01, 0xf9}},
    {"rdpmc", {0x0f, 0x33, -1}},
    {"wrpkru", {0x0f, 0x01, 0xef}},
    {"ldmxcsr", {0x0f, 0xae, -1}, 2, true},
    {"vldmxcsr", {0xc5, 0xf8, 0xae}, 2, true},
    {"xrstor", {0x0f, 0xae, -1}, 5, true},
    {"fldcw", {0xd9, -1, -1}, 5, true},
    {"wrfsbase", {0xf3, 0x0f, 0xae}, 2, false},
    {"wrgsbase", {0xf3, 0x0f, 0xae}, 3, false},
};

bool matches(const Pattern& p, std::span<const std::byte> code) {
  std::size_t at = 0;
  for (const int b : p.bytes) {
    if (b < 0)
      break;
    if (at >= code.size() || std::to_integer<int>(code[at]) != b)
      return false;
    ++at;
  }
  if (p.reg < 0)
    return true;
  if (at >= code.size())
    return false;
  const int modrm = std::to_integer<int>(code[at]);
  return ((modrm >> 3) & 7) == p.reg && ((modrm >> 6) != 3) == p.memory;
}

} // namespace

std::vector<std::string> suspicious_instructions(std::span<const std::byte> code,
                                                 std::uint64_t address) {
  std::vector<std::string> out;
  for (const Pattern& p : patterns) {
    std::uint64_t first = 0, count = 0;
    for (std::size_t i = 0; i < code.size(); ++i)
      if (matches(p, code.subspan(i)) && count++ == 0)
        first = address + i;
    if (count > 0)
      out.push_back(
          fmt::format("{} at {:#x} ({} place{})", p.name, first, count, count == 1 ? "" : "s"));
  }
  return out;
}

} // namespace kw
