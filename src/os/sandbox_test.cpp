// SPDX-License-Identifier: Apache-2.0
// What can be held without child processes; the probes themselves are exercised in tests/e2e.
#include "os/sandbox_landlock.hpp"
#include "os/sandbox_probe.hpp"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

namespace kw {
namespace {

TEST(Seccomp, KernelProgramKillsByDefaultAndIsSmall) {
  const auto program = make_seccomp_program(SeccompProfile::kernel);
  ASSERT_TRUE(program.has_value()) << program.error().text();
  EXPECT_LT(program->size(), 64U);
  const auto returns = [&](std::uint32_t value) {
    return std::any_of(program->begin(), program->end(), [&](const sock_filter& f) {
      return f.code == (BPF_RET | BPF_K) && f.k == value;
    });
  };
  EXPECT_TRUE(returns(SECCOMP_RET_KILL_PROCESS));
  EXPECT_TRUE(returns(SECCOMP_RET_ALLOW));
  EXPECT_FALSE(returns(SECCOMP_RET_LOG));
}

TEST(Seccomp, EveryProfileBuilds) {
  for (const auto profile : {SeccompProfile::compile, SeccompProfile::load, SeccompProfile::kernel,
                             SeccompProfile::side_run}) {
    const auto program = make_seccomp_program(profile);
    ASSERT_TRUE(program.has_value()) << program.error().text();
    EXPECT_GT(program->size(), 8U);
    EXPECT_LT(program->size(), 4096U); // BPF_MAXINSNS
  }
}

/// Just enough of the classic BPF machine for mprotect_only_within.
std::uint32_t run(std::span<const sock_filter> program, const seccomp_data& data) {
  std::uint32_t a = 0;
  for (std::size_t at = 0; at < program.size(); ++at) {
    const sock_filter& f = program[at];
    const auto jump = [&](bool holds) { at += holds ? f.jt : f.jf; };
    switch (f.code) {
    case BPF_LD | BPF_W | BPF_ABS:
      std::memcpy(&a, reinterpret_cast<const char*>(&data) + f.k, sizeof a);
      break;
    case BPF_JMP | BPF_JEQ | BPF_K:
      jump(a == f.k);
      break;
    case BPF_JMP | BPF_JGT | BPF_K:
      jump(a > f.k);
      break;
    case BPF_JMP | BPF_JGE | BPF_K:
      jump(a >= f.k);
      break;
    case BPF_RET | BPF_K:
      return f.k;
    default:
      ADD_FAILURE() << "unknown instruction";
      return 0;
    }
  }
  ADD_FAILURE() << "ran off the end";
  return 0;
}

TEST(Seccomp, MprotectMayBeginInTheRangeOnly) {
  const auto answer = [](std::uint64_t begin, std::uint64_t end, std::uint64_t address,
                         int number = SYS_mprotect) {
    seccomp_data data{};
    data.nr = number;
    data.args[0] = address;
    return run(mprotect_only_within(begin, end), data) == SECCOMP_RET_ALLOW;
  };
  const std::pair<std::uint64_t, std::uint64_t> ranges[] = {
      {0x7f12'3456'7000, 0x7f12'3456'9000}, // within 4 GiB
      {0x7f12'ffff'f000, 0x7f13'0000'1000}, // across the boundary
      {0x7f12'0000'0000, 0x7f13'0000'0000}, // up to it
      {0x7f10'8000'0000, 0x7f15'4000'0000}, // across several
  };
  for (const auto& [begin, end] : ranges) {
    EXPECT_TRUE(answer(begin, end, begin));
    EXPECT_TRUE(answer(begin, end, end - 1));
    EXPECT_TRUE(answer(begin, end, begin + (end - begin) / 2));
    EXPECT_FALSE(answer(begin, end, begin - 1));
    EXPECT_FALSE(answer(begin, end, end));
    EXPECT_FALSE(answer(begin, end, begin - 0x1'0000'0000));
    EXPECT_FALSE(answer(begin, end, end + 0x1'0000'0000));
    EXPECT_FALSE(answer(begin, end, 0x1000));
    EXPECT_TRUE(answer(begin, end, 0x1000, SYS_futex)); // others are another program's business
  }
}

TEST(Landlock, MissingPathsAreSkipped) {
  if (landlock_abi() == 0)
    GTEST_SKIP() << "no Landlock on this kernel";
  const auto ruleset = make_landlock_ruleset({{"/usr", "/no/such/folder"}, {"/dev/null"}});
  EXPECT_TRUE(ruleset.has_value()) << ruleset.error().text();
}

TEST(SandboxReport, NamesWhatIsThere) {
  SandboxReport report;
  EXPECT_EQ(report.describe(), "separate processes only");
  report.landlock_abi = 2;
  report.seccomp = true;
  report.tier = 2;
  EXPECT_EQ(report.describe(), "Landlock 2, seccomp");
  EXPECT_EQ(report.tier_name(), "T2");
}

} // namespace
} // namespace kw
