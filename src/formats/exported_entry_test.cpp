// SPDX-License-Identifier: Apache-2.0
#include "formats/exported_entry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ExportedEntry, FindsDefinitionsInOrder) {
  EXPECT_THAT(exported_functions(
                  "#include <cmath>\nextern \"C\" int f(const float* x, float* y) { return 0; }"),
              ElementsAre("f"));
  EXPECT_THAT(exported_functions("extern\"C\"\nvoid  const*\n g\n(int "
                                 "(*callback)(int))\n{}\nextern \"C\" int f() { return 1; }"),
              ElementsAre("g", "f"));
  EXPECT_THAT(
      exported_functions(
          "extern \"C\" __attribute__((noinline, hot)) int f(int a) noexcept { return a; }"),
      ElementsAre("f"));
}

TEST(ExportedEntry, DeclarationsAreNoEntries) {
  EXPECT_THAT(
      exported_functions("extern \"C\" float expf(float);\nextern \"C\" int f() { return 0; }"),
      ElementsAre("f"));
  EXPECT_THAT(
      exported_functions("extern \"C\" int f(int);\nextern \"C\" int f(int a) { return a; }"),
      ElementsAre("f"));
  EXPECT_THAT(exported_functions("extern \"C++\" int f() { return 0; }\nextern int "
                                 "table[3];\nextern \"C\" int state = 0;"),
              IsEmpty());
  EXPECT_THAT(exported_functions("extern \"C\" { int f() { return 0; } }"), IsEmpty())
      << "documented: blocks are not seen";
}

TEST(ExportedEntry, CommentsAndLiteralsHideNothingAndShowNothing) {
  EXPECT_THAT(exported_functions("// extern \"C\" int a() {}\n/* extern \"C\" int b() {} */ extern "
                                 "\"C\" int c(/*)*/) { return '}'; }"),
              ElementsAre("c"));
  EXPECT_THAT(exported_functions("const char* t = \"extern \\\"C\\\" int a() {}\";\nconst char* u "
                                 "= R\"x(extern \"C\" int b() {})x\";"),
              IsEmpty());
}

TEST(ExportedEntry, BrokenTextEnds) {
  for (const char* text : {"extern", "extern \"C\"", "extern \"C\" int f(", "extern \"C\" int f() ",
                           "/*", "\"", "R\"", "R\"x(", "'\\"})
    EXPECT_THAT(exported_functions(text), IsEmpty()) << text;
  EXPECT_THAT(exported_functions("extern \"C\" int f(" + std::string(1 << 20, '(')), IsEmpty());
}

} // namespace
} // namespace kw
