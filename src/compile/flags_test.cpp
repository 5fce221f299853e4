// SPDX-License-Identifier: Apache-2.0
#include "compile/flags.hpp"

#include "compile/precompiled.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

CpuInfo cpu_with(std::vector<std::string> flags) {
  CpuInfo cpu;
  cpu.arch = "x86_64";
  std::sort(flags.begin(), flags.end());
  cpu.flags = std::move(flags);
  return cpu;
}
const std::vector<std::string> v2{"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"};
std::vector<std::string> v3() {
  std::vector<std::string> f = v2;
  f.insert(f.end(), {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"});
  return f;
}
std::vector<std::string> v4() {
  std::vector<std::string> f = v3();
  f.insert(f.end(), {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"});
  return f;
}

TEST(Flags, LevelFollowsTheCpu) {
  EXPECT_THAT(arch_flags(cpu_with({})), ElementsAre("-march=x86-64"));
  EXPECT_THAT(arch_flags(cpu_with(v2)), ElementsAre("-march=x86-64-v2"));
  EXPECT_THAT(arch_flags(cpu_with(v3())), ElementsAre("-march=x86-64-v3"));
  EXPECT_THAT(arch_flags(cpu_with(v4())),
              ElementsAre("-march=x86-64-v4", "-mprefer-vector-width=512"));
  std::vector<std::string> sapphire = v4();
  sapphire.insert(sapphire.end(), {"avx512_fp16", "avx512_bf16"});
  EXPECT_THAT(
      arch_flags(cpu_with(sapphire)),
      ElementsAre("-march=x86-64-v4", "-mavx512bf16", "-mavx512fp16", "-mprefer-vector-width=512"));
  CpuInfo arm;
  arm.arch = "aarch64";
  EXPECT_TRUE(arch_flags(arm).empty());
}

TEST(Flags, CandidatesArePinnedAndFreestanding) {
  const auto compile = candidate_compile_flags(cpu_with(v4()));
  EXPECT_THAT(compile, Contains("-O3"));
  EXPECT_THAT(compile, Contains("-fno-math-errno"));
  EXPECT_THAT(compile, Not(Contains("-march=native")));
  EXPECT_THAT(compile, Not(Contains("-ffast-math")));
  EXPECT_THAT(compile,
              Not(Contains("-fvisibility=hidden"))); // it would win over the version script
  Compiler gcc;
  gcc.libgcc = "/x/libgcc.a";
  const auto link = candidate_link_flags(gcc);
  EXPECT_THAT(link, Contains("-nodefaultlibs"));
  EXPECT_EQ(link.back(), "/x/libgcc.a");
  for (const std::string& flag : link)
    EXPECT_EQ(flag.find("--no-undefined"),
              std::string::npos); // the runner provides expf and others
  EXPECT_EQ(version_script("f"), "{ global: f; local: *; };\n");
}

TEST(PrecompiledSet, ExactlyWhatTheSourceIncludes) {
  EXPECT_THAT(precompilable_headers({{"a.cpp", "#include <cstdint>\n#include <immintrin.h>\n"}}),
              ElementsAre("cstdint", "immintrin.h"));
  EXPECT_TRUE(
      precompilable_headers({{"a.cpp", "#include <cstdint>\nint x;"}}).empty()); // too cheap
  EXPECT_TRUE(precompilable_headers({{"a.cpp", "// #include <cmath>"}}).empty());
  EXPECT_TRUE(precompilable_headers({{"a.cpp", "#define NDEBUG\n#include <cmath>"}}).empty());
  EXPECT_TRUE(precompilable_headers({{"a.cpp", "#include <cmath>"}, {"cmath", ""}}).empty());
}

} // namespace
} // namespace kw
