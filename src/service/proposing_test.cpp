// SPDX-License-Identifier: Apache-2.0
#include "service/proposing.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

std::string licence_of(const std::string& text) {
  Solution s;
  s.sources = {{"a.h", "int a;\n"}, {"b.cpp", text}};
  return stated_licence(s);
}

TEST(StatedLicence, IsTheWholeExpression) {
  const std::string tag = "SPDX-License-"
                          "Identifier:";
  EXPECT_EQ(licence_of("// " + tag + " MIT\nint b;\n"), "MIT");
  EXPECT_EQ(licence_of("/* " + tag + "  Apache-2.0 OR MIT */ int b;"), "Apache-2.0 OR MIT");
  EXPECT_EQ(licence_of("// " + tag + " BSD-3-Clause\r\n"), "BSD-3-Clause");
  EXPECT_EQ(licence_of("int b; // MIT\n"), "");
  EXPECT_EQ(licence_of("// " + tag + " \n"), "");
  EXPECT_EQ(licence_of("// " + tag), "");
}

} // namespace
} // namespace kw
