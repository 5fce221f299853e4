// SPDX-License-Identifier: Apache-2.0
#include "compile/source_tokens.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

using Kind = SourceToken::Kind;

std::string identifiers(std::string_view source) {
  std::string out;
  for (const SourceToken& t : tokenize(source))
    if (t.kind == Kind::identifier)
      out += t.value + "@" + std::to_string(t.line) + " ";
  return out;
}

TEST(Tokens, CommentsAndStringsAreNoCode) {
  EXPECT_EQ(identifiers("a // b\n/* c\n*/ d \"e\" 'f' g"), "a@1 d@3 g@3 ");
  EXPECT_EQ(identifiers("R\"x(a\n)\" b)x\" c"), "c@2 ");
  EXPECT_EQ(identifiers("u8\"a\" L\"b\" R\"(c)\" d"), "d@1 ");
  EXPECT_EQ(identifiers("\"a\\\"b\" c"), "c@1 ");
  EXPECT_EQ(identifiers("0x1fULL 1'000 1.5e3f a"), "a@1 ");
}

TEST(Tokens, SplicesJoinLinesButKeepNumbers) {
  EXPECT_EQ(identifiers("ab\\\ncd\nef"), "abcd@1 ef@3 ");
  EXPECT_EQ(identifiers("// x \\\n y\nz"), "z@3 ");
}

TEST(Tokens, Directives) {
  const auto t = tokenize("  # include <a/b.h> // c\n%:include \"d\"\nx # y\n");
  ASSERT_GE(t.size(), 5U);
  EXPECT_EQ(t[0].kind, Kind::directive);
  EXPECT_EQ(t[0].value, "include");
  EXPECT_EQ(t[1].kind, Kind::header);
  EXPECT_EQ(t[1].value, "a/b.h");
  EXPECT_EQ(t[2].kind, Kind::line_end);
  EXPECT_EQ(t[3].value, "include");
  EXPECT_EQ(t[4].kind, Kind::text);
  EXPECT_EQ(t[4].value, "d");
  EXPECT_EQ(t[4].line, 2);
}

TEST(Tokens, AnyBytesEnd) {
  for (const char* s : {"\"", "'", "/*", "R\"", "R\"(", "R\"xxxxxxxxxxxxxxxxxxxxxxxx(", "#", "\\",
                        "\\\n", "#include <", "#include \"", "\\ \n\\"})
    EXPECT_NO_FATAL_FAILURE((void)tokenize(s)) << s;
  std::string all;
  for (int i = 0; i < 256; ++i)
    all += static_cast<char>(i);
  (void)tokenize(all + all);
}

} // namespace
} // namespace kw
