// SPDX-License-Identifier: Apache-2.0
#include "report/report_fixture.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <random>
#include <vector>

namespace kw {
namespace {

PairedTiming paired(const std::string& uuid, double baseline_ns, double speedup, double floor_ns,
                    std::uint32_t seed, std::size_t rounds) {
  PairedTiming p;
  p.uuid = uuid;
  p.baseline = "plain-c++";
  std::minstd_rand random(seed);
  for (std::size_t i = 0; i < rounds; ++i) {
    const double noise = (static_cast<double>(random() % 1000) / 1000 - 0.5) * 0.04;
    p.log_ratios.push_back(std::log(speedup) + noise);
    p.candidate_ns.push_back(baseline_ns / speedup);
    p.baseline_ns.push_back(baseline_ns);
  }
  p.speedup = speedup;
  p.low = speedup * 0.985;
  p.high = speedup * 1.016;
  p.floor_ns = floor_ns;
  p.decision = speedup > 1 ? "faster" : "not faster";
  return p;
}

} // namespace

Verdict accepted_verdict() {
  Verdict v;
  v.build = {Outcome::pass, "g++-12 -O3 -march=native, 118 ms (cached: no)", {}};
  v.sandbox = {Outcome::pass, "T3", {}};
  v.correctness = {Outcome::pass, "459 trials and 64 mined ones clean on 8 workloads", {}};
  v.timing = {Outcome::pass, "warm, spin doorbell, windows of 3.00 ms, A/A 0.40 %", {}};
  v.merit = {Outcome::pass, "faster than plain-c++ on 3 of 3 workloads", {}};
  v.accepted = true;
  v.word = "ACCEPTED";
  v.gate = "champion";
  v.tier = "T3";
  v.trials = 459;
  v.failure_rate_bound = 0.0065;
  v.cost_ms = {{"build", 118}, {"total", 5230}};
  TimingEvidence t;
  t.protocol = "warm";
  t.doorbell = "spin";
  t.window_ns = 3e6;
  t.windows_per_half = 3;
  t.aa_sigma = 0.004;
  t.fit = true;
  t.confirmation = {paired("w-1", 3420, 2.78, 960, 1, 30),
                    paired("w-2", 118e6, 5.47, 16.8e6, 2, 30),
                    paired("w-3", 81500, 1.01, 42000, 3, 30)};
  t.confirmation[2].decision = "undecided";
  t.speedup = 2.49;
  t.low = 2.45;
  t.high = 2.53;
  v.times = t;
  v.workloads = {{"w-1", 153, 0, 0.21, 3e-7, 2e-6},
                 {"w-2", 153, 0, 0.34, 1e-6, 4e-6},
                 {"w-3", 153, 0, 0.18, 2e-7, 1e-6}};
  return v;
}

Verdict wrong_verdict() {
  Verdict v;
  v.build = {Outcome::pass, "g++-12 -O3 -march=native, 118 ms (cached: yes)", {}};
  v.sandbox = {Outcome::pass, "", {}};
  v.tier = "T3";
  v.correctness = {Outcome::fail, "1 of 42 trials wrong", {}};
  v.timing = {Outcome::unknown, "not taken: correctness failed", {}};
  v.finding = Finding::wrong;
  v.word = "REJECTED";
  v.gate = "gate";
  v.trials = 42;
  Mismatch m;
  m.workload = "w-12";
  m.input_class = "spread";
  m.trial = 41;
  m.output = "out";
  m.at = {7, 1033};
  m.got = 31.97;
  m.want = 38.02;
  m.bound = 2e-5;
  m.bad_elements = 3;
  m.elements = 24576;
  m.pattern = "tail";
  v.mismatch = m;
  return v;
}

Verdict build_failure() {
  Verdict v;
  v.build = {Outcome::fail, "g++-12 reported 1 error", {}};
  v.correctness = {Outcome::unknown, "not taken: nothing was built", {}};
  v.timing = {Outcome::unknown, "not taken: nothing was built", {}};
  v.finding = Finding::build;
  v.word = "REJECTED";
  Diagnostic d;
  d.severity = "error";
  d.file = "kernel.cpp";
  d.line = 14;
  d.column = 9;
  d.code = "-fpermissive";
  d.message = "'malloc' was not declared in this scope";
  d.excerpt = "   14 | float* p = (float*)malloc(n);\n      |                    ^~~~~~";
  v.diagnostics = {d};
  return v;
}

OptimizeReport sample_report() {
  OptimizeReport r;
  r.run = "0007";
  r.definition = "gdn_decode_qk4_v8_d128_k_last";
  r.description = "One decode step of the gated delta rule over a batch of recurrent states.";
  r.version = "0.1.0";
  r.started_at = "2026-01-02T03:04:05Z";
  r.wall_seconds = 300;
  r.budget = "5m";
  r.environment = {{"processor", "2 cores, avx512"},
                   {"compiler", "g++-12 12.2.0"},
                   {"flags", "-O3 -march=native -mprefer-vector-width=512"},
                   {"kernel", "6.1.0"}};
  r.options = {{"budget", "5m", "command line"},
               {"protocol", "warm", "definition"},
               {"min_tier", "T2", "default"}};
  r.baseline = "plain-c++";
  r.peers = {"openblas", "pytorch"};
  r.rounds = {{.regime = "batch <= 8",
               .number = 2,
               .state = "memory",
               .direction = "prefetch",
               .why = "state memory, headroom 1.40x",
               .predicted = 1.05,
               .measured = 1.12,
               .tried = 3,
               .valid = 2,
               .intervention = "stall (4 rounds without a gain of 2 %): change family"}};
  r.branches = {{.regime = "batch <= 8",
                 .condition = "batch <= 8",
                 .workloads = 3,
                 .share = 0.5,
                 .kernel = "space=rows U=4",
                 .proposer = "tuner",
                 .speedup = 5.1,
                 .state = "memory",
                 .confidence = 0.8,
                 .headroom = 1.3},
                {.regime = "all",
                 .condition = {},
                 .workloads = 5,
                 .share = 0.5,
                 .kernel = "theirs",
                 .proposer = "reference",
                 .state = {}}};
  r.contributions = {{.role = "tuner",
                      .who = "tuner",
                      .proposed = 40,
                      .right = 31,
                      .kept = 3,
                      .in_winner = true,
                      .source = {},
                      .commit = {},
                      .licence = {}},
                     {.role = "reference",
                      .who = "theirs",
                      .in_winner = true,
                      .source = "theirs.cpp",
                      .commit = "0123abc",
                      .licence = {}}};
  r.steering = {{"ann", "prefer prefetch: gathers stall"}};
  r.cost = {.search_seconds = 300,
            .cpu_seconds = 410,
            .tokens = 1200,
            .cost_usd = 0.25,
            .evaluations = 41,
            .all_runs = 2,
            .all_probes = 90,
            .all_promotions = 2,
            .all_seconds = 500};
  const struct {
    const char* axes;
    double weight, baseline, speedup, openblas, pytorch, floor;
  } rows[] = {
      {"batch=1", 3, 41200, 6.10, 1.9, 0.6, 7.9},
      {"batch=4", 2, 160e3, 5.60, 2.1, 0.9, 7.4},
      {"batch=8", 2, 322e3, 5.42, 2.1, 1.2, 7.1},
      {"batch=16", 1, 650e3, 5.33, 2.0, 1.5, 6.9},
      {"batch=32", 1, 1.3e6, 5.10, 2.0, 1.8, 6.6},
      {"batch=48", 1, 2.0e6, 4.95, 1.9, 1.9, 6.4},
      {"batch=64", 4, 2.7e6, 4.88, 1.9, 2.0, 6.3},
      {"batch=3 (tail)", 0.5, 122e3, 0.96, 1.1, 0.7, 7.2},
  };
  r.verdict = accepted_verdict();
  r.verdict.times->confirmation.clear();
  std::uint32_t seed = 1;
  for (const auto& row : rows) {
    ReportWorkload w;
    w.uuid = fmt::format("uuid-{}", seed);
    w.axes = row.axes;
    w.weight = row.weight;
    w.baseline_ns = row.baseline;
    w.candidate_ns = row.baseline / row.speedup;
    w.peers_ns = {{"openblas", row.baseline / row.openblas},
                  {"pytorch", row.baseline / row.pytorch}};
    w.speedup = row.speedup;
    w.low = row.speedup * 0.97;
    w.high = row.speedup * 1.03;
    w.floor_ns = row.baseline / row.floor;
    w.bound_fraction = w.floor_ns / w.candidate_ns;
    r.verdict.times->confirmation.push_back(
        paired(w.uuid, w.baseline_ns, w.speedup, w.floor_ns, seed, 30));
    r.workloads.push_back(w);
    ++seed;
  }
  r.verdict.times->speedup = 5.47;
  r.verdict.times->low = 5.38;
  r.verdict.times->high = 5.56;
  std::minstd_rand random(7);
  double best = 1;
  for (int i = 1; i <= 86; ++i) {
    ReportProbe p;
    p.index = i;
    p.seconds = i * 3.4;
    p.id = fmt::format("{:08x}", random());
    p.hypothesis =
        fmt::format("vector={} unroll={} prefetch={}", 16 << (i % 3), 1 << (i % 4), i % 2);
    p.finding = "NONE";
    p.outcome = "correct";
    p.decision = "reject";
    p.reason = "not faster than the champion by 2 %";
    if (i % 10 == 3) {
      p.outcome = "wrong";
      p.finding = "REJECT_WRONG";
      p.reason = "3 of 24,576 elements wrong in trial 4";
    } else if (i % 23 == 7) {
      p.outcome = "build";
      p.finding = "REJECT_BUILD";
      p.reason = "does not compile";
    } else if (i % 40 == 11) {
      p.outcome = "crash";
      p.finding = "CRASH";
      p.reason = "segmentation fault";
    } else {
      p.speedup = best * (0.55 + static_cast<double>(random() % 1000) / 2200);
      if (i == 5 || i == 12 || i == 21 || i == 38 || i == 60) {
        p.speedup = best * (i == 5 ? 2.31 : i == 12 ? 1.74 : 1.11);
        best = *p.speedup;
        p.decision = i == 38 ? "keep" : "promote";
        p.reason = "faster: 9 of 9 rounds";
      }
    }
    r.probes.push_back(p);
  }
  r.champion = "kw-gdn-decode-7f3a91";
  r.sources = {{"kernel.cpp",
                "// SPDX-License-Identifier: Apache-2.0\n#include \"kernwright.h\"\n\n"
                "extern \"C\" int gdn(const float* q, float* out, int64_t batch) {\n"
                "  for (int64_t b = 0; b < batch && q; ++b)\n    out[b] = q[b];\n"
                "  return 0;\n}\n"}};
  r.record = "7f3a91c0ffee7f3a91c0ffee7f3a91c0ffee7f3a91c0ffee7f3a91c0ffee0001";
  r.seed_commitment = "5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9";
  r.replay_command = "kernwright replay 7f3a91";
  return r;
}

OptimizeReport hostile_report() {
  const std::string evil = "<script>alert(1)</script>\"'`|&]]>--><img src=x onerror=alert(2)>"
                           "\x1b[2J\x1b]0;owned\x07\xe2\x80\xae"
                           "gnp.exe\xff\xc0\xaf\x01 =cmd|' /C x'!A0";
  OptimizeReport r = sample_report();
  for (std::string* text :
       {&r.run, &r.definition, &r.description, &r.version, &r.started_at, &r.budget, &r.baseline,
        &r.champion, &r.record, &r.seed_commitment, &r.seed, &r.replay_command})
    *text = evil;
  for (ReportRound& round : r.rounds)
    for (std::string* text :
         {&round.regime, &round.state, &round.direction, &round.why, &round.intervention})
      *text = evil;
  for (ReportBranch& b : r.branches)
    b.regime = b.condition = b.kernel = b.proposer = b.state = evil;
  for (Contribution& c : r.contributions)
    c.role = c.who = c.source = c.commit = c.licence = evil;
  r.steering = {{evil, evil}};
  r.environment = {{evil, evil}};
  r.options = {{evil, evil, evil}};
  r.peers = {evil};
  for (ReportWorkload& w : r.workloads) {
    w.peers_ns = {{evil, 1000.0}};
    w.axes = evil;
  }
  for (ReportProbe& p : r.probes)
    p.id = p.hypothesis = p.outcome = p.finding = p.decision = p.reason = evil;
  r.sources = {{evil, evil}};
  Verdict& v = r.verdict;
  for (AxisVerdict* axis : {&v.build, &v.sandbox, &v.correctness, &v.timing, &v.merit}) {
    axis->summary = evil;
    axis->details = {evil};
  }
  v.word = v.gate = v.tier = v.infrastructure_error = evil;
  v.diagnostics = build_failure().diagnostics;
  for (std::string* text :
       {&v.diagnostics[0].file, &v.diagnostics[0].severity, &v.diagnostics[0].message,
        &v.diagnostics[0].code, &v.diagnostics[0].excerpt})
    *text = evil;
  v.mismatch = wrong_verdict().mismatch;
  v.mismatch->workload = v.mismatch->output = v.mismatch->input_class = evil;
  v.mismatch->place = MismatchPlace{.cluster = evil, .text = evil};
  v.times->protocol = v.times->doorbell = v.times->clock = evil;
  for (PairedTiming& t : v.times->confirmation)
    t.baseline = t.decision = evil;
  v.workloads = {{evil, 1, 0, 0, 0, 0}};
  v.precision = PrecisionEvidence{.word = "REDUCED_PRECISION", .summary = evil, .baseline = evil};
  return r;
}

std::string xml_problem(std::string_view s) {
  std::vector<std::string> open;
  std::size_t at = 0;
  const auto problem = [&](const std::string& what) {
    return fmt::format("{} near offset {}: {}", what, at, s.substr(at > 40 ? at - 40 : 0, 100));
  };
  const auto entity_ok = [&](std::size_t from) {
    const std::size_t end = s.find(';', from);
    if (end == std::string_view::npos || end - from > 10)
      return false;
    const std::string_view body = s.substr(from + 1, end - from - 1);
    return body == "amp" || body == "lt" || body == "gt" || body == "quot" ||
           (body.size() > 1 && body[0] == '#');
  };
  std::size_t roots = 0;
  while (at < s.size()) {
    const auto byte = static_cast<unsigned char>(s[at]);
    if (byte < 0x20 && byte != '\n' && byte != '\t' && byte != '\r')
      return problem("control character");
    if (s[at] == '&' && !entity_ok(at))
      return problem("bare ampersand");
    if (s[at] != '<') {
      if (open.empty() && std::isspace(byte) == 0)
        return problem("text outside the root");
      ++at;
      continue;
    }
    const std::size_t end = s.find('>', at);
    if (end == std::string_view::npos)
      return problem("unclosed tag");
    std::string_view tag = s.substr(at + 1, end - at - 1);
    if (tag.starts_with("!DOCTYPE") || tag.starts_with("?xml")) {
      at = end + 1;
      continue;
    }
    if (tag.starts_with("/")) {
      if (open.empty() || open.back() != tag.substr(1))
        return problem("closing tag does not match");
      open.pop_back();
      at = end + 1;
      continue;
    }
    const bool empty = tag.ends_with("/");
    if (empty)
      tag.remove_suffix(1);
    const std::size_t name_end = std::min(tag.find_first_of(" \n"), tag.size());
    const std::string tag_name(tag.substr(0, name_end));
    if (tag_name.empty() || !std::ranges::all_of(tag_name, [](char c) {
          return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-';
        }))
      return problem("bad element name");
    std::vector<std::string> seen;
    for (std::size_t a = name_end; a < tag.size();) {
      if (std::isspace(static_cast<unsigned char>(tag[a])) != 0) {
        ++a;
        continue;
      }
      const std::size_t quote = tag.find("=\"", a);
      const std::size_t close = quote == std::string_view::npos ? quote : tag.find('"', quote + 2);
      if (close == std::string_view::npos)
        return problem("bad attribute");
      const std::string attribute(tag.substr(a, quote - a));
      const std::string_view value = tag.substr(quote + 2, close - quote - 2);
      if (attribute.starts_with("on") || std::ranges::find(seen, attribute) != seen.end())
        return problem("event handler or repeated attribute");
      for (std::size_t i = 0; i < value.size(); ++i)
        if (value[i] == '<' ||
            (value[i] == '&' && !entity_ok(static_cast<std::size_t>(&value[i] - s.data()))))
          return problem("unescaped attribute value");
      seen.push_back(attribute);
      a = close + 1;
    }
    if (!empty) {
      roots += open.empty() ? 1U : 0U;
      open.push_back(tag_name);
    }
    at = end + 1;
  }
  if (!open.empty())
    return "unclosed <" + open.back() + ">";
  return roots == 1 ? "" : "not exactly one root element";
}

std::string golden_difference(const std::string& file, const std::string& actual) {
  const std::string path = std::string(KW_SOURCE_DIR) + "/tests/golden/report/" + file;
  if (std::getenv("KW_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << actual;
    return "";
  }
  std::ifstream in(path, std::ios::binary);
  const std::string expected((std::istreambuf_iterator<char>(in)),
                             std::istreambuf_iterator<char>());
  if (expected == actual)
    return "";
  return fmt::format("{} differs; if the change is meant, run the test with KW_UPDATE_GOLDEN=1\n"
                     "--- expected\n{}\n--- actual\n{}",
                     path, expected, actual);
}

TEST(XmlProblem, FindsWhatItIsFor) {
  EXPECT_EQ(xml_problem("<a b=\"&amp;\">x &lt; y<c/></a>"), "");
  for (const char* bad :
       {"<a>", "<a></b>", "<a>&x</a>", "<a b=c/>", "<a b=\"<\"></a>", "<a/>x",
        "<a onload=\"x\"></a>", "<a>\x01</a>", "<a></a><b></b>", "<a x=\"1\" x=\"2\"></a>"})
    EXPECT_NE(xml_problem(bad), "") << bad;
}

} // namespace kw
