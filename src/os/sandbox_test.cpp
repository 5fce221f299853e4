// SPDX-License-Identifier: Apache-2.0
// What can be held without child processes; the probes themselves are exercised in tests/e2e.
#include "os/sandbox_landlock.hpp"
#include "os/sandbox_probe.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <linux/seccomp.h>

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
  for (const auto profile :
       {SeccompProfile::compile, SeccompProfile::load, SeccompProfile::kernel}) {
    const auto program = make_seccomp_program(profile);
    ASSERT_TRUE(program.has_value()) << program.error().text();
    EXPECT_GT(program->size(), 8U);
    EXPECT_LT(program->size(), 4096U); // BPF_MAXINSNS
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
