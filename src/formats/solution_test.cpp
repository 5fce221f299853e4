// SPDX-License-Identifier: Apache-2.0
#include "formats/solution_files.hpp"
#include "formats/solution_json.hpp"

#include "formats/formats_testing.hpp"
#include "os/files.hpp"
#include "os/temp_dir.hpp"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

using testing::HasSubstr;

const std::string good = R"({"name":"s","definition":"d","author":"a",
 "spec":{"language":"cpp","target_hardware":["cpu"],"entry_point":"k.cpp::run","build_commands":["make"]},
 "sources":[{"path":"k.cpp","content":"int x;"},{"path":"./inc/k.h","content":"int y;"}]})";

std::string solution_issues_with(const std::string& from, const std::string& to) {
  std::string text = good;
  text.replace(text.find(from), from.size(), to);
  Issues issues;
  const bool read = decode_solution(text, "s.json", issues).has_value();
  EXPECT_EQ(read, !has_errors(issues));
  return listing(issues);
}

Solution sample() {
  Issues issues;
  return decode_solution(good, "s.json", issues).value();
}

TEST(SolutionJson, DefaultsAndUnknownKeys) {
  Issues issues;
  const auto s = decode_solution(good, "s.json", issues);
  ASSERT_TRUE(s) << listing(issues);
  EXPECT_TRUE(s->spec.destination_passing_style);
  EXPECT_FALSE(s->spec.binding);
  EXPECT_THAT(listing(issues), HasSubstr("unknown key `build_commands`"));
  Issues more;
  const auto again = decode_solution(encode_solution(*s), "s.json", more);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->spec.unknown, R"({"build_commands":["make"]})");
  EXPECT_EQ(encode_solution(*again), encode_solution(*s));
}

TEST(SolutionJson, OurBindingStaysValidUpstream) {
  Solution s = sample();
  s.spec.binding = "kernwright";
  const std::string text = encode_solution(s);
  EXPECT_THAT(text, HasSubstr("\"binding\": null"));
  Issues issues;
  EXPECT_EQ(decode_solution(text, "s.json", issues)->spec.binding, "kernwright");
  EXPECT_THAT(solution_issues_with("\"language\"", "\"binding\":\"kernwright\",\"language\""),
              Not(HasSubstr("error")));
}

TEST(SolutionJson, Rules) {
  EXPECT_THAT(solution_issues_with("\"cpp\"", "\"c++\""), HasSubstr("unknown language `c++`"));
  EXPECT_THAT(solution_issues_with("[\"cpu\"]", "[]"), HasSubstr("at least one target"));
  EXPECT_THAT(solution_issues_with("k.cpp::run", "k.cpp"), HasSubstr("\"file::function\""));
  EXPECT_THAT(solution_issues_with("k.cpp::run", "k.cpp::a::b"), HasSubstr("\"file::function\""));
  EXPECT_THAT(solution_issues_with("k.cpp::run", "k.cp::run"), HasSubstr("did you mean `k.cpp`?"));
  EXPECT_THAT(solution_issues_with("./inc/k.h", "../k.h"), HasSubstr("leaves the solution"));
  EXPECT_THAT(solution_issues_with("./inc/k.h", "a/../../k.h"), HasSubstr("leaves the solution"));
  EXPECT_THAT(solution_issues_with("./inc/k.h", "/etc/k.h"), HasSubstr("leaves the solution"));
  EXPECT_THAT(solution_issues_with("./inc/k.h", "k.cpp"), HasSubstr("two sources"));
  EXPECT_THAT(solution_issues_with("int y;", ""), HasSubstr("must not be empty"));
  EXPECT_THAT(solution_issues_with("\"author\":\"a\",", ""), HasSubstr("`author` is missing"));
  EXPECT_THAT(solution_issues_with("\"language\"", "\"binding\":\"pybind\",\"language\""),
              HasSubstr("unknown binding"));
  EXPECT_THAT(solution_issues_with("\"language\"", "\"dependencies\":null,\"language\""),
              HasSubstr("warning"));
}

TEST(SolutionHash, FollowsTheUpstreamRecipe) {
  Issues issues;
  const auto s = decode_solution(
      read_file(golden("trace_set/solutions/me/ew/scale_add_n/me_v1.json")).value(), "s", issues);
  ASSERT_TRUE(s);
  // Made with Python's hashlib over the same fields in upstream's order.
  EXPECT_EQ(fib_hash(*s), "ba2a074b473d291119cc9702980301f3ac9f2677");
}

TEST(SolutionHash, OursCoversWhatDecidesTheResult) {
  const Solution base = sample();
  const Definition d{.name = "d",
                     .op_type = "e",
                     .axes = {},
                     .inputs = {},
                     .outputs = {},
                     .reference = "def run(): pass",
                     .tags = {},
                     .description = {},
                     .constraints = {},
                     .ext = {},
                     .unknown = {},
                     .ext_json = {},
                     .file = {},
                     .folder = {}};
  const BuildKey key{"g++-12", "12.2.0", "-O3", "x86-64"};
  const std::string h = full_hash(base, d, key);
  const auto changed = [&](auto change) {
    Solution s = base;
    change(s);
    return full_hash(s, d, key) != h;
  };
  EXPECT_TRUE(changed([](Solution& s) { s.spec.destination_passing_style = false; }));
  EXPECT_TRUE(changed([](Solution& s) { s.spec.target_hardware = {"cuda"}; }));
  EXPECT_TRUE(changed([](Solution& s) { s.spec.binding = "torch"; }));
  EXPECT_TRUE(changed([](Solution& s) { s.sources[0].content += " "; }));
  EXPECT_TRUE(changed([](Solution& s) { s.spec.dependencies = {"x"}; }));
  EXPECT_FALSE(changed([](Solution& s) { s.name = "other", s.author = "b", s.description = "c"; }));
  // Text that moves between neighbouring fields: upstream's hash cannot tell, ours can.
  Solution moved = base;
  moved.sources[0] = {"k.cp", "pint x;"};
  EXPECT_EQ(fib_hash(moved), fib_hash(base));
  EXPECT_NE(full_hash(moved, d, key), h);
  EXPECT_NE(full_hash(base, d, {"g++-12", "12.2.0", "-O2", "x86-64"}), h);
  Definition other = d;
  other.reference += "\n";
  EXPECT_NE(full_hash(base, other, key), h);
}

TEST(SolutionFiles, PackAndUnpackAreInverse) {
  auto dir = TempDir::create();
  ASSERT_TRUE(dir);
  Solution s = sample();
  s.sources[1].path = "inc/deep/k.h";
  ASSERT_TRUE(unpack_solution(s, dir->file("out")));
  Issues issues;
  const auto packed = pack_solution(dir->file("out"),
                                    {.name = "s",
                                     .definition = "d",
                                     .author = "a",
                                     .language = "",
                                     .entry_point = "k.cpp::run",
                                     .binding = "",
                                     .destination_passing_style = {}},
                                    issues);
  ASSERT_TRUE(packed) << packed.error().text();
  ASSERT_EQ(packed->sources.size(), 2u);
  EXPECT_EQ(packed->sources[0].path, "inc/deep/k.h");
  EXPECT_EQ(packed->sources[1].content, "int x;");
  EXPECT_EQ(packed->spec.language, "cpp");
}

TEST(SolutionFiles, ConfigTomlAndStarterKitLayout) {
  auto dir = TempDir::create();
  ASSERT_TRUE(dir);
  ASSERT_TRUE(make_dirs(dir->file("solution/cuda")));
  ASSERT_TRUE(write_file_atomic(dir->file("solution/cuda/k.cu"), "// kernel run\n"));
  ASSERT_TRUE(write_file_atomic(dir->file("solution/cuda/old.o"), "x"));
  ASSERT_TRUE(write_file_atomic(dir->file("solution/.hidden"), "x"));
  ASSERT_TRUE(write_file_atomic(dir->file("README.md"), "not a source"));
  ASSERT_TRUE(write_file_atomic(
      dir->file("config.toml"),
      "[solution]\nname = \"n\"\ndefinition = \"d\"\nauthor = \"me\"\n[build]\nlanguage = "
      "\"cuda\"\nentry_point = "
      "\"cuda/k.cu::run\"\ndestination_passing_style = false\nbindng = \"torch\"\n"));
  Issues issues;
  const auto s = pack_solution(dir->path(), {}, issues);
  ASSERT_TRUE(s) << s.error().text();
  EXPECT_EQ(s->name, "n");
  EXPECT_FALSE(s->spec.destination_passing_style);
  ASSERT_EQ(s->sources.size(), 1u);
  EXPECT_EQ(s->sources[0].path, "cuda/k.cu");
  EXPECT_THAT(listing(issues), HasSubstr("config.toml:9:1: unknown key `build.bindng`: nothing "
                                         "reads it | did you mean `binding`?"));
  EXPECT_THAT(listing(issues), HasSubstr("build output"));
  ASSERT_TRUE(write_file_atomic(dir->file("config.toml"), "[solution]\nname = 3\n"));
  EXPECT_THAT(pack_solution(dir->path(), {}, issues).error().text(),
              HasSubstr("config.toml:2:8: `solution.name` has the wrong type"));
  ASSERT_TRUE(write_file_atomic(dir->file("config.toml"), "[solution\n"));
  EXPECT_THAT(pack_solution(dir->path(), {}, issues).error().text(), HasSubstr("config.toml:1:"));
}

TEST(SolutionFiles, SingleFileAndBareEntry) {
  auto dir = TempDir::create();
  ASSERT_TRUE(dir);
  ASSERT_TRUE(write_file_atomic(dir->file("kernel.cpp"), "extern \"C\" int go();\n"));
  Issues issues;
  PackOptions options;
  options.definition = "d";
  options.entry_point = "go";
  const auto s = pack_solution(dir->file("kernel.cpp"), options, issues);
  ASSERT_TRUE(s) << s.error().text();
  EXPECT_EQ(s->name, "kernel");
  EXPECT_EQ(s->spec.entry_point, "kernel.cpp::go");
  options.entry_point.clear();
  EXPECT_FALSE(pack_solution(dir->file("kernel.cpp"), options, issues));
  EXPECT_EQ(pack_solution(dir->file("nothing"), options, issues).error().kind,
            ErrorKind::not_found);
  ASSERT_TRUE(write_file_atomic(dir->file("kernel.cpp"), "\xff\xfe"));
  options.entry_point = "go";
  EXPECT_THAT(pack_solution(dir->file("kernel.cpp"), options, issues).error().message,
              HasSubstr("not UTF-8"));
}

TEST(SolutionFiles, UnpackStaysInsideAndOverwritesNothing) {
  auto dir = TempDir::create();
  ASSERT_TRUE(dir);
  namespace fs = std::filesystem;
  ASSERT_TRUE(make_dirs(dir->file("victim")));
  ASSERT_TRUE(make_dirs(dir->file("out")));
  fs::create_directory_symlink(dir->file("victim"), dir->file("out/inc"));
  Solution s = sample();
  s.sources[1].path = "inc/k.h";
  EXPECT_FALSE(unpack_solution(s, dir->file("out")));
  EXPECT_FALSE(fs::exists(dir->file("victim/k.h")));
  s = sample();
  ASSERT_TRUE(make_dirs(dir->file("two")));
  fs::create_symlink(dir->file("victim/planted"), dir->file("two/k.cpp"));
  EXPECT_FALSE(unpack_solution(s, dir->file("two")));
  EXPECT_FALSE(fs::exists(dir->file("victim/planted")));
  s.sources[1].path = "../escape";
  EXPECT_FALSE(unpack_solution(s, dir->file("three")));
  s = sample();
  ASSERT_TRUE(unpack_solution(s, dir->file("four")));
  EXPECT_FALSE(unpack_solution(s, dir->file("four"))); // exists
}

} // namespace
} // namespace kw
