// SPDX-License-Identifier: Apache-2.0
#include "compile/source_rules.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

std::string code(const std::string& source) {
  const std::vector<Diagnostic> d = check_source_rules({{"k.cpp", source}});
  return d.empty() ? "" : d[0].code + "@" + std::to_string(d[0].line);
}

TEST(SourceRules, Refuses) {
  EXPECT_EQ(code("\n#include \"/etc/passwd\""), "forbidden-include@2");
  EXPECT_EQ(code("#include <a/../../b>"), "forbidden-include@1");
  EXPECT_EQ(code("#include NAME"), "forbidden-include@1");
  EXPECT_EQ(code("#  embed <x>"), "forbidden-embed@1");
  EXPECT_EQ(code("#if __has_include(<x>)"), "forbidden-has-include@1");
  EXPECT_EQ(code("#pragma GCC optimize (\"Ofast\")"), "forbidden-pragma@1");
  EXPECT_EQ(code("#pragma clang attribute push"), "forbidden-pragma@1");
  EXPECT_EQ(code("#define P(x) _Pragma(#x)"), "forbidden-pragma@1");
  EXPECT_EQ(code("_Pragma(\"GCC target(\\\"avx\\\")\")"), "forbidden-pragma@1");
  EXPECT_EQ(code("void f() {\n asm volatile(\".inc\"\n\"bin \\\"x\\\"\"); }"), "forbidden-asm@2");
  EXPECT_EQ(code("__asm__(R\"(.symver a, b@v)\");"), "forbidden-asm@1");
  EXPECT_EQ(code("__attribute__((optimize(\"fast-math\"))) void f();"), "forbidden-attribute@1");
  EXPECT_EQ(code("[[gnu::optimize(3)]] void f();"), "forbidden-attribute@1");
  EXPECT_EQ(code("#line 3 \"x\""), "forbidden-line@1");
  EXPECT_EQ(code("# 3 \"x\""), "forbidden-line@1");
}

TEST(SourceRules, AllowsHonestCode) {
  for (const char* s : {
           "#include <immintrin.h>\n#include \"sub/x.h\"\n#include \"kernwright.h\"",
           "#pragma GCC unroll 4\n#pragma GCC ivdep\n#pragma omp simd reduction(+:s)\n#pragma once",
           "_Pragma(\"GCC unroll 8\") _Pragma(\"omp simd\")",
           "// #include \"/etc/passwd\" .incbin\n/* #embed */",
           "const char* s = \"#include \\\"/etc/passwd\\\" .incbin\";",
           "asm(\"vaddps %0, %1, %2\" : : : \"memory\");",
           "__attribute__((always_inline, target(\"avx2\"))) void f();",
           "int optimize(int target) { return target; } int asm_count = optimize(3);",
           "#if 0\n#endif\n#\n#define X 1\n#error no",
       })
    EXPECT_EQ(code(s), "") << s;
}

TEST(SourceRules, MessageNamesTheAlternativeAndShowsTheLine) {
  const auto d = check_source_rules({{"k.cpp", "int a;\n#include \"/x\"\n"}});
  ASSERT_EQ(d.size(), 1U);
  EXPECT_EQ(d[0].file, "k.cpp");
  EXPECT_EQ(d[0].excerpt, "#include \"/x\"");
  EXPECT_NE(d[0].message.find("kernwright.h"), std::string::npos);
}

TEST(SourcePaths, OnlyPlainRelativeOnes) {
  for (const char* p : {"", "/a.cpp", "../a.cpp", "a/../b.cpp", "a//b.cpp", "./a.cpp", "a b.cpp",
                        "-o.cpp", "@o.cpp", "a\\b.cpp", "a\"b.cpp", "a/", "a\n.cpp"})
    EXPECT_EQ(check_source_paths({{p, ""}}).size(), 1U) << p;
  EXPECT_TRUE(check_source_paths({{"a/b-c_1.cpp", ""}, {"a/d.h", ""}}).empty());
  EXPECT_EQ(check_source_paths({{"a.cpp", ""}, {"a.cpp", ""}}).size(), 1U);
}

} // namespace
} // namespace kw
