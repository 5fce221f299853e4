// SPDX-License-Identifier: Apache-2.0
// What the runs of a corpus add up to.
#include "service/redteam.hpp"
#include "stats/trials.hpp"

#include <algorithm>
#include <charconv>
#include <map>

namespace kw {
namespace {

struct Family {
  const char* letter;
  const char* about;
  int last; ///< highest number of an attack in it
};

Family family_of(const std::string& id) {
  static constexpr Family families[] = {
      {"A", "answers kept and replayed", 9},
      {"B", "work that is not done", 18},
      {"C", "clocks and hidden work", 31},
      {"D", "the judge's process and secrets", 46},
      {"E", "numerics", 57},
      {"F", "inputs and shapes", 62},
      {"G", "memory and state", 68},
      {"H", "building and loading", 75},
      {"I", "resources", 79},
      {"J", "delegation", 82},
      {"K", "scores", 999},
  };
  if (id.starts_with("KW-"))
    return {"W", "own attacks on this judge", 0};
  if (id.starts_with("PB-"))
    return {"P", "bugs of a published contest, planted", 0};
  int number = 0;
  std::from_chars(id.data() + 3, id.data() + id.size(), number);
  for (const Family& f : families)
    if (number <= f.last)
      return f;
  return families[10];
}

/// Below this probability the misses are no accident.
constexpr double least_plausible = 0.01;

std::size_t bad_runs(const RedteamScore& s) {
  return s.family == "controls" ? s.refused : s.breaches;
}

} // namespace

double RedteamScore::rate() const {
  const std::size_t decided = runs - undecided;
  return decided == 0 ? 0 : static_cast<double>(bad_runs(*this)) / static_cast<double>(decided);
}

double RedteamScore::rate_bound() const {
  // One-sided 95 % is the upper end of the two-sided 90 % interval.
  return clopper_pearson(bad_runs(*this), runs - undecided, 0.90).high;
}

void settle_misses(std::vector<RedteamResult>& of_case) {
  const auto misses = static_cast<double>(std::count_if(
      of_case.begin(), of_case.end(), [](const RedteamResult& r) { return r.breach; }));
  if (misses == 0 || of_case.front().what.miss_rate <= 0)
    return;
  // P(X >= k) of Binomial(n, p) is I_p(k, n - k + 1).
  const double runs = static_cast<double>(of_case.size());
  if (incomplete_beta(misses, runs - misses + 1, of_case.front().what.miss_rate) < least_plausible)
    return;
  for (RedteamResult& r : of_case)
    if (r.breach)
      r.breach = false, r.missed = true;
}

std::vector<RedteamScore> score_card(const std::vector<RedteamResult>& results) {
  std::map<std::string, RedteamScore> lines; // "controls" sorts behind the capital letters
  for (const RedteamResult& r : results) {
    const Family family =
        r.is_attack() ? family_of(r.what.id) : Family{"controls", "honest kernels", 0};
    RedteamScore& line = lines[family.letter];
    line.family = family.letter;
    line.about = family.about;
    ++line.runs;
    line.breaches += r.breach ? 1U : 0U;
    line.missed += r.missed ? 1U : 0U;
    line.undecided += r.undecided ? 1U : 0U;
    const bool failed = !r.as_expected && !r.undecided && !r.missed;
    line.refused += failed && !r.is_attack() ? 1U : 0U;
    line.other += failed && r.is_attack() && !r.breach ? 1U : 0U;
  }
  std::vector<RedteamScore> out;
  for (auto& [letter, line] : lines)
    out.push_back(std::move(line));
  return out;
}

RedteamTotals totals(const std::vector<RedteamScore>& card) {
  RedteamTotals out;
  out.attacks.family = "attacks", out.attacks.about = "all attacks";
  out.controls.family = "controls", out.controls.about = "all honest controls";
  for (const RedteamScore& s : card) {
    RedteamScore& sum = s.family == "controls" ? out.controls : out.attacks;
    sum.runs += s.runs;
    sum.breaches += s.breaches;
    sum.missed += s.missed;
    sum.refused += s.refused;
    sum.other += s.other;
    sum.undecided += s.undecided;
  }
  return out;
}

} // namespace kw
