// SPDX-License-Identifier: Apache-2.0
#include "report/render.hpp"

#include "report/charts.hpp"
#include "report/report_fixture.hpp"

#include <cstdlib>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

namespace kw {
namespace {

using testing::HasSubstr;
using testing::Not;

/// With KW_DUMP=folder the rendered forms are written there, to be looked at.
void dump(const std::string& file, const std::string& text) {
  if (const char* folder = std::getenv("KW_DUMP"))
    std::ofstream(std::string(folder) + "/" + file, std::ios::binary) << text;
}

TEST(HtmlReport, IsOneWellFormedSelfContainedPage) {
  const std::string page = html_report(sample_report());
  dump("report.html", page);
  EXPECT_EQ(xml_problem(page), "");
  for (const char* outside :
       {"<script", "<link", "<img", "<iframe", "src=", "href=", "url(", "@import"})
    EXPECT_THAT(page, Not(HasSubstr(outside)));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, HasSubstr("prefers-color-scheme:dark"));
  for (const char* content :
       {"5.47x", "[5.38, 5.56]", "gdn_decode_qk4_v8_d128_k_last", "86 probes",
        "failure rate &lt; 0.65 % at 95 %", "kernwright replay 7f3a91", "batch=64", "openblas",
        "kernel.cpp", "seed commitment", "command line", "ACCEPTED", "prefetch", "2 of 3",
        "change family; state memory"})
    EXPECT_THAT(page, HasSubstr(content));
}

TEST(HtmlReport, UpstreamsVerdictStandsBesideOurs) {
  OptimizeReport r = sample_report();
  EXPECT_THAT(html_report(r), Not(HasSubstr("fib-compat")));
  r.verdict.fib = FibCompat{.status = "PASSED",
                            .reason = "",
                            .evaluator = "default",
                            .atol = 0.01,
                            .rtol = 0.01,
                            .workloads = {{.uuid = "u", .trials = 4, .matched = 4}}};
  EXPECT_THAT(html_report(r), HasSubstr("accepted upstream: 4 of 4 trials matched"));
  r.verdict.fib->status.clear();
  r.verdict.fib->reason = "outputs <b>too</b> large";
  const std::string page = html_report(r);
  EXPECT_EQ(xml_problem(page), "");
  EXPECT_THAT(page, HasSubstr("outputs &lt;b&gt;too&lt;/b&gt; large"));
}

TEST(HtmlReport, HostileTextStaysText) {
  const std::string page = html_report(hostile_report());
  EXPECT_EQ(xml_problem(page), "") << "nothing breaks out of its element";
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, Not(HasSubstr("\x1b")));
  EXPECT_THAT(page, Not(HasSubstr("\xe2\x80\xae"))) << "no bidirectional override";
  EXPECT_THAT(page, Not(HasSubstr("\xff")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(1)&lt;/script&gt;")) << "but it is shown";
}

TEST(HtmlReport, EmptyAndExtremeRunsStillRender) {
  EXPECT_EQ(xml_problem(html_report(OptimizeReport{})), "");
  OptimizeReport r = sample_report();
  r.champion.clear();
  EXPECT_THAT(html_report(r), HasSubstr("no candidate beat"));
  r.champion = "kept";
  r.verdict.times.reset();
  EXPECT_THAT(html_report(r), HasSubstr("was not confirmed"));
  EXPECT_THAT(markdown_report(r), HasSubstr("was not confirmed"));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  r = sample_report();
  r.wall_seconds = nan;
  for (std::size_t i = 0; i < r.workloads.size(); ++i) {
    ReportWorkload& w = r.workloads[i];
    for (double* value : {&w.weight, &w.baseline_ns, &w.candidate_ns, &w.speedup, &w.low, &w.high,
                          &w.floor_ns, &w.bound_fraction})
      *value = i % 3 == 0 ? nan : i % 3 == 1 ? inf : 0.0;
  }
  for (ReportProbe& p : r.probes)
    p.speedup = p.index % 2 == 0 ? nan : -1.0;
  r.verdict.times->confirmation[0].log_ratios = {nan, inf, -inf, 1000, -1000};
  r.verdict.times->confirmation[1].log_ratios.clear();
  const std::string page = html_report(r);
  EXPECT_EQ(xml_problem(page), "");
  const std::string drawn = page.substr(page.find("<svg"));
  EXPECT_THAT(drawn, Not(HasSubstr("=\"nan\"")));
  EXPECT_THAT(drawn, Not(HasSubstr("=\"inf\"")));
}

TEST(Charts, AreWellFormedAndHaveNoNumbersOutsideTheFrame) {
  const OptimizeReport r = sample_report();
  std::map<std::string, std::string> axes;
  for (const ReportWorkload& w : r.workloads)
    axes[w.uuid] = w.axes;
  const std::string time = draw_trajectory(r, TrajectoryAxis::seconds).standalone();
  const std::string bars = draw_workloads(r).standalone();
  const std::string rounds = draw_rounds(r.verdict.times->confirmation, axes).standalone();
  dump("trajectory.svg", time);
  dump("workloads.svg", bars);
  dump("rounds.svg", rounds);
  for (const std::string& svg : {time, bars, rounds}) {
    EXPECT_EQ(xml_problem(svg), "");
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_THAT(svg, Not(HasSubstr("=\"-")));
  }
  EXPECT_THAT(bars, HasSubstr("batch=3 (tail)"));
  EXPECT_THAT(bars, HasSubstr("bar-slow")) << "a workload below the baseline is marked";
}

TEST(Charts, ManyWorkloadsAreCutToTheHeaviest) {
  OptimizeReport r = sample_report();
  while (r.workloads.size() < 100) {
    r.workloads.push_back(r.workloads[r.workloads.size() % 8]);
    r.workloads.back().axes = "light";
    r.workloads.back().weight =
        r.workloads.size() % 2 == 0 ? 0.001 : std::numeric_limits<double>::quiet_NaN();
  }
  r.workloads.back().weight = 50;
  r.workloads.back().axes = "the heaviest";
  const std::string svg = draw_workloads(r).inline_text();
  EXPECT_THAT(svg, HasSubstr("the heaviest"));
  EXPECT_THAT(svg, HasSubstr("on 60 workloads"));
}

TEST(Charts, TicksAreRoundAndBounded) {
  EXPECT_THAT(nice_ticks(0, 300, 6), testing::ElementsAre(0, 50, 100, 150, 200, 250, 300));
  EXPECT_THAT(log_ticks(0.9, 12, 6), testing::ElementsAre(1, 1.5, 2, 3, 4, 5, 7, 10));
  EXPECT_THAT(log_ticks(0.9, 120, 6), testing::ElementsAre(1, 2, 5, 10, 20, 50, 100));
  EXPECT_THAT(time_ticks(300, 8), testing::ElementsAre(0, 60, 120, 180, 240, 300));
  EXPECT_LE(log_ticks(1e-9, 1e9, 6).size(), 20u);
  EXPECT_LE(nice_ticks(0, 1e-300, 6).size(), 12u);
  EXPECT_EQ(nice_ticks(1, 1, 6).size(), 1u);
}

TEST(MarkdownReport, MatchesItsGoldenFile) {
  const std::string text = markdown_report(sample_report());
  EXPECT_EQ(golden_difference("report.md", text), "");
}

TEST(MarkdownReport, HostileTextMakesNoMarkup) {
  OptimizeReport r = hostile_report();
  r.definition = "[x](http://evil) <b>bold</b> | cell\n# heading";
  r.champion = "a`b";
  const std::string text = markdown_report(r);
  EXPECT_THAT(
      text,
      HasSubstr("# \\[x\\]\\(http&#58;//evil\\) &lt;b&gt;bold&lt;/b&gt; \\| cell \\# heading"));
  EXPECT_THAT(text, HasSubstr("`a'b`"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(Csv, QuotesAndDefusesText) {
  OptimizeReport r = sample_report();
  r.probes.resize(1);
  r.probes[0].hypothesis = "=HYPERLINK(\"x\"), a\nb";
  r.probes[0].speedup = 1.5;
  EXPECT_EQ(probes_csv(r).substr(probes_csv(r).find("\r\n") + 2),
            "1,3.400,\"" + r.probes[0].id +
                "\",\"correct\",\"NONE\",\"reject\",1.5,\"'=HYPERLINK(\"\"x\"\"), a b\","
                "\"not faster than the champion by 2 %\"\r\n");
  const std::string rows = workloads_csv(sample_report());
  EXPECT_EQ(std::count(rows.begin(), rows.end(), '\n'), 9);
  EXPECT_THAT(rows, HasSubstr("\"openblas_ns\""));
}

TEST(TerminalTable, MatchesItsGoldenFile) {
  const OptimizeReport r = sample_report();
  EXPECT_EQ(golden_difference("workloads.txt", probe_counts(r) + "\n" + workloads_table(r, false)),
            "");
  EXPECT_THAT(workloads_table(r, true), HasSubstr("\x1b[32m"));
  EXPECT_THAT(workloads_table(hostile_report(), false), Not(HasSubstr("\x1b")));
}

TEST(Aggregates, SayWhichMeanTheyAre) {
  OptimizeReport r = sample_report();
  r.workloads.resize(2);
  r.workloads[0].baseline_ns = 4e6, r.workloads[0].candidate_ns = 1e6, r.workloads[0].weight = 1;
  r.workloads[1].baseline_ns = 1e3, r.workloads[1].candidate_ns = 1e3, r.workloads[1].weight = 1;
  const std::string text = aggregates_text(r);
  for (const char* part : {"weighted geomean 2.00x", "mean of ratios 2.50x", "ratio of means 4.00x",
                           "p95 4.00 ms -> 1.00 ms", "No official score"})
    EXPECT_THAT(text, HasSubstr(part));
  r.workloads.clear();
  EXPECT_EQ(aggregates_text(r), "");
}

} // namespace
} // namespace kw
