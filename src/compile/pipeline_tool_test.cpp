// SPDX-License-Identifier: Apache-2.0
#include "compile/pipeline_tool.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

TEST(PipelineTool, WhoItIs) {
  const std::string text = "Debian LLVM version 19.1.7\n  Optimized build.\n"
                           "  Default target: x86_64-pc-linux-gnu\n  Host CPU: sapphirerapids\n";
  EXPECT_EQ(llvm_version(text), "19.1.7");
  EXPECT_EQ(llvm_host(text), "sapphirerapids");
  EXPECT_EQ(llvm_version("LLVM"), "");
  EXPECT_EQ(llvm_host("Host CPU: " + std::string(100, 'a')), "");
  EXPECT_EQ(llvm_host("Host CPU: (unknown)"), "");
}

} // namespace
} // namespace kw
