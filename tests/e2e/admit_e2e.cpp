// SPDX-License-Identifier: Apache-2.0
// Admission of objects as the real pipeline builds them: what honest kernels need is admitted, each
// trick is refused by the rule that names it, with the line of its cause.
#include "compile/build.hpp"
#include "os/files.hpp"
#include "os/temp_dir.hpp"
#include "target/cpu/admit.hpp"

#include <gtest/gtest.h>
#include <optional>

namespace kw {
namespace {

class Admit : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    Result<TempDir> dir = TempDir::create("kw-admit-e2e");
    ASSERT_TRUE(dir);
    BuilderOptions options;
    options.cache_dir = dir->file("cache");
    Result<Builder> builder = Builder::open(options);
    ASSERT_TRUE(builder) << builder.error().text();
    dir_.emplace(std::move(*dir));
    builder_.emplace(std::move(*builder));
  }
  static void TearDownTestSuite() {
    builder_.reset();
    dir_.reset();
  }

  static Admission judge(const std::string& source) {
    BuildRequest r;
    r.sources = {{"k.cpp", source}};
    r.entry = "k";
    r.include_dirs = {std::string(KW_SOURCE_DIR) + "/operators/include"};
    const Result<BuildOutcome> out = builder_->build(r);
    EXPECT_TRUE(out && out->ok) << (out ? out->raw_log : out.error().text());
    if (!out || !out->ok)
      return {};
    const std::string bytes = *read_file(out->object_path);
    Result<Admission> admission =
        admit(std::as_bytes(std::span(bytes)), {.entry = "k", .sources = r.sources});
    EXPECT_TRUE(admission) << admission.error().text();
    return admission ? *admission : Admission{};
  }
  static void expect_admitted(const std::string& source) {
    const Admission a = judge(source);
    EXPECT_TRUE(a.admitted()) << source << "\n" << a.status().error().text();
  }
  static void expect_refused(const std::string& source, const std::string& rule,
                             const std::string& where) {
    const Admission a = judge(source);
    ASSERT_FALSE(a.admitted()) << source;
    bool found = false;
    for (const Refusal& r : a.refusals) {
      found = found || (r.rule == rule && (where.empty() || r.where == where));
      EXPECT_FALSE(r.message.empty());
      EXPECT_FALSE(r.remedy.empty());
    }
    EXPECT_TRUE(found) << source << "\n" << a.status().error().text();
  }

  static inline std::optional<TempDir> dir_;
  static inline std::optional<Builder> builder_;
};

TEST_F(Admit, HonestKernels) {
  expect_admitted("extern \"C\" int k(const float* a, float* o, long n) {\n"
                  "  for (long i = 0; i < n; ++i) o[i] = a[i] * 2;\n  return 0;\n}");
  expect_admitted("#include <immintrin.h>\nextern \"C\" int k(const float* a, float* o) {\n"
                  "  _mm256_storeu_ps(o, _mm256_loadu_ps(a)); return 0; }");
  expect_admitted(
      "#include <cmath>\n#include <cstring>\n#include <algorithm>\n"
      "extern \"C\" int k(const float* a, float* o, long n) {\n"
      "  std::memcpy(o, a, 4 * n); std::sort(o, o + n);\n"
      "  for (long i = 0; i < n; ++i)\n"
      "    o[i] = std::exp(a[i]) + std::tanh(a[i]) + std::erf(a[i]) + std::pow(a[i], o[i])"
      " + std::sin(a[i]) + std::floor(a[i]) + std::sqrt(a[i]) + std::round(a[i]);\n"
      "  return 0; }");
  expect_admitted("#include <kernwright.h>\n"
                  "static void body(void* c, int64_t i) { static_cast<float*>(c)[i] = 1; }\n"
                  "extern \"C\" int k(float* o, long n) {\n"
                  "  float* w = static_cast<float*>(kw_workspace(64));\n"
                  "  kw_parallel_for(n / kw_threads(), body, w); return 0; }");
  // Constant tables with and without relocations, an inline variable, a template's static constant.
  expect_admitted("static const float table[4] = {1, 2, 3, 4};\n"
                  "static const float* const rows[2] = {table, table + 2};\n"
                  "inline constexpr int twice[3] = {2, 4, 6};\n"
                  "template <class T> struct S { static constexpr T v[2] = {1, 2}; };\n"
                  "extern \"C\" int k(float* o, long n) {\n"
                  "  o[0] = rows[n & 1][n & 1] + twice[n % 3] + S<float>::v[n & 1]; return 0; }");
  // Half precision and 128-bit integers bring static compiler helpers.
  expect_admitted("extern \"C\" int k(const unsigned __int128* a, float* o) {\n"
                  "  o[0] = (float)(a[0] / a[1]); return 0; }");
}

TEST_F(Admit, HelpersInOtherFilesAreNotExports) {
  BuildRequest r;
  r.sources = {
      {"a.cpp", "int helper(int x); extern \"C\" int k(int* o) { o[0] = helper(3); return 0; }"},
      {"b.cpp", "int visible = 3; int helper(int x) { return x * 2; }"}};
  r.sources[1].content = "int helper(int x) { return x * 2; }";
  r.entry = "k";
  const Result<BuildOutcome> out = builder_->build(r);
  ASSERT_TRUE(out && out->ok);
  const std::string bytes = *read_file(out->object_path);
  const Result<Admission> a =
      admit(std::as_bytes(std::span(bytes)), {.entry = "k", .sources = r.sources});
  ASSERT_TRUE(a);
  EXPECT_TRUE(a->admitted()) << a->status().error().text();
}

TEST_F(Admit, LoadTimeCode) {
  expect_refused("extern \"C\" int k(int* o) { return 0; }\n"
                 "__attribute__((constructor)) void early() { *(volatile int*)8 = 1; }",
                 "load-time-code", "k.cpp:2");
  expect_refused("int f(); struct G { int x; G() : x(__builtin_ia32_rdtsc()) {} };\nG g;\n"
                 "extern \"C\" int k(int* o) { o[0] = g.x; return 0; }",
                 "load-time-code", "");
  expect_refused(
      "__attribute__((target_clones(\"avx2\", \"default\")))\nint f(int x) { return x * 3; }\n"
      "extern \"C\" int k(int* o) { o[0] = f(o[1]); return 0; }",
      "load-time-code", "");
  expect_refused(
      "extern \"C\" int k(int* o) {\n  o[0] = __builtin_cpu_supports(\"avx2\"); return 0; }",
      "load-time-code", "k.cpp:2");
}

TEST_F(Admit, State) {
  expect_refused(
      "static float cache[64];\nextern \"C\" int k(float* o) { o[0] = cache[3]++; return 0; }",
      "writable-state", "k.cpp:1");
  expect_refused(
      "extern \"C\" int k(int* o) {\n  static int calls = 7;\n  o[0] = calls++; return 0; }",
      "writable-state", "k.cpp:2");
  expect_refused("thread_local int t;\nextern \"C\" int k(int* o) { o[0] = t++; return 0; }",
                 "thread-local", "k.cpp:1");
}

TEST_F(Admit, Imports) {
  expect_refused(
      "#include <cstdlib>\nextern \"C\" int k(float* o) {\n  float* p = (float*)malloc(o[0]);\n"
      "  o[1] = p[3]; return 0; }",
      "import", "k.cpp:3");
  expect_refused(
      "#include <vector>\nextern \"C\" int k(float* o, long n) {\n"
      "  std::vector<float> v(n);\n  o[0] = v[n / 2]; o[1] = (float)(long)v.data(); return 0; }",
      "import", "k.cpp:3");
  expect_refused(
      "extern \"C\" void cblas_sgemm();\nextern \"C\" int k(float*) { cblas_sgemm(); return 0; }",
      "import", "k.cpp:1");
  expect_refused(
      "#include <cstdio>\nextern \"C\" int k(float*) {\n  printf(\"x%d\", 3); return 0; }",
      "import", "k.cpp:3");
  expect_refused("extern \"C\" int dlopen(const char*, int);\n"
                 "extern \"C\" int k(float*) { return dlopen(\"x\", 1); }",
                 "import", "k.cpp:1");
}

TEST_F(Admit, MissingEntryIsExplained) {
  const Admission a = judge("int k(float* o) { return 0; }");
  ASSERT_FALSE(a.admitted());
  EXPECT_NE(a.refusals[0].remedy.find("extern \"C\""), std::string::npos);
  EXPECT_EQ(a.refusals[0].where, "k.cpp:1");
  expect_refused("extern \"C\" int other(float* o) { return 0; }", "exports", "");
}

TEST_F(Admit, TricksInAssembly) {
  expect_refused("extern \"C\" int k(float*) { return 0; }\n"
                 "asm(\".section .evil,\\\"awx\\\",@progbits\\n.long 1\\n.text\");",
                 "writable-code", "");
  expect_refused("extern \"C\" int k(float*) { return 0; }\n"
                 "asm(\".section .init_array,\\\"aw\\\"\\n.quad k\\n.text\");",
                 "load-time-code", "");
  expect_refused("extern \"C\" int k(float*) { return 0; }\n"
                 "asm(\".section .note.GNU-stack,\\\"x\\\",@progbits\\n.text\\n.type "
                 "r,@gnu_indirect_function\\n"
                 "r: ret\\n.data\\n.quad r\\n.text\");",
                 "load-time-code", "");
}

TEST_F(Admit, RawInstructionsAreFlaggedNotRefused) {
  const Admission a =
      judge("extern \"C\" int k(long* o) { asm volatile(\"syscall\" : \"=a\"(o[0]) : \"a\"(39)"
            " : \"rcx\", \"r11\", \"memory\"); return 0; }");
  EXPECT_TRUE(a.admitted());
  ASSERT_FALSE(a.flags.empty());
  EXPECT_NE(a.flags[0].find("syscall"), std::string::npos);
}

} // namespace
} // namespace kw
