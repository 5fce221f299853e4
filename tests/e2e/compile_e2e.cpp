// SPDX-License-Identifier: Apache-2.0
// The build pipeline with the real compiler: honest kernels, hostile sources, a poor machine.
#include "compile/build.hpp"

#include "base/hash.hpp"
#include "compile/cache.hpp"
#include "os/files.hpp"
#include "os/temp_dir.hpp"

#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace kw {
namespace {

const std::string add_kernel = R"(
extern "C" int add(const float* a, float* o, long n) {
  for (long i = 0; i < n; ++i) o[i] = a[i] + 1;
  return 0;
}
)";

class Compile : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<TempDir> dir = TempDir::create("kw-compile-e2e");
    ASSERT_TRUE(dir) << dir.error().text();
    dir_.emplace(std::move(*dir));
  }
  [[nodiscard]] Builder open(BuilderOptions options = {}) const {
    if (options.cache_dir.empty())
      options.cache_dir = dir_->file("cache");
    Result<Builder> builder = Builder::open(std::move(options));
    EXPECT_TRUE(builder) << builder.error().text();
    return std::move(*builder);
  }
  static BuildRequest request(const std::string& source) {
    BuildRequest r;
    r.sources = {{"kernel.cpp", source}};
    r.entry_file = "kernel.cpp";
    r.entry = "add";
    r.include_dirs = {std::string(KW_SOURCE_DIR) + "/operators/include"};
    return r;
  }
  static BuildOutcome build(Builder& builder, const BuildRequest& r) {
    Result<BuildOutcome> out = builder.build(r);
    EXPECT_TRUE(out) << out.error().text();
    return out ? *out : BuildOutcome{};
  }
  std::optional<TempDir> dir_;
};

TEST_F(Compile, BuildsOnceThenHitsTheCache) {
  Builder builder = open();
  const BuildOutcome first = build(builder, request(add_kernel));
  ASSERT_TRUE(first.ok) << first.raw_log;
  EXPECT_FALSE(first.cached);
  EXPECT_EQ(sha256_hex(*read_file(first.object_path)), first.object_hash);
  Builder other = open(); // another process would see the same folder
  const BuildOutcome second = build(other, request(add_kernel));
  EXPECT_TRUE(second.cached);
  EXPECT_EQ(second.object_path, first.object_path);
  struct stat info{};
  ASSERT_EQ(::stat(first.object_path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0222U, 0U); // nobody writes to a published object
}

TEST_F(Compile, KeyCoversSourcesDefinesEntryModeAndHeaders) {
  Builder builder = open();
  const BuildRequest plain = request(add_kernel);
  const std::string key = build(builder, plain).key;
  BuildRequest r = plain;
  r.sources[0].content += " ";
  EXPECT_NE(build(builder, r).key, key);
  r = plain;
  r.defines = {"KW_AXIS_n=4"};
  EXPECT_NE(build(builder, r).key, key);
  r = plain;
  r.mode = BuildMode::trusted;
  EXPECT_NE(build(builder, r).key, key);
  r = plain;
  ASSERT_TRUE(make_dirs(dir_->file("include")));
  ASSERT_TRUE(write_file_atomic(dir_->file("include/x.h"), "// 1"));
  r.include_dirs = {dir_->file("include")};
  const std::string with_header = build(builder, r).key;
  ASSERT_TRUE(write_file_atomic(dir_->file("include/x.h"), "// 2"));
  EXPECT_NE(build(builder, r).key, with_header);
}

TEST_F(Compile, SameSourcesGiveTheSameBytes) {
  BuilderOptions elsewhere;
  elsewhere.cache_dir = dir_->file("other");
  Builder one = open(), two = open(elsewhere);
  const BuildRequest r = request(add_kernel + "const char* when() { return __TIME__ __FILE__; }");
  EXPECT_EQ(build(one, r).object_hash, build(two, r).object_hash);
}

TEST_F(Compile, FlippedByteInTheCacheIsRebuilt) {
  Builder builder = open();
  const BuildOutcome first = build(builder, request(add_kernel));
  std::string bytes = *read_file(first.object_path);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  ASSERT_TRUE(write_file_atomic(first.object_path, bytes));
  const BuildOutcome second = build(builder, request(add_kernel));
  EXPECT_TRUE(second.ok);
  EXPECT_FALSE(second.cached);
  EXPECT_EQ(sha256_hex(*read_file(second.object_path)), first.object_hash);
  EXPECT_TRUE(build(builder, request(add_kernel)).cached);
}

TEST_F(Compile, DamagedManifestIsRebuilt) {
  Builder builder = open();
  const BuildOutcome first = build(builder, request(add_kernel));
  ASSERT_TRUE(write_file_atomic(parent_path(first.object_path) + "/manifest", "kernwright-build"));
  const BuildOutcome second = build(builder, request(add_kernel));
  EXPECT_TRUE(second.ok);
  EXPECT_FALSE(second.cached);
}

TEST_F(Compile, CacheStaysWithinItsSize) {
  Result<BuildCache> cache = BuildCache::open(dir_->file("small"), 100'000);
  ASSERT_TRUE(cache);
  const std::string object(10'000, 'x');
  for (int i = 0; i < 30; ++i)
    ASSERT_TRUE(cache->publish(sha256_hex(std::to_string(i)), object, ""));
  ASSERT_TRUE(cache->evict(-1)); // no grace: as if ten minutes had passed
  std::uint64_t bytes = 0;
  const std::vector<TreeEntry> left = *list_tree(dir_->file("small"));
  for (const TreeEntry& e : left)
    bytes += e.bytes;
  EXPECT_LE(bytes, 100'000U);
  EXPECT_GT(bytes, 40'000U);
}

TEST_F(Compile, ErrorsAreStructuredAndRelative) {
  Builder builder = open();
  BuildRequest r = request("#include \"sub/part.h\"\n" + add_kernel);
  r.sources.push_back({"sub/part.h", "#pragma once\ninline int f() { return 1 }\n"});
  const BuildOutcome out = build(builder, r);
  EXPECT_FALSE(out.ok);
  EXPECT_EQ(out.failure_kind, "compile");
  ASSERT_FALSE(out.diagnostics.empty());
  const Diagnostic& d = out.diagnostics.front();
  EXPECT_EQ(d.severity, "error");
  EXPECT_EQ(d.file, "sub/part.h");
  EXPECT_EQ(d.line, 2);
  EXPECT_NE(d.excerpt.find("return 1 }"), std::string::npos);
  EXPECT_NE(d.excerpt.find('^'), std::string::npos);
  EXPECT_EQ(out.raw_log.find("/tmp/"), std::string::npos);
}

TEST_F(Compile, WarningsSurviveTheCacheWithTheirCode) {
  Builder builder = open();
  const BuildRequest r = request("extern \"C\" int add(float* o) { int unused; return 0; }");
  const BuildOutcome first = build(builder, r), second = build(builder, r);
  ASSERT_TRUE(second.cached);
  ASSERT_EQ(first.diagnostics.size(), 1U);
  ASSERT_EQ(second.diagnostics.size(), 1U);
  EXPECT_EQ(second.diagnostics[0].code, "-Wunused-variable");
  EXPECT_EQ(second.diagnostics[0].excerpt, first.diagnostics[0].excerpt);
}

TEST_F(Compile, LinkErrorsNameTheUse) {
  Builder builder = open();
  const BuildOutcome out = build(builder, request(R"(
struct Guard { Guard(); ~Guard(); };
extern "C" int add(float* o) {
  static Guard g;
  return 0;
})"));
  EXPECT_EQ(out.failure_kind, "compile");
  ASSERT_FALSE(out.diagnostics.empty());
  EXPECT_EQ(out.diagnostics[0].file, "kernel.cpp");
  EXPECT_NE(out.diagnostics[0].message.find("destructor"), std::string::npos) << out.raw_log;
}

TEST_F(Compile, TemplateBombIsStopped) {
  Builder builder = open();
  BuildRequest r = request(R"(
template <int N, int M> struct F { static constexpr int v = F<N - 1, M>::v + F<N - 1, M + N>::v; };
template <int M> struct F<0, M> { static constexpr int v = 1; };
extern "C" int add(float* o) { o[0] = F<300, 0>::v; return 0; }
)");
  r.cpu_seconds = 1;
  r.wall_limit = std::chrono::milliseconds{20'000};
  const BuildOutcome out = build(builder, r);
  EXPECT_FALSE(out.ok);
  EXPECT_TRUE(out.failure_kind == "timeout" || out.failure_kind == "memory") << out.raw_log;
  EXPECT_FALSE(out.diagnostics.empty());
}

TEST_F(Compile, WallLimitStopsTheWholeGroup) {
  Builder builder = open();
  BuildRequest r = request(R"(
constexpr long spin() { long s = 0; for (long i = 0; i < 30'000'000; ++i) s += i; return s; }
static_assert(spin() > 0);
extern "C" int add(float* o) { return 0; }
)");
  r.wall_limit = std::chrono::milliseconds{300};
  const BuildOutcome out = build(builder, r);
  EXPECT_EQ(out.failure_kind, "timeout");
  EXPECT_LT(out.ms, 5000);
}

TEST_F(Compile, HugeObjectIsStopped) {
  Builder builder = open();
  const BuildOutcome out =
      build(builder, request("extern \"C\" const char big[200u << 20] = {1};" + add_kernel));
  EXPECT_FALSE(out.ok);
  EXPECT_EQ(out.failure_kind, "memory") << out.raw_log;
}

TEST_F(Compile, FileDisclosureIsRefusedByRules) {
  Builder builder = open();
  for (const char* line :
       {"#include \"/etc/passwd\"", "#include <../../etc/passwd>", "#include \"../x.h\"",
        "asm(\".incbin \\\"/etc/passwd\\\"\");", "asm(\".inc\" \"bin \\\"/etc/passwd\\\"\");",
        "%:include \"/etc/passwd\"", "#inc\\\nlude \"/etc/passwd\"", "#embed \"/etc/passwd\"",
        "#if __has_include(\"/etc/passwd\")\n#endif", "#define H \"/etc/passwd\"\n#include H",
        "#pragma GCC optimize(\"fast-math\")", "#pragma GCC target(\"avx\")",
        "#pragma GCC push_options", "_Pragma(\"GCC optimize(3)\")", "asm(\".symver a,b@c\");"}) {
    const BuildOutcome out = build(builder, request(std::string(line) + "\n" + add_kernel));
    EXPECT_EQ(out.failure_kind, "forbidden") << line;
    ASSERT_FALSE(out.diagnostics.empty()) << line;
    EXPECT_GE(out.diagnostics[0].line, 1) << line;
    EXPECT_NE(out.diagnostics[0].message.find(';'), std::string::npos) << line; // "...; do this"
  }
}

TEST_F(Compile, SandboxHidesFilesWhenRulesAreDodged) {
  // Escapes spell .incbin for the assembler only: the rules do not see it, the sandbox must.
  const Result<TempDir> secret = TempDir::create("kw-secret");
  ASSERT_TRUE(secret);
  ASSERT_TRUE(write_file_atomic(secret->file("s"), "top-secret-content"));
  Builder builder = open();
  for (const std::string& path :
       {secret->file("s"), std::string("/etc/passwd"), std::string("/proc/self/environ")}) {
    const BuildOutcome out =
        build(builder, request("asm(\".\\x69ncbin \\\"" + path + "\\\"\");\n" + add_kernel));
    EXPECT_FALSE(out.ok) << path;
    EXPECT_EQ(out.failure_kind, "compile") << path;
    EXPECT_EQ(out.raw_log.find("top-secret-content"), std::string::npos);
  }
}

TEST_F(Compile, PrecompiledHeaderIsMadeAtTheSecondSightAndChangesNothing) {
  const auto source = [](int i) {
    return "#include <immintrin.h>\n#include <cmath>\n// " + std::to_string(i) +
           "\nextern \"C\" int add(const float* a, float* o, long n) {\n"
           "  for (long i = 0; i < n; ++i) o[i] = std::sqrt(a[i]);\n  return 0;\n}\n";
  };
  Builder builder = open();
  EXPECT_FALSE(build(builder, request(source(1))).precompiled_header);
  EXPECT_TRUE(build(builder, request(source(2))).precompiled_header);
  const BuildOutcome fast = build(builder, request(source(3)));
  EXPECT_TRUE(fast.precompiled_header);
  BuilderOptions without;
  without.cache_dir = dir_->file("plain");
  without.use_precompiled_headers = false;
  Builder plain = open(without);
  EXPECT_EQ(build(plain, request(source(3))).object_hash, fast.object_hash);
  // An error is reported as without it, and a missing include is not hidden by it.
  const BuildOutcome wrong = build(builder, request(source(4) + "std::vector<int> v;\n"));
  EXPECT_FALSE(wrong.ok);
  EXPECT_FALSE(wrong.precompiled_header);
}

TEST_F(Compile, TrustedModeLinksLibraries) {
  Builder builder = open();
  BuildRequest r = request(R"(
#include <vector>
#include <cmath>
extern "C" double add(double x) { std::vector<double> v(10, x); return std::cbrt(v[3]); })");
  r.mode = BuildMode::trusted;
  r.extra_link = {"m"};
  const BuildOutcome out = build(builder, r);
  EXPECT_TRUE(out.ok) << out.raw_log;
  r.extra_link = {"no-such-library-kw"};
  EXPECT_FALSE(build(builder, r).ok);
}

TEST_F(Compile, UnusableCacheFolderIsANoteNotAFailure) {
  BuilderOptions options;
  options.cache_dir = "/proc/kernwright-cache"; // refuses new folders for root as well
  Builder builder = open(options);
  const BuildOutcome out = build(builder, request(add_kernel));
  ASSERT_TRUE(out.ok) << out.raw_log;
  EXPECT_TRUE(is_file(out.object_path));
  ASSERT_FALSE(out.diagnostics.empty());
  EXPECT_EQ(out.diagnostics.back().code, "build-cache");
  EXPECT_NE(out.diagnostics.back().message.find("/proc/kernwright-cache"), std::string::npos);
}

TEST_F(Compile, CacheFolderThatBecomesUnusableIsANote) {
  Builder builder = open();
  // A file where the staging folder was: every later write fails, whoever we are.
  ASSERT_TRUE(remove_tree(dir_->file("cache/tmp")));
  ASSERT_TRUE(write_file_atomic(dir_->file("cache/tmp"), ""));
  const BuildOutcome out = build(builder, request(add_kernel));
  ASSERT_TRUE(out.ok);
  EXPECT_TRUE(is_file(out.object_path));
  ASSERT_FALSE(out.diagnostics.empty());
  EXPECT_EQ(out.diagnostics.back().code, "build-cache");
}

TEST_F(Compile, MissingScratchFolderIsInfrastructure) {
  BuilderOptions options;
  options.scratch = dir_->file("gone");
  ASSERT_TRUE(make_dirs(options.scratch));
  Builder builder = open(options);
  ASSERT_TRUE(remove_tree(dir_->file("gone")));
  const Result<BuildOutcome> out = builder.build(request(add_kernel));
  ASSERT_FALSE(out);
  EXPECT_FALSE(out.error().remedy.empty());
}

/// A compiler that says that the disk is full; outside /usr, so Landlock has to stay away.
BuilderOptions with_complaining_compiler(const std::string& path) {
  EXPECT_TRUE(write_file_atomic(path,
                                "#!/bin/sh\n"
                                "[ \"$1\" = --version ] && echo 'g++ (fake) 12.0.0' && exit 0\n"
                                "echo 'as: kernel.o: No space left on device' >&2; exit 1\n",
                                0755));
  BuilderOptions options;
  options.compiler = path;
  options.deny.landlock = true;
  return options;
}

TEST_F(Compile, WordsOfAFullDiskAreNotBelieved) {
  Builder builder = open(with_complaining_compiler(dir_->file("full-disk-g++")));
  const Result<BuildOutcome> out = builder.build(request(add_kernel));
  ASSERT_TRUE(out) << "a candidate can make the compiler say anything: " << out.error().text();
  EXPECT_FALSE(out->ok);
  EXPECT_EQ(out->failure_kind, "compile");
}

TEST_F(Compile, FullDiskIsInfrastructureNeverTheCandidatesFault) {
  BuilderOptions options = with_complaining_compiler(dir_->file("full-disk-g++"));
  options.scratch = dir_->file("small");
  ASSERT_TRUE(make_dirs(options.scratch));
  if (::mount("tmpfs", options.scratch.c_str(), "tmpfs", 0, "size=4m") != 0)
    GTEST_SKIP() << "needs root: a full disk is a 4 MiB file system mounted for it";
  Builder builder = open(options);
  const Result<BuildOutcome> out = builder.build(request(add_kernel));
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().kind, ErrorKind::infrastructure);
  EXPECT_NE(out.error().remedy.find("free some disk space"), std::string::npos);
  ::umount2(options.scratch.c_str(), MNT_DETACH);
}

TEST_F(Compile, ParallelRequestsAndParallelBuildersAreSafe) {
  std::atomic<int> good{0};
  Builder shared = open();
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        Builder own = open();
        for (int i = 0; i < 3; ++i) {
          // All threads build the same three kernels, half of them through the shared builder.
          const BuildRequest r = request(add_kernel + "// " + std::to_string(i));
          const BuildOutcome out = build(t % 2 == 0 ? shared : own, r);
          good += out.ok && sha256_hex(*read_file(out.object_path)) == out.object_hash ? 1 : 0;
        }
      });
  }
  EXPECT_EQ(good.load(), 12);
}

TEST_F(Compile, BadRequestsAndPathsAreNamed) {
  Builder builder = open();
  BuildRequest r = request(add_kernel);
  r.entry = "add; }";
  EXPECT_EQ(builder.build(r).error().kind, ErrorKind::invalid_input);
  r = request(add_kernel);
  r.defines = {"A B=1"};
  EXPECT_EQ(builder.build(r).error().kind, ErrorKind::invalid_input);
  r = request(add_kernel);
  r.sources[0].path = "../kernel.cpp";
  EXPECT_EQ(build(builder, r).failure_kind, "forbidden");
  r = request(add_kernel);
  r.entry_file = "other.cpp";
  EXPECT_EQ(build(builder, r).failure_kind, "forbidden");
}

TEST(CompilerProbe, UnknownCompilerSaysWhatToInstall) {
  const Result<Compiler> missing = probe_compiler("no-such-compiler");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::not_found);
  EXPECT_NE(missing.error().remedy.find("apt-get install"), std::string::npos);
}

} // namespace
} // namespace kw
