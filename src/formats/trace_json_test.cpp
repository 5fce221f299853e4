// SPDX-License-Identifier: Apache-2.0
#include "formats/trace_json.hpp"

#include "formats/formats_testing.hpp"

#include <cmath>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

using testing::HasSubstr;

std::string line(const std::string& evaluation, const std::string& solution = "\"s\"") {
  return fmt::format(
      R"({{"definition":"d","workload":{{"uuid":"u","axes":{{"n":4}},"inputs":{{}}}},"solution":{},"evaluation":{}}})",
      solution, evaluation);
}
std::string evaluation(const std::string& status, const std::string& correctness,
                       const std::string& performance) {
  return fmt::format(
      R"({{"status":"{}","environment":{{"hardware":"h","libs":{{"a":"1"}}}},"timestamp":"t","correctness":{},"performance":{}}})",
      status, correctness, performance);
}
std::string trace_issues_of(const std::string& text) {
  Issues issues;
  const bool read = decode_trace(text, "t.jsonl", 3, issues).has_value();
  EXPECT_EQ(read, !has_errors(issues));
  return listing(issues);
}

TEST(TraceJson, WorkloadLine) {
  Issues issues;
  const auto t = decode_trace(
      R"({"definition":"d","workload":{"uuid":"u","axes":{"n":"4"},"inputs":{"x":{},"a":{"value":true},"i":{"type":"scalar","value":3},"f":{"type":"scalar","value":3.0},"b":{"path":"p","tensor_key":"k"}},"x_kernwright":{"weight":2.5}}})",
      "w.jsonl", 7, issues);
  ASSERT_TRUE(t) << listing(issues);
  EXPECT_TRUE(issues.empty()) << listing(issues);
  EXPECT_TRUE(t->is_workload());
  const Workload& w = t->workload;
  EXPECT_EQ(w.axes.at(0).second, 4);
  EXPECT_EQ(w.weight, 2.5);
  EXPECT_EQ(w.where, "w.jsonl:7");
  EXPECT_TRUE(std::holds_alternative<RandomInput>(w.inputs[0].second));
  EXPECT_EQ(std::get<ScalarInput>(w.inputs[1].second).written, ScalarInput::Written::boolean);
  EXPECT_EQ(std::get<ScalarInput>(w.inputs[2].second).written, ScalarInput::Written::integer);
  EXPECT_EQ(std::get<ScalarInput>(w.inputs[3].second).written, ScalarInput::Written::floating);
  EXPECT_EQ(std::get<SafetensorsInput>(w.inputs[4].second).tensor_key, "k");
  EXPECT_EQ(
      encode_workload_line(w, "d"),
      R"({"definition":"d","workload":{"uuid":"u","axes":{"n":4},"inputs":{"x":{"type":"random"},"a":{"type":"scalar","value":true},"i":{"type":"scalar","value":3},"f":{"type":"scalar","value":3.0},"b":{"type":"safetensors","path":"p","tensor_key":"k"}},"x_kernwright":{"weight":2.5}},"solution":null,"evaluation":null})");
}

TEST(TraceJson, WorkloadErrors) {
  const auto with = [](const std::string& workload) {
    return trace_issues_of(R"({"definition":"d","workload":)" + workload + "}");
  };
  EXPECT_THAT(with(R"({"uuid":"","axes":{},"inputs":{}})"),
              HasSubstr("error t.jsonl:3:38: `uuid` must not be empty"));
  EXPECT_THAT(with(R"({"uuid":"u","axes":{"n":-1},"inputs":{}})"), HasSubstr("0 or more"));
  EXPECT_THAT(with(R"({"uuid":"u","axes":{"n":1.5},"inputs":{}})"), HasSubstr("0 or more"));
  EXPECT_THAT(with(R"({"uuid":"u","axes":{}})"), HasSubstr("`inputs` is missing"));
  EXPECT_THAT(with(R"({"uuid":"u","axes":{},"inputs":{"x":{"type":"zeros"}}})"),
              HasSubstr("unknown type `zeros`"));
  EXPECT_THAT(with(R"({"uuid":"u","axes":{},"inputs":{"x":3}})"),
              HasSubstr(R"({"type": "scalar", "value": 3})"));
  EXPECT_THAT(with(R"({"uuid":"u","axes":{},"inputs":{"x":{"type":"scalar"}}})"),
              HasSubstr("has no `value`"));
  EXPECT_THAT(with(R"({"uuid":"u","axes":{},"inputs":{"x":{"type":"safetensors","path":"p"}}})"),
              HasSubstr("`tensor_key` is missing"));
  EXPECT_THAT(with(R"({"uuid":"u","axes":{},"inputs":{},"x_kernwright":{"weight":0}})"),
              HasSubstr("above 0"));
  EXPECT_THAT(with("null"), HasSubstr("`workload` must be an object"));
}

TEST(TraceJson, CrossRulesOfStatus) {
  const std::string c = R"({"max_relative_error":0})", p = R"({"latency_ms":1})";
  EXPECT_EQ(trace_issues_of(line(evaluation("PASSED", c, p))), "");
  EXPECT_EQ(trace_issues_of(line(evaluation("INCORRECT_NUMERICAL", c, "null"))), "");
  for (const char* status :
       {"RUNTIME_ERROR", "COMPILE_ERROR", "TIMEOUT", "INCORRECT_SHAPE", "INCORRECT_DTYPE"}) {
    EXPECT_EQ(trace_issues_of(line(evaluation(status, "null", "null"))), "");
    EXPECT_THAT(trace_issues_of(line(evaluation(status, c, "null"))),
                HasSubstr("excludes `correctness`"));
    EXPECT_THAT(trace_issues_of(line(evaluation(status, "null", p))),
                HasSubstr("excludes `performance`"));
  }
  EXPECT_THAT(trace_issues_of(line(evaluation("PASSED", "null", p))),
              HasSubstr("needs `correctness`"));
  EXPECT_THAT(trace_issues_of(line(evaluation("PASSED", c, "null"))),
              HasSubstr("needs `performance`"));
  EXPECT_THAT(trace_issues_of(line(evaluation("INCORRECT_NUMERICAL", c, p))),
              HasSubstr("excludes `performance`"));
  EXPECT_THAT(trace_issues_of(line(evaluation("CRASH", "null", "null"))),
              HasSubstr("unknown status `CRASH`"));
  EXPECT_THAT(trace_issues_of(line("null")), HasSubstr("warning"));
  EXPECT_THAT(trace_issues_of(line(evaluation("TIMEOUT", "null", "null"), "null")),
              HasSubstr("names no solution"));
}

TEST(TraceJson, NonFiniteFiguresInEverySpelling) {
  for (const char* text : {R"("Infinity")", "Infinity", "1e400"}) {
    Issues issues;
    const auto t =
        decode_trace(line(evaluation("INCORRECT_NUMERICAL",
                                     fmt::format(R"({{"max_absolute_error":{}}})", text), "null")),
                     "t", 1, issues);
    ASSERT_TRUE(t) << text << listing(issues);
    EXPECT_EQ(t->evaluation->correctness->max_absolute_error, INFINITY);
  }
  for (const char* text : {R"("NaN")", "NaN", "null"}) {
    Issues issues;
    const auto t =
        decode_trace(line(evaluation("INCORRECT_NUMERICAL",
                                     fmt::format(R"({{"max_absolute_error":{}}})", text), "null")),
                     "t", 1, issues);
    ASSERT_TRUE(t) << text;
    EXPECT_TRUE(std::isnan(t->evaluation->correctness->max_absolute_error));
    EXPECT_THAT(encode_trace(*t).value(), HasSubstr(R"("max_absolute_error":"NaN")"));
  }
  EXPECT_THAT(trace_issues_of(
                  line(evaluation("INCORRECT_NUMERICAL", R"({"max_absolute_error":-1})", "null"))),
              HasSubstr("0 or more"));
  EXPECT_THAT(trace_issues_of(line(evaluation("PASSED", "{}", R"({"latency_ms":Infinity})"))),
              HasSubstr("finite"));
}

TEST(TraceJson, RoundTripKeepsUnknownKeysEverywhere) {
  const std::string text =
      R"({"definition":"d","workload":{"uuid":"u","axes":{},"inputs":{"x":{"type":"random","seed":1}},"w":1,"x_kernwright":{"k":2}},"solution":"s","evaluation":{"status":"PASSED","environment":{"hardware":"h","libs":{},"e":3},"timestamp":"t","log":"l","correctness":{"max_relative_error":0.5,"max_absolute_error":0.0,"extra":{"z":null,"a":1},"c":4},"performance":{"latency_ms":1.0,"reference_latency_ms":0.0,"speedup_factor":0.0,"p":5},"v":6},"t":7})";
  Issues issues;
  const auto t = decode_trace(text, "t", 1, issues);
  ASSERT_TRUE(t) << listing(issues);
  EXPECT_EQ(issues.size(), 8u) << listing(issues);
  std::string written = encode_trace(*t).value();
  // our own x_kernwright keys come first among the kept ones
  EXPECT_EQ(written, std::string(text).replace(text.find(R"("w":1,"x_kernwright":{"k":2})"), 28,
                                               R"("x_kernwright":{"k":2},"w":1)"));
}

TEST(TraceJson, BadLinesDoNotCostTheOthers) {
  Issues issues;
  const auto all = decode_traces("\n" + line("null", "null") + "\r\n{broken\n\n" +
                                     line("null", "null") + "\n{\"definition\":1}",
                                 "t.jsonl", issues);
  EXPECT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].where, "t.jsonl:5");
  EXPECT_THAT(listing(issues), HasSubstr("error t.jsonl:3:2: "));
  EXPECT_THAT(listing(issues), HasSubstr("error t.jsonl:6:15: `definition` must be a string"));
}

TEST(TraceJson, WritingRefusesWhatOthersWouldRefuse) {
  Trace t;
  t.definition = "d";
  t.workload.uuid = "u";
  EXPECT_TRUE(encode_trace(t));
  t.solution = "s";
  EXPECT_FALSE(encode_trace(t)); // no evaluation
  t.evaluation.emplace();
  t.evaluation->hardware = "h";
  t.evaluation->timestamp = "t";
  t.evaluation->status = "OOM";
  EXPECT_FALSE(encode_trace(t));
  t.evaluation->status = "PASSED";
  EXPECT_FALSE(encode_trace(t));
  t.evaluation->correctness.emplace();
  t.evaluation->performance.emplace();
  EXPECT_TRUE(encode_trace(t));
  t.evaluation->performance->latency_ms = NAN;
  EXPECT_FALSE(encode_trace(t));
  t.evaluation->performance->latency_ms = 1;
  t.evaluation->correctness->max_absolute_error = NAN;
  EXPECT_TRUE(encode_trace(t));
  t.evaluation->timestamp.clear();
  EXPECT_FALSE(encode_trace(t));
}

} // namespace
} // namespace kw
