// SPDX-License-Identifier: Apache-2.0
#include "formats/verdict_json.hpp"

#include "formats/export.hpp"
#include "formats/formats_testing.hpp"
#include "formats/trace_json.hpp"
#include "os/files.hpp"
#include "os/temp_dir.hpp"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

using testing::HasSubstr;

Verdict full_verdict() {
  Verdict v;
  v.word = "REJECTED";
  v.finding = Finding::wrong;
  v.gate = "gate";
  v.tier = "T3";
  v.trials = 41;
  v.failure_rate_bound = 0.0495;
  v.build = {Outcome::pass, "118 ms", {"line"}};
  v.sandbox = {Outcome::pass, "T3", {}};
  v.correctness = {Outcome::fail, "3 of 24576 wrong", {"first at [7, 1033]"}};
  v.diagnostics.push_back({"warning", "k.cpp", 3, 7, "-Wfoo", "odd", "  x\n  ^"});
  v.mismatch =
      Mismatch{"u", "ties", 40, "y", {7, 1033}, NAN, -INFINITY, 2e-5, 3, 24576, "scattered"};
  v.workloads.push_back({"u", 41, 1, 3.5, INFINITY, 0.25});
  TimingEvidence t;
  t.protocol = "warm";
  t.doorbell = "spin";
  t.window_ns = 3e6;
  t.windows_per_half = 4;
  t.aa_sigma = 0.004;
  t.fit = true;
  PairedTiming p;
  p.uuid = "u";
  p.baseline = "plain-c++";
  p.log_ratios = {0.5, -0.25};
  p.candidate_ns = {1000, 1100};
  p.baseline_ns = {2000, 2100};
  p.speedup = 1.95;
  p.low = 1.9;
  p.high = 2;
  p.decision = "faster";
  t.gate.push_back(p);
  v.times = t;
  v.cost_ms = {{"build", 118}, {"total", 300.5}};
  return v;
}
Probe full_probe() {
  Probe p;
  p.id = "ab12";
  p.run = "0007";
  p.definition = "d";
  p.solution.name = "s";
  p.solution.definition = "d";
  p.solution.author = "me";
  p.solution.spec.entry_point = "k.cpp::run";
  p.solution.spec.binding = "kernwright";
  p.solution.sources.push_back({"k.cpp", "int run;\n"});
  p.verdict = full_verdict();
  p.environment.hardware = "cpu";
  p.environment.more = {{"microcode", "1"}};
  p.started_at = "2026-01-02T03:04:05Z";
  p.wall_ms = 300.5;
  p.estimate = -0.125;
  return p;
}

/// The text of the golden file; a changed encoding needs a new schema version or a new golden file.
std::string stored(const std::string& name, const std::string& now) {
  const std::string path = golden("records/" + name);
  if (std::getenv("KW_UPDATE_GOLDEN") != nullptr) {
    EXPECT_TRUE(make_dirs(parent_path(path)));
    EXPECT_TRUE(write_file_atomic(path, now + "\n"));
  }
  std::string text = read_file(path).value_or("");
  if (text.ends_with('\n'))
    text.pop_back();
  return text;
}

TEST(VerdictJson, GoldenFilesOfVersionOne) {
  EXPECT_EQ(encode_verdict(full_verdict()), stored("verdict.json", encode_verdict(full_verdict())));
  EXPECT_EQ(encode_probe(full_probe()), stored("probe.json", encode_probe(full_probe())));
  const Record r{"id", "prev", "ab12", "d",         "s",
                 2.5,  2.4,    2.6,    "plain-c++", "2026-01-02T03:04:05Z"};
  EXPECT_EQ(encode_record(r), stored("record.json", encode_record(r)));
  const kw::Run run{"0007", "d", "running", "{}", "2026-01-02T03:04:05Z", "", "ab12"};
  EXPECT_EQ(encode_run(run), stored("run.json", encode_run(run)));
}

TEST(VerdictJson, PlaceOfErrorsHasItsOwnGoldenFile) {
  Verdict v = full_verdict();
  v.mismatch->place = MismatchPlace{.cluster = "last columns",
                                    .text = "all in columns 496..511",
                                    .rows = 8,
                                    .columns = 512,
                                    .bad_rows = 6,
                                    .bad_columns = 16,
                                    .first_row = 0,
                                    .last_row = 5,
                                    .first_column = 496,
                                    .last_column = 511,
                                    .relative_error = 0.125,
                                    .worst_row = 3,
                                    .worst_row_error = 0.5,
                                    .worst_tile_row = 0,
                                    .worst_tile_column = 496,
                                    .worst_tile_error = INFINITY,
                                    .max_abs = 2,
                                    .max_eta = 1e6,
                                    .max_ulp = 8388608};
  v.workloads[0].max_ulp = 3;
  const std::string text = encode_verdict(v);
  EXPECT_EQ(text, stored("verdict_place.json", text));
  const auto back = decode_verdict(text);
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(encode_verdict(*back), text);
  EXPECT_EQ(back->mismatch->place->last_column, 511U);
  EXPECT_EQ(back->workloads[0].max_ulp, 3);
  EXPECT_FALSE(decode_verdict(encode_verdict(full_verdict()))->mismatch->place);
}

TEST(VerdictJson, PrecisionHasItsOwnGoldenFile) {
  Verdict v = full_verdict();
  v.precision = PrecisionEvidence{.word = std::string(reduced_precision),
                                  .summary = "error 9x of plain-c++'s",
                                  .baseline = "plain-c++",
                                  .trials = 16,
                                  .exact_probes = 1,
                                  .output = "y",
                                  .input_class = "normal",
                                  .ratio = 9,
                                  .excess = 4.5,
                                  .candidate_rms = 4.5,
                                  .baseline_rms = 0.5,
                                  .candidate_max = 7,
                                  .baseline_max = INFINITY};
  v.exercise =
      Exercise{.end_aligned = 170, .start_aligned = 169, .shapes = 16, .ragged = 9, .hidden = 8};
  const std::string text = encode_verdict(v);
  EXPECT_EQ(text, stored("verdict_precision.json", text));
  const auto back = decode_verdict(text);
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(encode_verdict(*back), text);
  EXPECT_TRUE(is_reduced(*back));
  EXPECT_FALSE(decode_verdict(encode_verdict(full_verdict()))->precision);
}

/// Written only where there is one, so that verdicts without it are as they always were.
TEST(VerdictJson, FibCompatHasItsOwnGoldenFile) {
  Verdict v = full_verdict();
  v.fib = FibCompat{.status = "PASSED",
                    .reason = "",
                    .evaluator = "default",
                    .atol = 0.01,
                    .rtol = 0.01,
                    .required_ratio = 1,
                    .non_finite = false,
                    .workloads = {{"u", 3, 3, 1, 0.0009, 1}}};
  const std::string text = encode_verdict(v);
  EXPECT_EQ(text, stored("verdict_fib.json", text));
  const auto back = decode_verdict(text);
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(encode_verdict(*back), text);
  EXPECT_EQ(back->fib->workloads.at(0).matched, 3U);
  EXPECT_FALSE(decode_verdict(encode_verdict(full_verdict()))->fib);
}

TEST(VerdictJson, EvidenceOfRankingsIsWrittenWhereThereIsSome) {
  Verdict v = full_verdict();
  EXPECT_EQ(encode_verdict(v).find("ranking"), std::string::npos);
  v.workloads.push_back({.uuid = "ranked", .ranking = RankingEvidence{100, 7, 3, 1}});
  const std::string text = encode_verdict(v);
  EXPECT_NE(text.find("\"ranking\":{\"rows\":100,\"tied\":7,\"reordered\":3,\"least_margin\":1"),
            std::string::npos)
      << text;
  const auto back = decode_verdict(text);
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(encode_verdict(*back), text);
  EXPECT_FALSE(back->workloads.front().ranking);
}

TEST(VerdictJson, SampledRowsAreWrittenWhereThereAreSome) {
  Verdict v = full_verdict();
  EXPECT_EQ(encode_verdict(v).find("sampled_rows"), std::string::npos);
  v.workloads.push_back({.uuid = "large", .sampled_rows = RowEvidence{14107, 128, 3, 0.0079}});
  const std::string text = encode_verdict(v);
  EXPECT_NE(text.find("\"sampled_rows\":{\"rows\":14107,\"compared\":128,\"trials\":3,"
                      "\"seen_share\":0.0079}"),
            std::string::npos)
      << text;
  const auto back = decode_verdict(text);
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(encode_verdict(*back), text);
  EXPECT_FALSE(back->workloads.front().sampled_rows);
}

TEST(VerdictJson, RoundTrips) {
  const std::string text = encode_probe(full_probe());
  const auto p = decode_probe(text);
  ASSERT_TRUE(p) << p.error().text();
  EXPECT_EQ(encode_probe(*p), text);
  EXPECT_TRUE(std::isnan(p->verdict.mismatch->got));
  EXPECT_EQ(p->verdict.mismatch->want, -INFINITY);
  EXPECT_EQ(p->verdict.finding, Finding::wrong);
  EXPECT_EQ(p->estimate, -0.125);
  EXPECT_EQ(encode_verdict(*decode_verdict(encode_verdict(full_verdict()))),
            encode_verdict(full_verdict()));
  const kw::Run run{"0007", "d", "running", "{}", "a", "b", "ab12"};
  EXPECT_EQ(decode_run(encode_run(run))->champion, "ab12");
  EXPECT_EQ(
      decode_record(encode_record({"id", "prev", "p", "d", "s", 2.5, 2.4, 2.6, "b", "t"}))->high,
      2.6);
}

TEST(VerdictJson, RefusesOtherSchemasAndDamage) {
  const std::string text = encode_verdict({});
  EXPECT_FALSE(decode_probe(text));
  EXPECT_EQ(decode_verdict(R"({"schema":"kernwright.verdict/2"})").error().kind,
            ErrorKind::unsupported);
  EXPECT_FALSE(decode_verdict(R"({"schema":"kernwright.verdict/"})"));
  EXPECT_FALSE(decode_verdict("{}"));
  EXPECT_FALSE(decode_verdict("[]"));
  EXPECT_FALSE(decode_verdict(text.substr(0, text.size() / 2)));
  EXPECT_TRUE(decode_verdict(R"({"schema":"kernwright.verdict/1","later":1})"));
  EXPECT_THAT(decode_verdict(R"({"schema":"kernwright.verdict/1","trials":-1})").error().where,
              HasSubstr("1:43"));
  EXPECT_FALSE(decode_verdict(R"({"schema":"kernwright.verdict/1","finding":"REJECT_MOOD"})"));
  EXPECT_FALSE(decode_verdict(R"({"schema":"kernwright.verdict/1","build":3})"));
  EXPECT_FALSE(decode_verdict(R"({"schema":"kernwright.verdict/1","workloads":[{"trials":1.5}]})"));
}

TEST(VerdictJson, ForeignBytesNeverThrow) {
  Verdict v;
  v.build.summary = "bad \xff byte";
  const auto again = decode_verdict(encode_verdict(v));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->build.summary, "bad \xef\xbf\xbd byte");
}

Definition definition() {
  Definition d;
  d.name = "d";
  d.op_type = "ew";
  return d;
}
Workload workload() {
  Workload w;
  w.uuid = "u";
  return w;
}

TEST(ToTrace, FindingsMapToLegalWords) {
  const auto status = [](Finding f) {
    Probe p = full_probe();
    p.verdict.finding = f;
    const auto t = to_trace(p, definition(), workload());
    if (!t)
      return t.error().text();
    EXPECT_TRUE(encode_trace(*t)) << encode_trace(*t).error().text();
    EXPECT_THAT(t->evaluation->log, HasSubstr(name(f)));
    return t->evaluation->status;
  };
  EXPECT_EQ(status(Finding::build), "COMPILE_ERROR");
  EXPECT_EQ(status(Finding::admission), "COMPILE_ERROR");
  EXPECT_EQ(status(Finding::wrong), "INCORRECT_NUMERICAL");
  EXPECT_EQ(status(Finding::nondeterminism), "INCORRECT_NUMERICAL");
  EXPECT_EQ(status(Finding::resource), "TIMEOUT");
  for (const Finding f : {Finding::sandbox, Finding::protocol, Finding::crash, Finding::state,
                          Finding::timing, Finding::sanitizer})
    EXPECT_EQ(status(f), "RUNTIME_ERROR");
}

TEST(ToTrace, PassedCarriesBothFigures) {
  Probe p = full_probe();
  p.verdict.finding = Finding::none;
  p.verdict.correctness.outcome = Outcome::pass;
  p.verdict.mismatch.reset();
  const auto t = to_trace(p, definition(), workload());
  ASSERT_TRUE(t) << t.error().text();
  EXPECT_EQ(t->evaluation->status, "PASSED");
  EXPECT_DOUBLE_EQ(t->evaluation->performance->latency_ms, 0.00105);
  EXPECT_DOUBLE_EQ(t->evaluation->performance->speedup_factor, 1.95);
  EXPECT_EQ(t->evaluation->timestamp, "2026-01-02T03:04:05");
  const auto line = encode_trace(*t);
  ASSERT_TRUE(line);
  Issues issues;
  EXPECT_TRUE(decode_trace(*line, "t", 1, issues)) << listing(issues);
  Workload other = workload();
  other.uuid = "not timed";
  EXPECT_EQ(to_trace(p, definition(), other).error().kind, ErrorKind::refused);
  p.verdict.infrastructure_error = "disk full";
  EXPECT_EQ(to_trace(p, definition(), workload()).error().kind, ErrorKind::refused);
}

TEST(Sidecar, HoldsTheWholeProbeOnce) {
  auto dir = TempDir::create();
  ASSERT_TRUE(append_sidecar(full_probe(), definition(), dir->path()));
  ASSERT_TRUE(append_sidecar(full_probe(), definition(), dir->path()));
  EXPECT_EQ(read_file(dir->file("sidecar/me/ew/d.jsonl")).value(),
            encode_probe(full_probe()) + "\n");
  Probe hostile = full_probe();
  hostile.solution.author = "../x";
  EXPECT_FALSE(append_sidecar(hostile, definition(), dir->path()));
}

} // namespace
} // namespace kw
