// SPDX-License-Identifier: Apache-2.0
#include "formats/trace_set.hpp"

#include "formats/export.hpp"
#include "formats/formats_testing.hpp"
#include "formats/trace_json.hpp"
#include "os/files.hpp"
#include "os/temp_dir.hpp"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string copy_of(const TempDir& dir, const std::string& name) {
  std::filesystem::copy(golden(name), dir.file(name), std::filesystem::copy_options::recursive);
  return dir.file(name);
}
void edit(const std::string& file, const std::string& from, const std::string& to) {
  std::string text = read_file(file).value();
  const std::size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos) << from;
  ASSERT_TRUE(write_file_atomic(file, text.replace(at, from.size(), to)));
}
std::string all_issues(const std::string& path) {
  auto loaded = load_any(path);
  if (!loaded)
    return "failed: " + loaded.error().text();
  Issues issues = std::move(loaded->issues);
  for (Issue& i : check_set(loaded->set))
    issues.push_back(std::move(i));
  return listing(issues);
}

TEST(TraceSetFolder, GoldenLoadsWithoutErrors) {
  const auto loaded = load_trace_set(golden("trace_set"));
  ASSERT_TRUE(loaded) << loaded.error().text();
  EXPECT_FALSE(has_errors(loaded->issues)) << listing(loaded->issues);
  EXPECT_FALSE(has_errors(check_set(loaded->set))) << listing(check_set(loaded->set));
  EXPECT_EQ(loaded->set.definitions.size(), 1u);
  EXPECT_EQ(loaded->set.workloads.at("scale_add_n").size(), 2u);
  EXPECT_EQ(loaded->set.solutions.size(), 1u);
  EXPECT_EQ(loaded->set.traces.size(), 3u);
  EXPECT_EQ(loaded->set.workloads.at("scale_add_n")[1].weight, 3);
}

TEST(TraceSetFolder, NamesAreUniqueAndLinesInTheirPlace) {
  auto dir = TempDir::create();
  const std::string root = copy_of(*dir, "trace_set");
  ASSERT_TRUE(make_dirs(root + "/definitions/other/deep"));
  std::filesystem::copy_file(root + "/definitions/ew/scale_add_n.json",
                             root + "/definitions/other/deep/copy.json");
  std::filesystem::copy_file(root + "/solutions/me/ew/scale_add_n/me_v1.json",
                             root + "/solutions/copy.json");
  std::filesystem::copy_file(root + "/traces/me/ew/scale_add_n.jsonl",
                             root + "/workloads/wrong.jsonl");
  std::filesystem::copy_file(root + "/workloads/ew/scale_add_n.jsonl",
                             root + "/traces/wrong.jsonl");
  const std::string issues = all_issues(root);
  EXPECT_THAT(issues,
              HasSubstr("deep/copy.json:2:11: the definition name `scale_add_n` is taken by"));
  EXPECT_THAT(issues, HasSubstr("the solution name `me_v1` is taken by"));
  EXPECT_THAT(issues,
              HasSubstr("workloads/wrong.jsonl:1: a trace with a result stands among workloads"));
  EXPECT_THAT(issues, HasSubstr("traces/wrong.jsonl:1: a workload line stands among traces"));
}

TEST(TraceSetFolder, MisplacedFilesAreNamed) {
  auto dir = TempDir::create();
  const std::string root = copy_of(*dir, "trace_set");
  std::filesystem::rename(root + "/workloads/ew", root + "/workloads/other");
  EXPECT_THAT(all_issues(root),
              HasSubstr("workloads/other/scale_add_n.jsonl: the file is not where its content "
                        "belongs | move it to workloads/ew/scale_add_n.jsonl"));
}

TEST(TraceSetFolder, BlobsAreHeldAgainstTheDefinition) {
  auto dir = TempDir::create();
  const std::string root = copy_of(*dir, "trace_set");
  const std::string blob = root + "/blob/workloads/ew/scale_add_n/scale_add_n_w-1.safetensors";
  const std::string lines = root + "/workloads/ew/scale_add_n.jsonl";
  edit(lines, "\"N\": 2", "\"N\": 3");
  EXPECT_THAT(all_issues(root), HasSubstr("is F32 [2, 4], `y` must be float32 [3, 4]"));
  edit(lines, "\"N\": 3", "\"N\": 2");
  edit(lines, "\"tensor_key\": \"y\"", "\"tensor_key\": \"yy\"");
  EXPECT_THAT(all_issues(root), HasSubstr("has no tensor `yy` | it holds: y"));
  edit(lines, "\"tensor_key\": \"yy\"", "\"tensor_key\": \"y\"");
  ASSERT_TRUE(write_file_atomic(
      blob, "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n"));
  EXPECT_THAT(all_issues(root), HasSubstr("git-LFS pointer"));
  ASSERT_TRUE(write_file_atomic(blob, std::string("\x10\0\0\0\0\0\0\0{\"y\"", 12)));
  EXPECT_THAT(all_issues(root), HasSubstr("error " + lines + ":1: the input `y` cannot be read"));
  ASSERT_TRUE(remove_tree(blob));
  EXPECT_THAT(all_issues(root), HasSubstr("does not exist"));
}

TEST(OperatorFolder, GoldenLoadsWithItsFiles) {
  const auto loaded = load_any(golden("operator_folder"));
  ASSERT_TRUE(loaded) << loaded.error().text();
  EXPECT_EQ(listing(loaded->issues), "");
  EXPECT_EQ(listing(check_set(loaded->set)), "");
  const Definition& d = loaded->set.definitions.at(0);
  EXPECT_EQ(d.reference, "def run(x):\n    return x + 1, x.int()\n");
  EXPECT_EQ(d.ext.oracle.source_text, "// oracle\n");
  EXPECT_EQ(d.ext.baseline->source_text, "// baseline\n");
  EXPECT_EQ(d.ext.peers.at(0).source_text, "// peer\n");
  EXPECT_EQ(d.ext.protocol, "cold");
  EXPECT_EQ(loaded->set.workloads.at("add_one").at(1).weight, 2.5);
  EXPECT_EQ(loaded->set.solutions.at(0).spec.binding, "kernwright");
  const auto one = load_any(golden("operator_folder/add_one/add_one.definition.json"));
  ASSERT_TRUE(one);
  EXPECT_EQ(one->set.workloads.at("add_one").size(), 2u);
}

TEST(OperatorFolder, MissingFilesAreNamed) {
  auto dir = TempDir::create();
  const std::string root = copy_of(*dir, "operator_folder");
  ASSERT_TRUE(remove_tree(root + "/add_one/oracle.cpp"));
  ASSERT_TRUE(remove_tree(root + "/add_one/templates"));
  ASSERT_TRUE(remove_tree(root + "/add_one/reference.py"));
  const std::string issues = all_issues(root);
  EXPECT_THAT(issues, HasSubstr("`oracle.cpp` does not exist in"));
  EXPECT_THAT(issues, HasSubstr("`reference.py` does not exist in"));
  EXPECT_THAT(issues, HasSubstr("the template `templates/a.space.json` does not exist"));
  ASSERT_TRUE(write_file_atomic(root + "/add_one/reference.py", "x = 1\n"));
  EXPECT_THAT(
      all_issues(root),
      HasSubstr("add_one/reference.py: the reference of `add_one` has no top-level `def run`"));
  std::filesystem::rename(root + "/add_one/add_one.definition.json",
                          root + "/add_one/b.definition.json");
  EXPECT_THAT(all_issues(golden("operator_folder") + "/add_one/oracle.cpp"), HasSubstr("failed"));
}

TEST(OperatorFolder, SourcesAreUtf8) {
  auto dir = TempDir::create();
  const std::string root = copy_of(*dir, "operator_folder");
  ASSERT_TRUE(
      write_file_atomic(root + "/add_one/reference.py", "# caf\xe9\ndef run(x):\n    return x\n"));
  ASSERT_TRUE(write_file_atomic(root + "/add_one/oracle.cpp", "// caf\xe9\n"));
  const std::string issues = all_issues(root);
  EXPECT_THAT(issues, HasSubstr("`reference.py` is not UTF-8 text | save the file as UTF-8"));
  EXPECT_THAT(issues, HasSubstr("`oracle.cpp` is not UTF-8 text"));
}

TEST(LoadAny, RecognisesSingleFilesAndSaysWhatItCannotRead) {
  EXPECT_EQ(load_any(golden("trace_set/definitions/ew/scale_add_n.json"))->set.definitions.size(),
            1u);
  EXPECT_EQ(
      load_any(golden("trace_set/solutions/me/ew/scale_add_n/me_v1.json"))->set.solutions.size(),
      1u);
  EXPECT_EQ(load_any(golden("trace_set/traces/me/ew/scale_add_n.jsonl"))->set.traces.size(), 3u);
  EXPECT_EQ(load_any(golden("nothing")).error().kind, ErrorKind::not_found);
  auto dir = TempDir::create();
  EXPECT_FALSE(load_any(dir->path()));
  ASSERT_TRUE(write_file_atomic(dir->file("a.json"), "{}"));
  EXPECT_FALSE(load_any(dir->file("a.json")));
  ASSERT_TRUE(write_file_atomic(dir->file("b.json"), "[1,"));
  EXPECT_THAT(all_issues(dir->file("b.json")), HasSubstr("error " + dir->file("b.json") + ":1:4"));
}

TEST(CheckSet, WorkloadsAgainstTheirDefinition) {
  auto dir = TempDir::create();
  const std::string root = copy_of(*dir, "trace_set");
  const std::string lines = root + "/workloads/ew/scale_add_n.jsonl";
  const auto with = [&](const std::string& workload) {
    EXPECT_TRUE(
        write_file_atomic(lines, R"({"definition":"scale_add_n","workload":)" + workload + "}\n"));
    return all_issues(root);
  };
  const std::string inputs = R"("inputs":{"y":{},"x":{},"a":{"value":1}})";
  EXPECT_THAT(with(R"({"uuid":"u","axes":{},)" + inputs + "}"),
              HasSubstr("error " + lines + ":1: the workload does not bind the variable axis `N`"));
  EXPECT_THAT(with(R"({"uuid":"u","axes":{"N":1,"M":2},)" + inputs + "}"),
              HasSubstr("binds `M`, which is no axis"));
  EXPECT_THAT(with(R"({"uuid":"u","axes":{"N":1,"W":5},)" + inputs + "}"),
              HasSubstr("sets the const axis `W` to 5"));
  EXPECT_THAT(with(R"({"uuid":"u","axes":{"N":1,"W":4},)" + inputs + "}"),
              HasSubstr("warning " + lines + ":1: the workload repeats the const axis"));
  EXPECT_THAT(with(R"({"uuid":"u","axes":{"N":0},)" + inputs + "}"),
              HasSubstr("breaks the constraint `N >= 1`"));
  EXPECT_THAT(with(R"({"uuid":"u","axes":{"N":9007199254740993},)" + inputs + "}"),
              HasSubstr("elements"));
  EXPECT_THAT(with(R"({"uuid":"u","axes":{"N":1},"inputs":{"yy":{}}})"),
              HasSubstr("gives `yy`, which is no input of `scale_add_n` | inputs: y x a"));
  EXPECT_THAT(with(R"({"uuid":"u","axes":{"N":1},"inputs":{}})"),
              HasSubstr("says nothing about the input `x`"));
  EXPECT_THAT(with(R"({"uuid":"u","axes":{"N":1},"inputs":{"x":{"value":1}}})"),
              HasSubstr("cannot be given as a scalar"));
  EXPECT_THAT(with(R"({"uuid":"u","axes":{"N":1},"inputs":{"a":{"value":true}}})"),
              HasSubstr("not a boolean"));
  EXPECT_THAT(with(R"({"uuid":"u","axes":{"N":1},"inputs":{"a":{"path":"p","tensor_key":"k"}}})"),
              HasSubstr("cannot come from a file"));
  ASSERT_TRUE(write_file_atomic(
      lines, R"({"definition":"scale_add","workload":{"uuid":"u","axes":{},"inputs":{}}})"));
  EXPECT_THAT(
      all_issues(root),
      HasSubstr(
          "the definition `scale_add`, which is not in the set | did you mean `scale_add_n`?"));
  const std::string one =
      R"({"definition":"scale_add_n","workload":{"uuid":"u","axes":{"N":1},)" + inputs + "}}\n";
  ASSERT_TRUE(write_file_atomic(lines, one + one));
  EXPECT_THAT(all_issues(root),
              HasSubstr("error " + lines +
                        ":2: the workload uuid `u` of `scale_add_n` is taken at " + lines + ":1"));
}

/// What is shipped must pass its own check without a word.
TEST(ShippedOperators, HaveNoIssues) {
  const auto loaded = load_operator_folder(std::string(KW_SOURCE_DIR) + "/operators");
  ASSERT_TRUE(loaded) << loaded.error().text();
  EXPECT_EQ(listing(loaded->issues), "");
  EXPECT_EQ(listing(check_set(loaded->set)), "");
}

TEST(CheckSet, WarnsAboutAxesThatUpstreamCannotInfer) {
  auto dir = TempDir::create();
  const std::string root = copy_of(*dir, "trace_set");
  edit(root + "/definitions/ew/scale_add_n.json", "\"W\": {",
       "\"K\": {\"type\": \"var\"}, \"W\": {");
  EXPECT_THAT(all_issues(root),
              HasSubstr("the variable axis `K` of `scale_add_n` is in no input shape"));
}

TEST(Export, WritesASetThatReadsBackTheSame) {
  auto dir = TempDir::create();
  for (const char* name : {"trace_set", "operator_folder"}) {
    const auto first = load_any(golden(name));
    ASSERT_TRUE(first);
    const std::string out = dir->file(std::string("out_") + name);
    const Status written = export_trace_set(first->set, out);
    ASSERT_TRUE(written) << written.error().text();
    ASSERT_TRUE(export_trace_set(first->set, out)); // again: nothing doubles
    const auto second = load_trace_set(out);
    ASSERT_TRUE(second);
    EXPECT_FALSE(has_errors(second->issues)) << listing(second->issues);
    EXPECT_EQ(second->set.definitions.size(), first->set.definitions.size());
    EXPECT_EQ(second->set.workloads.begin()->second.size(),
              first->set.workloads.begin()->second.size());
    EXPECT_EQ(second->set.solutions.size(), first->set.solutions.size());
    ASSERT_EQ(second->set.traces.size(), first->set.traces.size());
    for (std::size_t i = 0; i < first->set.traces.size(); ++i)
      EXPECT_EQ(encode_trace(second->set.traces[i]).value(),
                encode_trace(first->set.traces[i]).value());
    const KernwrightExt& ext = second->set.definitions[0].ext;
    EXPECT_EQ(ext.oracle.source_text, first->set.definitions[0].ext.oracle.source_text);
  }
}

TEST(Export, RefusesBeforeWritingAnything) {
  auto dir = TempDir::create();
  auto loaded = load_any(golden("trace_set"));
  ASSERT_TRUE(loaded);
  TraceSet set = loaded->set;
  set.definitions[0].op_type = "../../escape";
  EXPECT_FALSE(export_trace_set(set, dir->file("a")));
  set = loaded->set;
  set.traces[0].evaluation->performance.reset();
  EXPECT_FALSE(export_trace_set(set, dir->file("a")));
  set = loaded->set;
  set.solutions[0].author = "a/b";
  EXPECT_FALSE(export_trace_set(set, dir->file("a")));
  set = loaded->set;
  set.root = "/nowhere";
  EXPECT_THAT(export_trace_set(set, dir->file("a")).error().message, HasSubstr("does not exist"));
  EXPECT_FALSE(is_dir(dir->file("a")));
}

} // namespace
} // namespace kw
