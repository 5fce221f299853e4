// SPDX-License-Identifier: Apache-2.0
// Clock, random bytes, CPU facts, interrupt flag, own process.
#include "os/clock.hpp"
#include "os/cpu.hpp"
#include "os/interrupt.hpp"
#include "os/process.hpp"
#include "os/random.hpp"
#include "os/self.hpp"
#include "os/system_error.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <gtest/gtest.h>

namespace kw {
namespace {

TEST(Clock, Iso8601) {
  EXPECT_EQ(iso8601_utc(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(iso8601_utc(1'700'000'000'123'456'789), "2023-11-14T22:13:20.123Z");
  EXPECT_EQ(iso8601_utc(-1), "1969-12-31T23:59:59.999Z");
}

TEST(Clock, ManualStandsStillAndSystemAdvances) {
  ManualClock manual(0);
  const std::int64_t before = manual.monotonic_ns();
  EXPECT_EQ(manual.monotonic_ns(), before);
  manual.advance_ns(1'500'000'000);
  EXPECT_EQ(manual.wall_iso8601(), "1970-01-01T00:00:01.500Z");
  const SystemClock real;
  const std::int64_t first = real.monotonic_ns();
  EXPECT_GE(real.monotonic_ns(), first);
}

TEST(Random, BytesDifferAndHexHasTheRightLength) {
  EXPECT_NE(random_u64(), random_u64());
  EXPECT_EQ(random_hex(16).size(), 32U);
  EXPECT_NE(random_hex(16), random_hex(16));
  std::vector<std::byte> big(1000, std::byte{0});
  fill_random(big);
  EXPECT_LT(std::count(big.begin() + 700, big.end(), std::byte{0}), 30); // filled to the end
}

TEST(Cpu, ParsesTheFirstProcessor) {
  const CpuInfo cpu = parse_cpuinfo("processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n"
                                    "model\t\t: 207\nmodel name\t: A CPU\nstepping\t: 2\n"
                                    "flags\t\t: fpu avx512f avx2 \n\nprocessor\t: 1\nmodel\t: 3\n");
  EXPECT_EQ(cpu.vendor, "GenuineIntel");
  EXPECT_EQ(cpu.model, "A CPU");
  EXPECT_EQ(cpu.model_number, 207);
  EXPECT_TRUE(cpu.has("avx2"));
  EXPECT_TRUE(cpu.has("avx512f"));
  EXPECT_FALSE(cpu.has("avx"));
  EXPECT_TRUE(parse_cpuinfo("garbage\x01: : :\n:::").flags.empty());
}

TEST(Cpu, ThisMachine) {
  EXPECT_FALSE(cpu_info().arch.empty());
  EXPECT_GE(cpu_info().online, 1);
  const std::vector<int> cpus = affinity();
  ASSERT_FALSE(cpus.empty());
  ASSERT_TRUE(set_affinity({cpus.front()}));
  EXPECT_EQ(affinity(), std::vector<int>{cpus.front()});
  ASSERT_TRUE(set_affinity(cpus));
  EXPECT_EQ(set_affinity({-1}).error().kind, ErrorKind::invalid_input);
}

TEST(Interrupt, FirstSignalSetsTheFlag) {
  clear_interrupt();
  install_interrupt_handler();
  EXPECT_FALSE(interrupted());
  ::testing::internal::CaptureStderr();
  std::raise(SIGINT);
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("interrupted"), std::string::npos);
  EXPECT_TRUE(interrupted());
  clear_interrupt();
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

TEST(Self, KnowsItsPathAndNamesMissingSiblings) {
  EXPECT_TRUE(own_executable()->starts_with('/'));
  const Result<std::string> missing = sibling_executable("no-such-program");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::not_found);
}

TEST(SystemError, NamesActionPathReasonAndRemedy) {
  const Error e = system_error(EROFS, "write", "/x");
  EXPECT_EQ(e.message, "cannot write /x: Read-only file system");
  EXPECT_NE(e.remedy.find("read-only"), std::string::npos);
}

TEST(Process, FindsPrograms) {
  EXPECT_TRUE(find_program("sh").starts_with('/'));
  EXPECT_EQ(find_program("no-such-program"), "");
  EXPECT_EQ(find_program("/no/such"), "");
  EXPECT_EQ(signal_name(SIGSEGV), "SIGSEGV");
}

} // namespace
} // namespace kw
