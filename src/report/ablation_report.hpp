// SPDX-License-Identifier: Apache-2.0
// Everything that is shown of an ablation, and its forms. A plain record: whoever has the results
// fills it. All ratios are speeds: above 1 the first is the faster one.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kw {

/// One arm on one definition with one seed.
struct AblationCell {
  std::string definition, arm;
  int seed = 0;
  int evaluations = 0;
  double seconds = 0, build_seconds = 0; ///< of the search; of these, waiting for the compiler
  std::string champion;                  ///< its name; "" = the baseline stands
  std::string fault;                     ///< why the baseline stands for a champion there was
  std::optional<double> over_baseline, over_reference; ///< empty: not raced
  bool same = false;     ///< the very champion of the reference: 1 without a race
  std::string unmatched; ///< why it may not be held against the reference; "" = it may
};

/// One arm against another over all definitions and seeds.
struct AblationComparison {
  std::string arm, against;
  double value = 0, low = 0, high = 0; ///< geometric mean with its 95 % interval
  double low95 = 0;                    ///< one-sided lower 95 % bound
  std::size_t definitions = 0, pairs = 0;
  std::size_t same = 0;    ///< pairs with one champion for both: 1 without a race
  std::size_t missing = 0; ///< pairs that are not there yet
  std::string refused;     ///< why there is no ranking; "" = there is one
  std::vector<std::pair<std::string, double>> per_definition; ///< geometric means over seeds
};

struct AblationTaskReport {
  std::string definition;
  std::vector<std::string> workloads; ///< "rows=128 n=512, 266 us"
  std::vector<std::string> left_out;  ///< sentences
};

struct AblationReport {
  std::string id, version, started_at;
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<std::string> arms;
  std::string reference; ///< the arm that the cells are held against, or "baseline"
  int seeds = 0, evaluations = 0, sessions = 1;
  double wall_factor = 0, wall_seconds = 0; ///< tolerance of the matching
  std::size_t steps = 0, steps_done = 0;    ///< runs and races
  double seconds = 0;                       ///< of all runs and races so far
  std::vector<AblationTaskReport> tasks;
  std::vector<AblationCell> cells;
  std::vector<AblationComparison> comparisons;
  std::string resume_command;
  [[nodiscard]] bool complete() const { return steps_done == steps; }
};

/// "faster", "slower" or "no difference shown", by the interval; "no ranking" where it was refused
/// or nothing is there.
[[nodiscard]] std::string ablation_word(const AblationComparison& comparison);
/// For a terminal: a table per definition, then the comparisons with what they rest on.
[[nodiscard]] std::string ablation_text(const AblationReport& report, bool colour);
/// One self-contained page, as html_report().
[[nodiscard]] std::string ablation_html(const AblationReport& report);
/// RFC 4180, one row per cell.
[[nodiscard]] std::string ablation_csv(const AblationReport& report);

} // namespace kw
