// SPDX-License-Identifier: Apache-2.0
// Attacks on the judge and planted bugs with expected verdicts, and honest controls that must be
// accepted.
#pragma once

#include "base/result.hpp"
#include "service/judging.hpp"
#include "service/workspace.hpp"

#include <functional>
#include <string>
#include <vector>

namespace kw {

struct RedteamCase {
  std::string id; ///< "RH-01", "KW-03/2", "PB-01", "OK-04"
  std::string title, why, definition, entry, file;
  std::vector<std::pair<std::string, std::int64_t>> axes;
  std::vector<std::string> expected; ///< finding names, "CORRECT", "NOT_FASTER", "ACCEPTED"
  std::string gate = "gate";
  bool timing = false;
  std::string sanitize = "none"; ///< builds with sanitizers that are called as well
  int threads = 0;               ///< 0 = the definition's
  double max_gain = 1.02;
  int repeats = 1;
  /// Highest probability, by design, that one run of a statistical attack is called correct.
  double miss_rate = 0;
  std::vector<std::string> tiers; ///< at which the expectation holds; empty = all
};

struct RedteamResult {
  RedteamCase what;
  std::string observed; ///< finding name, or the verdict's word
  std::string detail;
  std::string tier; ///< sandbox in force
  bool as_expected = false;
  bool undecided = false; ///< timing only: the machine was too noisy to tell; neither good nor bad
  bool breach = false;    ///< an attack that was called correct, or faster than it may be
  bool missed = false;    ///< called correct, as often as the case's miss rate allows; no breach
  double ms = 0;
  [[nodiscard]] bool is_attack() const { return !what.id.starts_with("OK-"); }
};

/// One line of the score card: attacks of a family, or all honest controls.
struct RedteamScore {
  /// "A" ... "K", "P" for planted bugs of a contest, "W" for attacks of our own, "controls"; of
  /// totals "attacks"
  std::string family;
  std::string about;  ///< what the family does
  std::size_t runs = 0;
  std::size_t breaches = 0; ///< attacks that got through
  std::size_t missed = 0;   ///< statistical attacks, within their miss rate
  std::size_t refused = 0;  ///< honest kernels turned down
  std::size_t other = 0;    ///< attacks stopped under another name than expected
  std::size_t undecided = 0;
  /// Attacks that got through, or honest kernels refused, of the runs that were decided; 0 of none.
  [[nodiscard]] double rate() const;
  /// Highest rate that these runs do not rule out, at 95 % (Clopper and Pearson).
  [[nodiscard]] double rate_bound() const;
};

struct RedteamTotals {
  RedteamScore attacks, controls;
  [[nodiscard]] bool holds() const {
    return attacks.breaches + attacks.other + controls.refused == 0;
  }
};

struct RedteamOptions {
  std::string folder;            ///< "" = the shipped corpus
  std::vector<std::string> only; ///< ids; empty = all
  bool with_timing = true,
       without_timing = true; ///< which cases; timing cases run last, one at a time
  int repeats = 1;            ///< 0 = as often as each case says
  std::string sanitize;       ///< for the honest controls, instead of what they say
  int jobs = 1;               ///< cases without timing side by side
  std::string tier;           ///< "T2" does without namespaces and cgroup; "" = what there is
  std::function<void(const RedteamResult&)> finished = [](const RedteamResult&) {};
};

/// Errors: a case file that does not parse.
Result<std::vector<RedteamCase>> load_redteam(const std::string& folder);
/// In the order of the corpus, timing cases last. Errors: infrastructure only.
Result<std::vector<RedteamResult>> run_redteam(const Workspace& workspace,
                                               const RedteamOptions& options);
/// Families that occur, in alphabetical order, then the controls.
[[nodiscard]] std::vector<RedteamScore> score_card(const std::vector<RedteamResult>& results);
[[nodiscard]] RedteamTotals totals(const std::vector<RedteamScore>& card);
/// All runs of one case: where no more of them were called correct than its miss rate explains
/// (exact binomial test at 1 %), those count as missed instead of as breaches.
void settle_misses(std::vector<RedteamResult>& of_case);

} // namespace kw
