// SPDX-License-Identifier: Apache-2.0
#include "formats/definition_json.hpp"

#include "formats/formats_testing.hpp"
#include "formats/python_scan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

using testing::HasSubstr;

std::string issues_of(const std::string& text) {
  Issues issues;
  const auto d = decode_definition(text, "d.json", issues);
  EXPECT_EQ(d.has_value(), !has_errors(issues));
  return listing(issues);
}
std::string issues_with(const std::string& from, const std::string& to) {
  const std::string text = definition_text(from, to);
  EXPECT_NE(text, definition_text()) << from;
  return issues_of(text);
}

TEST(DefinitionJson, ReadsEveryField) {
  Issues issues;
  const auto d = decode_definition(definition_text(), "dir/d.json", issues);
  ASSERT_TRUE(d) << listing(issues);
  EXPECT_TRUE(issues.empty()) << listing(issues);
  ASSERT_EQ(d->axes.size(), 2u);
  EXPECT_TRUE(d->axes[0].is_variable());
  EXPECT_EQ(d->axes[1].value, 8); // `type` left out, number as text
  EXPECT_EQ(d->inputs[0].name, "x");
  EXPECT_TRUE(d->inputs[1].is_scalar());
  EXPECT_EQ(d->outputs[0].dtype, DType::bfloat16);
  EXPECT_TRUE(d->ext.present);
  EXPECT_EQ(d->ext.flops, "rows * cols");
  EXPECT_EQ(d->ext.inputs.at("s").limit, "rows");
  EXPECT_EQ(d->ext.tolerance.at("y").eta, 2);
}

TEST(DefinitionJson, RoundTripKeepsOrderAndUnknownKeys) {
  const std::string text = R"({"name":"d","op_type":"e","zeta":{"b":1,"a":[null]},
    "axes":{"n":{"type":"var","parent":"m"},"m":{"type":"var"}},
    "inputs":{"z":{"shape":["n"],"dtype":"int8","layout":"row"},"a":{"shape":[],"dtype":"bool"}},
    "outputs":{"o":{"shape":["m"],"dtype":"float4_e2m1"}},"reference":"def run(z, a): return z",
    "x_kernwright":{"family":"f","mystery":[1]}})";
  Issues issues;
  const auto first = decode_definition(text, "d.json", issues);
  ASSERT_TRUE(first);
  EXPECT_THAT(listing(issues), HasSubstr("unknown key `zeta`"));
  EXPECT_THAT(listing(issues), HasSubstr("d.json:2:40: unknown key `parent`"));
  EXPECT_THAT(listing(issues), HasSubstr("unknown key `layout`"));
  EXPECT_THAT(listing(issues), HasSubstr("unknown key `mystery`"));
  const std::string written = encode_definition(*first, SourceForm::by_name);
  EXPECT_THAT(written, HasSubstr("\"mystery\""));
  EXPECT_LT(written.find("\"z\""), written.find("\"a\": {\n"));
  Issues more;
  const auto second = decode_definition(written, "d.json", more);
  ASSERT_TRUE(second);
  EXPECT_EQ(encode_definition(*second, SourceForm::by_name), written);
  EXPECT_EQ(definition_hash(*first), definition_hash(*second));
}

TEST(DefinitionJson, ErrorsNamePositionAndRemedy) {
  EXPECT_THAT(issues_with(R"("shape": ["rows", "cols"], "dtype": "float32")",
                          R"("shape": ["rows", "colls"], "dtype": "float32")"),
              HasSubstr("error d.json:4:38: tensor `x` uses the axis `colls`, which is not "
                        "declared | did you mean `cols`?"));
  EXPECT_THAT(issues_with("\"float32\"", "\"float64\""), HasSubstr("no dtype of the schema"));
  EXPECT_THAT(issues_with("\"float32\"", "\"flaot32\""), HasSubstr("did you mean `float32`?"));
  EXPECT_THAT(issues_with(R"({"type": "var"})", R"({"type": "variable"})"),
              HasSubstr("unknown type"));
  EXPECT_THAT(issues_with(R"({"value": "8"})", R"({"value": -8})"), HasSubstr("negative"));
  EXPECT_THAT(issues_with(R"({"value": "8"})", "8"), HasSubstr(R"({"type": "const", "value": 8})"));
  EXPECT_THAT(issues_with(R"({"value": "8"})", R"({"type": "const"})"),
              HasSubstr("`value` is missing"));
  EXPECT_THAT(issues_with(R"(["rows", "cols"])", R"(["rows", 8])"), HasSubstr("not an axis name"));
  EXPECT_THAT(issues_with(R"("shape": null, )", ""), HasSubstr("has no `shape`"));
  EXPECT_THAT(issues_with("\"y\": {\"shape\"", "\"x\": {\"shape\""),
              HasSubstr("both an input and an output"));
  EXPECT_THAT(issues_with("\"name\": \"d\"", "\"name\": \"\""), HasSubstr("must not be empty"));
  EXPECT_THAT(issues_with("\"op_type\": \"ew\",", ""), HasSubstr("the key `op_type` is missing"));
  EXPECT_THAT(issues_with("\"op_type\"", "\"tags\": [3], \"op_type\""),
              HasSubstr("non-empty strings"));
  EXPECT_THAT(issues_with("\"op_type\"", "\"tags\": null, \"op_type\""), HasSubstr("warning"));
  EXPECT_THAT(issues_with("\"op_type\"", "\"constraints\": [\"a[-1\"], \"op_type\""),
              HasSubstr("no Python expression"));
  EXPECT_EQ(issues_with("\"op_type\"", "\"constraints\": [\"rows == x[-1].item()\"], \"op_type\""),
            "");
}

TEST(DefinitionJson, CollectsAllErrors) {
  Issues issues;
  EXPECT_FALSE(decode_definition(
      R"({"name":1,"axes":[],"inputs":{"x":{"shape":["q"],"dtype":"f"}},"outputs":3})", "d.json",
      issues));
  EXPECT_GE(issues.size(), 6u) << listing(issues);
}

TEST(DefinitionJson, ReferenceNeedsATopLevelRun) {
  const std::string good = R"(def run(x, s):\n    return x\n)";
  EXPECT_THAT(issues_with(good, R"(async def run(x):\n    pass\n)"),
              HasSubstr("not `async def run`"));
  EXPECT_THAT(issues_with(good, R"(run = lambda x: x\n)"), HasSubstr("no top-level `def run`"));
  EXPECT_THAT(issues_with(good, R"(class A:\n    def run(x): pass\n)"),
              HasSubstr("no top-level `def run`"));
  EXPECT_THAT(issues_with(good, R"('''\ndef run(x): pass\n'''\n)"),
              HasSubstr("no top-level `def run`"));
  EXPECT_THAT(issues_with(good, R"(def runs(x): pass\n)"), HasSubstr("no top-level `def run`"));
  EXPECT_EQ(
      issues_with(
          good,
          R"(import torch\n@torch.no_grad()\ndef  run(x): # it's (fine\n    return '\\'(' + \"\"\"]\n\"\"\"\n)"),
      "");
  EXPECT_THAT(issues_with(good, R"(def run(x):\n    return (x\n)"),
              HasSubstr("warning d.json:6:16: the reference does not look like Python, line 2: `(` "
                        "is never closed"));
}

TEST(DefinitionJson, ReferenceMayStandInAFile) {
  const std::string text = definition_text(R"("reference": "def run(x, s):\n    return x\n",)", "");
  Issues issues;
  EXPECT_FALSE(decode_definition(text, "d.json", issues));
  issues.clear();
  const auto d = decode_definition(text, "d.json", issues, ReferenceRule::may_be_in_file);
  ASSERT_TRUE(d) << listing(issues);
  EXPECT_EQ(d->ext.reference_file, "reference.py");
}

TEST(DefinitionExt, IsValidated) {
  EXPECT_THAT(issues_with("rows * cols", "rows * clos"),
              HasSubstr("which is no axis | did you mean `cols`?"));
  EXPECT_THAT(issues_with("rows * cols", "rows * * cols"), HasSubstr("column 8"));
  EXPECT_EQ(issues_with("\"rows * cols\"", "1000"), "");
  EXPECT_THAT(issues_with("\"limit\": \"rows\"", "\"limits\": 3"), HasSubstr("needs a `limit`"));
  EXPECT_THAT(issues_with("\"limit\": \"rows\"", "\"limit\": \"rows\", \"clases\": []"),
              HasSubstr("did you mean `classes`?"));
  EXPECT_THAT(issues_with("\"indices\"", "\"normal\""), HasSubstr("draws real numbers"));
  EXPECT_THAT(issues_with("\"indices\"", "\"gaussian\""), HasSubstr("unknown kind of input"));
  EXPECT_THAT(issues_with("\"limit\": \"rows\"", "\"limit\": \"rows\", \"classes\": [\"sprase\"]"),
              HasSubstr("did you mean `sparse`?"));
  EXPECT_THAT(issues_with("\"indices\"", "\"offsets\""), HasSubstr("cannot hold offsets"));
  EXPECT_THAT(issues_with("\"indices\"", "\"slots\""), HasSubstr("cannot hold slots"));
  EXPECT_THAT(issues_with("\"indices\"", "\"slots\", \"low\": 2"), HasSubstr("no shares of a row"));
  EXPECT_THAT(issues_with("\"limit\": \"rows\"", "\"limit\": \"rows\", \"hold\": true"),
              HasSubstr("cannot be held"));
  EXPECT_THAT(issues_with("\"s\": {\"kind\"", "\"t\": {\"kind\""),
              HasSubstr("`t` is no input of `d`"));
  EXPECT_THAT(issues_with("\"y\": {\"eta\"", "\"x\": {\"eta\""),
              HasSubstr("`x` is no output of `d`"));
  EXPECT_THAT(issues_with("\"eta\": 2", "\"eta\": 0"), HasSubstr("allows nothing"));
  EXPECT_THAT(issues_with("\"eta\": 2", "\"eta\": -1"), HasSubstr("0 or more"));
  EXPECT_THAT(issues_with("\"eta\": 2", "\"eta\": 2, \"exact\": true"), HasSubstr("no room"));
  EXPECT_THAT(issues_with("\"eta\": 2", "\"eta\": 2, \"accumulate\": \"int8\""),
              HasSubstr("no floating-point dtype"));
  EXPECT_THAT(issues_with("\"bfloat16\"", "\"int8\""), HasSubstr("write \"exact\": true"));
  EXPECT_THAT(
      issues_with("\"flops\"",
                  "\"oracle\": {\"source\": \"../../etc/passwd\", \"entry\": \"f\"}, \"flops\""),
      HasSubstr("leaves the operator's folder"));
  EXPECT_THAT(issues_with("\"flops\"",
                          "\"oracle\": {\"source\": \"/etc/passwd\", \"entry\": \"f\"}, \"flops\""),
              HasSubstr("leaves the operator's folder"));
  EXPECT_THAT(issues_with("\"flops\"", "\"templates\": [\"a/../../b\"], \"flops\""),
              HasSubstr("leaves the operator's folder"));
  EXPECT_THAT(issues_with("\"flops\"",
                          "\"oracle\": {\"source\": \"o.cpp\", \"entry\": \"f();\"}, \"flops\""),
              HasSubstr("no function name"));
  EXPECT_THAT(
      issues_with("\"flops\"", "\"peers\": [{\"name\": \"p\", \"kind\": \"rust\"}], \"flops\""),
      HasSubstr("unknown kind of peer"));
  EXPECT_THAT(issues_with("\"flops\"", "\"protocol\": \"hot\", \"flops\""),
              HasSubstr("unknown protocol"));
  EXPECT_THAT(issues_with("\"flops\"", "\"min_tier\": \"T9\", \"flops\""),
              HasSubstr("unknown sandbox tier"));
  EXPECT_THAT(issues_with("\"flops\"", "\"threads\": 0, \"flops\""),
              HasSubstr("between 1 and 1024"));
  EXPECT_THAT(issues_with("\"flops\"", "\"version\": 2, \"flops\""), HasSubstr("newer Kernwright"));
}

/// `y` holds places of `x`, `v` the elements there; `policy` is the tolerance of `y`.
std::string ranking_text(const std::string& policy, const std::string& y = "int32",
                         const std::string& classes = R"("normal", "near_ties")",
                         const std::string& shape = R"("rows", "k")") {
  return R"({"name": "d", "op_type": "topk",
  "axes": {"rows": {"type": "var"}, "n": {"type": "var"}, "k": {"value": 8}},
  "inputs": {"x": {"shape": ["rows", "n"], "dtype": "float32"}, "s": {"shape": null, "dtype": "int32"}},
  "outputs": {"v": {"shape": ["rows", "k"], "dtype": "float32"}, "w": {"shape": ["rows"], "dtype": "float32"},
              "y": {"shape": [)" +
         shape + R"(], "dtype": ")" + y + R"("}},
  "reference": "def run(x, s):\n    return x\n",
  "x_kernwright": {"inputs": {"x": {"classes": [)" +
         classes + R"(]}}, "tolerance": {"v": {"exact": true}, "w": {"eta": 2}, "y": {)" + policy +
         R"(}}}})";
}

TEST(DefinitionExt, RankingsAreReadAndWritten) {
  Issues issues;
  auto d = decode_definition(ranking_text(R"("ranks": "x", "values": "v")"), "d.json", issues);
  ASSERT_TRUE(d) << listing(issues);
  EXPECT_TRUE(issues.empty()) << listing(issues);
  EXPECT_EQ(d->ext.tolerance.at("y").ranks, "x");
  EXPECT_EQ(d->ext.tolerance.at("y").values, "v");
  d->ext_json.clear(); // written from the record
  const auto again =
      decode_definition(encode_definition(*d, SourceForm::by_name), "d.json", issues);
  ASSERT_TRUE(again) << listing(issues);
  EXPECT_EQ(again->ext.tolerance.at("y").ranks, "x");
  EXPECT_EQ(again->ext.tolerance.at("y").values, "v");
  EXPECT_EQ(issues_of(ranking_text(R"("ranks": "x")", "int64")), "") << "values may be left out";
}

TEST(DefinitionExt, RankingsThatMeanNothing) {
  const std::string good = R"("ranks": "x")";
  EXPECT_THAT(issues_of(ranking_text(R"("ranks": "xx")")), HasSubstr("`xx` is no input"));
  EXPECT_THAT(issues_of(ranking_text(R"("ranks": "s")")), HasSubstr("cannot rank `s`"));
  EXPECT_THAT(issues_of(ranking_text(R"("ranks": "x", "exact": true)")),
              HasSubstr("leaves no room for exact"));
  EXPECT_THAT(issues_of(ranking_text(R"("ranks": "x", "eta": 1)")), HasSubstr("leaves no room"));
  EXPECT_THAT(issues_of(ranking_text(R"("values": "v")")), HasSubstr("belongs to `ranks`"));
  EXPECT_THAT(issues_of(ranking_text(good, "float32")), HasSubstr("cannot hold places"));
  EXPECT_THAT(issues_of(ranking_text(good, "bool")), HasSubstr("cannot hold places"));
  EXPECT_THAT(issues_of(ranking_text(good, "int32", R"("near_ties")", R"("n", "k")")),
              HasSubstr("same axes but for the last"));
  EXPECT_THAT(issues_of(ranking_text(R"("ranks": "x", "values": "q")")),
              HasSubstr("`q` is no output"));
  EXPECT_THAT(issues_of(ranking_text(R"("ranks": "x", "values": "w")")),
              HasSubstr("`w` must have the shape of `y`"));
  EXPECT_THAT(issues_of(ranking_text(good, "int32", R"("normal")")),
              HasSubstr("warning d.json:7:48: `x` is ranked, but its classes leave out"));
  EXPECT_THAT(issues_of(ranking_text(R"("exact": true)")), HasSubstr("no output ranks `x`"));
}

/// `y` has the ids of the best tokens of sequences in pages.
std::string selecting_text(const std::string& policy,
                           const std::string& table = R"("lengths": "n")",
                           const std::string& lengths = R"("page": "tokens", "edges": ["k"])",
                           const std::string& y = "int32", const std::string& cache = "int8") {
  return R"({"name": "d", "op_type": "indexer",
  "axes": {"rows": {"type": "var"}, "width": {"type": "var"}, "pages": {"type": "var"},
           "tokens": {"value": 16}, "bytes": {"value": 36}, "k": {"value": 8}},
  "inputs": {"c": {"shape": ["pages", "tokens", "bytes"], "dtype": ")" +
         cache + R"("}, "n": {"shape": ["rows"], "dtype": "int32"},
             "t": {"shape": ["rows", "width"], "dtype": "int32"}},
  "outputs": {"y": {"shape": ["rows", "k"], "dtype": ")" +
         y + R"("}},
  "reference": "def run(c, n, t):\n    return t\n",
  "x_kernwright": {"oracle": {"source": "oracle.cpp", "entry": "oracle"},
    "inputs": {"c": {"kind": "fp8_pages", "classes": ["normal", "near_ties"]},
               "n": {"kind": "lengths", "limit": "width * tokens", )" +
         lengths + R"(}, "t": {"kind": "block_table", "limit": "pages", )" + table +
         R"(}}, "tolerance": {"y": {)" + policy + R"(}}}})";
}

TEST(DefinitionExt, SelectionsAreReadAndWritten) {
  const std::string good = R"("selects": "width * tokens", "eta": 4)";
  Issues issues;
  auto d = decode_definition(
      selecting_text(good, R"("lengths": "n")", R"("page": "tokens", "edges": ["k", "k + 1"])"),
      "d.json", issues);
  ASSERT_TRUE(d) << listing(issues);
  EXPECT_TRUE(issues.empty()) << listing(issues);
  d->ext_json.clear(); // written from the record
  const auto again =
      decode_definition(encode_definition(*d, SourceForm::by_name), "d.json", issues);
  ASSERT_TRUE(again) << listing(issues);
  EXPECT_EQ(again->ext.tolerance.at("y").selects, "width * tokens");
  EXPECT_EQ(again->ext.tolerance.at("y").eta, 4);
  const InputRule& n = again->ext.inputs.at("n");
  EXPECT_EQ(n.page, "tokens");
  EXPECT_THAT(n.edges, testing::ElementsAre("k", "k + 1"));
  EXPECT_EQ(again->ext.inputs.at("t").lengths, "n");
}

TEST(DefinitionExt, SelectionsThatMeanNothing) {
  const std::string n = R"("lengths": "n")", good = R"("selects": "width * tokens", "eta": 4)",
                    page = R"("page": "tokens")";
  EXPECT_THAT(issues_of(selecting_text(R"("selects": "width")")), HasSubstr("needs `eta`"));
  EXPECT_THAT(issues_of(selecting_text(R"("selects": "with", "eta": 4)")),
              HasSubstr("did you mean `width`?"));
  EXPECT_THAT(issues_of(selecting_text(good + R"(, "exact": true)")),
              HasSubstr("leaves no room for exact"));
  EXPECT_THAT(issues_of(selecting_text(good, n, page, "float32")), HasSubstr("cannot hold ids"));
  EXPECT_THAT(issues_of(selecting_text(good, n, page, "int32", "float32")),
              HasSubstr("`c` cannot hold pages of float8"));
  EXPECT_THAT(issues_of(selecting_text(good, n, R"("edges": [])")),
              HasSubstr("`lengths` needs a `page`"));
  EXPECT_THAT(issues_of(selecting_text(good, n, R"("page": "tokens", "edges": ["kk"])")),
              HasSubstr("uses `kk`, which is no axis"));
  EXPECT_THAT(issues_of(selecting_text(good, R"("classes": [])", page)),
              HasSubstr("`block_table` needs `lengths`"));
  EXPECT_THAT(issues_of(selecting_text(good, R"("lengths": "m")", page)),
              HasSubstr("`m` is no input"));
  EXPECT_THAT(issues_of(selecting_text(good, R"("lengths": "c")", page)),
              HasSubstr("`c` is not of kind lengths"));
  std::string python = selecting_text(good, n, page);
  const std::string oracle = R"("oracle": {"source": "oracle.cpp", "entry": "oracle"},)";
  python.erase(python.find(oracle), oracle.size());
  EXPECT_THAT(issues_of(python), HasSubstr("needs an oracle in C++"));
  std::string rows = selecting_text(good, n, page);
  const std::string of = R"("n": {"shape": ["rows"])";
  rows.replace(rows.find(of), of.size(), R"("n": {"shape": ["pages"])");
  EXPECT_THAT(issues_of(rows), HasSubstr("must have a row for every sequence of `n`"));
}

/// A router's scores: ranked within the operator, by no output.
std::string routing_text(const std::string& rule,
                         const std::string& oracle = R"("source": "oracle.cpp", "entry": "f")") {
  return R"({"name": "d", "op_type": "moe", "axes": {"rows": {"type": "var"}, "n": {"value": 8}},
  "inputs": {"x": {"shape": ["rows", "n"], "dtype": "float32"}},
  "outputs": {"y": {"shape": ["rows"], "dtype": "float32"}},
  "reference": "def run(x):\n    return x\n",
  "x_kernwright": {"oracle": {)" +
         oracle + R"(}, "inputs": {"x": {)" + rule + R"(}}, "tolerance": {"y": {"eta": 4}}}})";
}

TEST(DefinitionExt, TheOracleMayMakeNearTies) {
  Issues issues;
  const std::string good = R"("classes": ["normal", "near_ties"], "near_ties_entry": "close")";
  const auto d = decode_definition(routing_text(good), "d.json", issues);
  ASSERT_TRUE(d) << listing(issues);
  EXPECT_EQ(listing(issues), "");
  EXPECT_EQ(d->ext.inputs.at("x").near_ties_entry, "close");
  EXPECT_NE(encode_definition(*d, SourceForm::by_name).find("\"near_ties_entry\""),
            std::string::npos);
  EXPECT_THAT(issues_of(routing_text(R"("near_ties_entry": "close")")),
              HasSubstr("the classes of `x` leave out `near_ties`"));
  EXPECT_THAT(issues_of(routing_text(good, "")), HasSubstr("there is none"));
  EXPECT_THAT(issues_of(routing_text(R"("classes": ["near_ties"], "near_ties_entry": "2x")")),
              HasSubstr("no function name"));
}

std::string sampling_text(const std::string& policy, const std::string& token = "int32",
                          const std::string& seed = R"([], "dtype": "int64")",
                          const std::string& shape = R"("rows")") {
  return R"({"name": "d", "op_type": "sampling",
  "axes": {"rows": {"type": "var"}, "n": {"type": "var"}},
  "inputs": {"x": {"shape": ["rows", "n"], "dtype": "float32"}, "s": {"shape": )" +
         seed + R"(}},
  "outputs": {"y": {"shape": [)" +
         shape + R"(], "dtype": ")" + token + R"("}},
  "reference": "def run(x, s):\n    return x\n",
  "x_kernwright": {"tolerance": {"y": {)" +
         policy + R"(}}}})";
}

TEST(DefinitionExt, SamplingIsReadAndWritten) {
  Issues issues;
  auto d = decode_definition(sampling_text(R"("samples": "x", "top_p": 0.75, "seed": "s")"),
                             "d.json", issues);
  ASSERT_TRUE(d) << listing(issues);
  EXPECT_TRUE(issues.empty()) << listing(issues);
  d->ext_json.clear(); // written from the record
  const auto again =
      decode_definition(encode_definition(*d, SourceForm::by_name), "d.json", issues);
  ASSERT_TRUE(again) << listing(issues);
  const TolerancePolicy& p = again->ext.tolerance.at("y");
  EXPECT_EQ(p.samples, "x");
  EXPECT_EQ(p.top_p, 0.75);
  EXPECT_EQ(p.seed, "s");
}

TEST(DefinitionExt, SamplingThatMeansNothing) {
  const std::string good = R"("samples": "x", "seed": "s")";
  EXPECT_EQ(issues_of(sampling_text(good)), "");
  EXPECT_THAT(issues_of(sampling_text(R"("samples": "xx", "seed": "s")")),
              HasSubstr("`xx` is no input"));
  EXPECT_THAT(issues_of(sampling_text(R"("samples": "x")")), HasSubstr("is no input"));
  EXPECT_THAT(issues_of(sampling_text(R"("top_p": 0.5)")), HasSubstr("belong to `samples`"));
  EXPECT_THAT(issues_of(sampling_text(good + R"(, "top_p": 0)")), HasSubstr("no share"));
  EXPECT_THAT(issues_of(sampling_text(good + R"(, "top_p": 1.5)")), HasSubstr("no share"));
  EXPECT_THAT(issues_of(sampling_text(good + R"(, "exact": true)")), HasSubstr("leaves no room"));
  EXPECT_THAT(issues_of(sampling_text(good, "float32")), HasSubstr("cannot hold places"));
  EXPECT_THAT(issues_of(sampling_text(good, "int32", R"([], "dtype": "float32")")),
              HasSubstr("`s` is no seed"));
  EXPECT_THAT(issues_of(sampling_text(good, "int32", R"([], "dtype": "int64")", R"("rows", "n")")),
              HasSubstr("with one axis more"));
}

TEST(DefinitionExt, MadeInMemoryIsWrittenFromTheRecord) {
  Issues issues;
  auto d = decode_definition(definition_text(), "d.json", issues);
  ASSERT_TRUE(d);
  d->ext_json.clear();
  d->ext.oracle = {"oracle.cpp", "// text\n", "oracle", "", ""};
  d->ext.peers.push_back({"p", "c++", "p.cpp", "// p\n", "peer", {"openblas"}});
  const auto by_name =
      decode_definition(encode_definition(*d, SourceForm::by_name), "d.json", issues);
  ASSERT_TRUE(by_name) << listing(issues);
  EXPECT_EQ(by_name->ext.oracle.source_text, "");
  EXPECT_EQ(by_name->ext.tolerance.at("y").reduction, "cols");
  const auto inlined =
      decode_definition(encode_definition(*d, SourceForm::inlined), "d.json", issues);
  ASSERT_TRUE(inlined) << listing(issues);
  EXPECT_EQ(inlined->ext.oracle.source_text, "// text\n");
  EXPECT_EQ(inlined->ext.peers.at(0).source_text, "// p\n");
}

TEST(DefinitionHash, ChangesWithTheSourcesOfTheContract) {
  Issues issues;
  auto d = decode_definition(definition_text(), "d.json", issues);
  ASSERT_TRUE(d);
  const std::string before = definition_hash(*d);
  d->ext.oracle = {"oracle.cpp", "// changed\n", "oracle", "", ""};
  EXPECT_NE(definition_hash(*d), before);
}

} // namespace
} // namespace kw
