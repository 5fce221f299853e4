// SPDX-License-Identifier: Apache-2.0
#include "compile/diagnostics.hpp"

#include "compile/stored_diagnostics.hpp"
#include "compile/symbol_advice.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

const std::vector<SourceFile> sources{
    {"k.cpp", "int a;\n\tint b = c + 1;\nvoid f() { new int; }\n"}};

CompilerMessages parse(std::string_view log) {
  return parse_compiler_output(log, sources, {{"/tmp/x/src/", ""}});
}

TEST(Diagnostics, GccJson) {
  const CompilerMessages m = parse(
      R"([{"kind":"error","locations":[{"caret":{"file":"k.cpp","line":2,"byte-column":10,"column":17},)"
      R"("finish":{"file":"k.cpp","line":2,"byte-column":12}}],"message":"'c' was not declared in /tmp/x/src/k.cpp",)"
      R"("children":[{"kind":"note","message":"see here","locations":[]}]},)"
      R"({"kind":"warning","option":"-Wunused","message":"w","locations":[{"caret":{"file":"/usr/include/stdio.h","line":1,"byte-column":1}}]}])");
  ASSERT_EQ(m.diagnostics.size(), 3U);
  EXPECT_EQ(m.diagnostics[0].severity, "error");
  EXPECT_EQ(m.diagnostics[0].line, 2);
  EXPECT_EQ(m.diagnostics[0].message, "'c' was not declared in k.cpp");
  EXPECT_EQ(m.diagnostics[0].excerpt, "\tint b = c + 1;\n\t        ^~~");
  EXPECT_EQ(m.diagnostics[1].severity, "note");
  EXPECT_EQ(m.diagnostics[2].code, "-Wunused");
  EXPECT_EQ(m.diagnostics[2].excerpt, ""); // other files are never echoed
  EXPECT_NE(m.text.find("k.cpp:2:10: error: 'c' was not"), std::string::npos);
}

TEST(Diagnostics, ClangAssemblerAndLinkerText) {
  const CompilerMessages m =
      parse("/tmp/x/src/k.cpp:2:10: error: use of undeclared identifier 'c' [-Wx]\n"
            "{standard input}:4: Error: file not found: x\n"
            "k.cpp:(.text+0x2): undefined reference to `operator new(unsigned long)'\n"
            "k.cpp:(.text+0x2): undefined reference to `_Znwm'\n"
            "k.cpp:(.text+0x9): undefined reference to `_Znwm'\n"
            "unparsed\n");
  ASSERT_GE(m.diagnostics.size(), 4U);
  EXPECT_EQ(m.diagnostics[0].file, "k.cpp");
  EXPECT_EQ(m.diagnostics[0].column, 10);
  EXPECT_EQ(m.diagnostics[0].code, "-Wx");
  EXPECT_EQ(m.diagnostics[1].severity, "error");
  EXPECT_EQ(m.diagnostics[1].line, 4);
  EXPECT_EQ(m.diagnostics[3].line, 3); // the `new` in the source
  EXPECT_NE(m.diagnostics[3].message.find("kw_workspace"), std::string::npos);
  EXPECT_EQ(m.diagnostics.size(), 4U); // the repeated one is left out
  EXPECT_NE(m.text.find("unparsed"), std::string::npos);
}

TEST(Diagnostics, HostileLogs) {
  for (const char* log :
       {"[", "[]", "[1]", "[{}]", "[{\"kind\":3,\"locations\":[3],\"children\":{}}]",
        "[{\"locations\":[{\"caret\":{\"line\":99999999999,\"file\":[]}}]}]",
        ": error: ", "::: error: x", "99999999999999999999:1: error: x", "undefined reference to `",
        "\xff\xfe[", "[[[[[[[["})
    EXPECT_NO_FATAL_FAILURE((void)parse(log)) << log;
}

TEST(Diagnostics, ManyMessagesAreBounded) {
  std::string log;
  for (int i = 0; i < 5000; ++i)
    log += "k.cpp:1:1: error: number " + std::to_string(i) + "\n";
  EXPECT_LE(parse(log).diagnostics.size(), 200U);
}

TEST(Diagnostics, StoreAndLoad) {
  Diagnostic d{"warning", "a.cpp", 3, 4, "-Wx", "m \xff", "line\n^"};
  const auto back = load_diagnostics(store_diagnostics({d}));
  ASSERT_EQ(back.size(), 1U);
  EXPECT_EQ(back[0].excerpt, d.excerpt);
  EXPECT_EQ(back[0].column, 4);
  EXPECT_TRUE(load_diagnostics("{").empty());
  EXPECT_TRUE(load_diagnostics("[3]").empty());
}

TEST(Diagnostics, HeadAndTail) {
  EXPECT_EQ(head_and_tail("abc", 3), "abc");
  const std::string cut = head_and_tail(std::string(500, 'a') + std::string(500, 'b'), 100);
  EXPECT_LE(cut.size(), 100U);
  EXPECT_TRUE(cut.starts_with("aaa"));
  EXPECT_TRUE(cut.ends_with("bbb"));
}

TEST(SymbolAdvice, MostSpecificRuleWins) {
  EXPECT_NE(advise("malloc").instead.find("kw_workspace"), std::string::npos);
  EXPECT_NE(advise("GOMP_parallel").instead.find("kw_parallel_for"), std::string::npos);
  EXPECT_NE(advise("__cxa_guard_acquire").what.find("static"), std::string::npos);
  EXPECT_EQ(advise("cblas_sgemm").what, "a BLAS library");
  EXPECT_NE(advise("mystery").instead.find("kernwright.h"), std::string::npos);
  EXPECT_EQ(readable("_Znwm"), "operator new(unsigned long) (_Znwm)");
  EXPECT_EQ(readable("i"), "i");
}

TEST(SymbolAdvice, FindsTheUseInCodeOnly) {
  const std::vector<SourceFile> files{
      {"a.h", "// malloc\nint x;"}, {"b.cpp", "const char* s = \"malloc\";\nvoid* p = malloc(3);"}};
  EXPECT_EQ(find_use("malloc", files).text(), "b.cpp:2");
  EXPECT_EQ(find_use("free", files).line, 0);
  EXPECT_EQ(find_use("_ZN3foo3barEv", {{"c.cpp", "\n foo::bar();"}}).text(), "c.cpp:2");
}

} // namespace
} // namespace kw
