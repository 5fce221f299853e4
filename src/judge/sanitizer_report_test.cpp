// SPDX-License-Identifier: Apache-2.0
// Reports as the runtimes of g++-12 write them.
#include "judge/sanitizer_report.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

const std::vector<SourceFile> sources{{"k.cpp", ""}, {"sub/part.hpp", ""}};

TEST(SanitizerReport, HeapOverflowNamesTheOwnLineAndTheRegion) {
  const SanitizerReport r = parse_sanitizer_report(
      "=================================================================\n"
      "==3870==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x6230000018ac at pc "
      "0x7f9a5dca2683 bp 0x7ffc54348ef0 sp 0x7ffc54348ee8\n"
      "READ of size 4 at 0x6230000018ac thread T1\n"
      "    #0 0x7f9a5dca2682 in _mm512_loadu_ps(void const*) "
      "/usr/lib/gcc/include/avx512fintrin.h:6333\n"
      "    #1 0x7f9a5dca2682 in kernel ./k.cpp:14\n"
      "    #2 0x56331e397530 in main driver.cpp:6\n"
      "\n"
      "0x6230000018ac is located 0 bytes to the right of 6060-byte region "
      "[0x623000000100,0x6230000018ac)\n"
      "allocated by thread T0 here:\n"
      "    #0 0x7f9a5d6b7ffd in __interceptor_posix_memalign asan_malloc_linux.cpp:145\n"
      "\n"
      "SUMMARY: AddressSanitizer: heap-buffer-overflow ./k.cpp:14 in kernel\n"
      "Shadow bytes around the buggy address:\n",
      sources);
  EXPECT_TRUE(r.found);
  EXPECT_EQ(r.sentence(), "AddressSanitizer: heap-buffer-overflow, READ of size 4 at k.cpp:14, 0 "
                          "bytes to the right of 6060-byte region");
  EXPECT_EQ(r.region_bytes, 6060);
  EXPECT_EQ(r.lines, (std::vector<std::string>{
                         "AddressSanitizer: heap-buffer-overflow",
                         "READ of size 4 at ... thread T1",
                         "  in kernel at k.cpp:14",
                         "0 bytes to the right of 6060-byte region",
                     }));
}

TEST(SanitizerReport, AWideAccessHasANameThatSaysSomething) {
  const SanitizerReport r = parse_sanitizer_report(
      "==1==ERROR: AddressSanitizer: unknown-crash on address 0x62 at pc 0x1 bp 0x2 sp 0x3\n",
      sources);
  EXPECT_EQ(r.sentence(), "AddressSanitizer: out-of-bounds access");
}

TEST(SanitizerReport, StackOverflowNamesTheVariable) {
  const SanitizerReport r = parse_sanitizer_report(
      "==7==ERROR: AddressSanitizer: stack-buffer-overflow on address 0x7f at pc 0x55 bp 0x7f sp "
      "0x7f\n"
      "WRITE of size 4 at 0x7f thread T1\n"
      "    #0 0x5 in kernel sub/part.hpp:3\n"
      "  This frame has 1 object(s):\n"
      "    [32, 48) 'total' (line 9) <== Memory access at offset 48 overflows this variable\n",
      sources);
  EXPECT_EQ(r.file, "sub/part.hpp");
  EXPECT_EQ(r.line, 3);
  EXPECT_EQ(r.lines.back(),
            "'total' (line 9) <== Memory access at offset 48 overflows this variable");
}

TEST(SanitizerReport, UndefinedBehaviour) {
  const SanitizerReport r = parse_sanitizer_report(
      "./k.cpp:4:18: runtime error: signed integer overflow: 2147483647 + 1 cannot be represented "
      "in type 'int'\n    #0 0x7 in kernel k.cpp:4\n",
      sources);
  EXPECT_EQ(r.tool, "UndefinedBehaviorSanitizer");
  EXPECT_EQ(r.sentence(), "UndefinedBehaviorSanitizer: signed integer overflow: 2147483647 + 1 "
                          "cannot be represented in type 'int' at k.cpp:4");
  EXPECT_EQ(r.column, 18);
}

TEST(SanitizerReport, DataRace) {
  const SanitizerReport r = parse_sanitizer_report(
      "==================\n"
      "WARNING: ThreadSanitizer: data race (pid=123)\n"
      "  Write of size 4 at 0x7b0400000010 by thread T2:\n"
      "    #0 body(void*, long) ./k.cpp:10 (k.so+0x1234)\n"
      "    #1 run_share driver.cpp:90 (driver+0x1)\n"
      "\n"
      "  Previous write of size 4 at 0x7b0400000010 by thread T1:\n"
      "    #0 body(void*, long) ./k.cpp:10 (k.so+0x1234)\n"
      "\n"
      "SUMMARY: ThreadSanitizer: data race ./k.cpp:10 in body(void*, long)\n",
      sources);
  EXPECT_EQ(r.sentence(), "ThreadSanitizer: data race, Write of size 4 at k.cpp:10");
  EXPECT_EQ(r.lines, (std::vector<std::string>{
                         "ThreadSanitizer: data race",
                         "Write of size 4 at ... by thread T2:",
                         "  in body(void*, long) at k.cpp:10",
                         "Previous write of size 4 at ... by thread T1:",
                         "  in body(void*, long) at k.cpp:10",
                     }));
}

TEST(SanitizerReport, NothingFound) {
  EXPECT_FALSE(parse_sanitizer_report("", sources).found);
  EXPECT_FALSE(parse_sanitizer_report("side run: the object has no entry: f\n", sources).found);
  EXPECT_FALSE(
      parse_sanitizer_report("SUMMARY: AddressSanitizer: heap-use-after-free\n", sources).found);
}

// The candidate writes what it likes.
TEST(SanitizerReport, HostileTextStaysBoundedAndPrintable) {
  std::string text = "k.cpp:99999999999:1: runtime error: \x1b[31mred\x07 /home/user/secret\n";
  for (int i = 0; i < 1000; ++i)
    text += "    #0 0x1 in " + std::string(5000, 'a') + " k.cpp:1\n";
  const SanitizerReport r = parse_sanitizer_report(text, sources);
  EXPECT_TRUE(r.found);
  EXPECT_LE(r.lines.size(), 12U);
  for (const std::string& line : r.lines) {
    EXPECT_LE(line.size(), 400U);
    for (const char c : line)
      EXPECT_TRUE(c >= ' ' && c <= '~');
  }
}

TEST(SanitizerReport, AFileOfThatNameElsewhereIsNotTheCandidates) {
  const SanitizerReport r = parse_sanitizer_report(
      "==1==ERROR: AddressSanitizer: SEGV on unknown address 0x0 (pc 0x1 bp 0x2 sp 0x3 T1)\n"
      "    #0 0x1 in f /opt/other/k.cpp:5\n    #1 0x1 in kernel k.cpp:7\n",
      sources);
  EXPECT_EQ(r.sentence(), "AddressSanitizer: SEGV at k.cpp:7");
}

} // namespace
} // namespace kw
