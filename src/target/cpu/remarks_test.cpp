// SPDX-License-Identifier: Apache-2.0
#include "target/cpu/remarks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

/// As clang 19 printed it.
constexpr std::string_view log =
    R"(m.cpp:8:11: remark: loop not vectorized: cannot prove it is safe to reorder floating-point operations; allow reordering by specifying '#pragma clang loop vectorize(enable)' before the loop or by providing the compiler option '-ffast-math' [-Rpass-analysis=loop-vectorize]
m.cpp:7:7: remark: loop not vectorized [-Rpass-missed=loop-vectorize]
/usr/include/c++/12/cmath:223:12: remark: loop not vectorized: call instruction cannot be vectorized [-Rpass-analysis=loop-vectorize]
m.cpp:18:3: remark: loop not vectorized: value that could not be identified as reduction is used outside the loop [-Rpass-analysis=loop-vectorize]
m.cpp:18:3: remark: loop not vectorized: could not determine number of loop iterations [-Rpass-analysis=loop-vectorize]
m.cpp:17:45: remark: loop not vectorized: unsafe dependent memory operations in loop. Use #pragma clang loop distribute(enable)
m.cpp:22:3: remark: vectorized loop (vectorization width: 16, interleaved count: 4) [-Rpass=loop-vectorize]
m.cpp:3:1: warning: unused variable [-Wunused]
)";

TEST(Remarks, ReasonsOfTheSolutionsOwnFiles) {
  const std::vector<LoopRemark> r = parse_remarks(log, {"m.cpp"}, "clang 19");
  ASSERT_EQ(r.size(), 4u);
  EXPECT_EQ(r[0].line, 8);
  EXPECT_EQ(r[0].code, "reduction_order");
  EXPECT_EQ(r[0].text, "cannot prove it is safe to reorder floating-point operations");
  EXPECT_EQ(r[1].line, 17);
  EXPECT_EQ(r[1].code, "dependence");
  EXPECT_EQ(r[2].line, 18);
  EXPECT_EQ(r[2].code, "dependence") << "the more telling of two on one line";
  EXPECT_EQ(r[3].line, 22);
  EXPECT_TRUE(r[3].vectorized);
  EXPECT_EQ(r[3].text, "vectorized loop (vectorization width: 16, interleaved count: 4)");
  EXPECT_EQ(r[3].source, "clang 19");
}

TEST(Remarks, WhatIsNoRemarkIsSkipped) {
  EXPECT_TRUE(parse_remarks("", {"m.cpp"}, "").empty());
  EXPECT_TRUE(parse_remarks(": remark: x\n:: remark: y\nm.cpp: remark: z", {"m.cpp"}, "").empty());
  EXPECT_EQ(remark_code("loop not vectorized: something new"), "other");
}

} // namespace
} // namespace kw
