// SPDX-License-Identifier: Apache-2.0
#include "report/units.hpp"
#include "report/verdict_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

namespace kw {

std::string mismatch_sentence(const Mismatch& m) {
  std::string at;
  for (const std::int64_t i : m.at)
    at += fmt::format("{}{}", at.empty() ? "" : ", ", i);
  std::string out =
      fmt::format("{} of {} {} of `{}` {} wrong in trial {}", count_text(m.bad_elements),
                  count_text(m.elements), m.elements == 1 ? "element" : "elements", m.output,
                  m.bad_elements == 1 ? "is" : "are", m.trial);
  if (!m.at.empty())
    out += fmt::format(", first at [{}]", at);
  return out;
}

namespace {

/// Patterns of an output of places: there may be other right answers than `want`.
bool is_ranking(const Mismatch& m) {
  static constexpr std::array patterns = {"out of range", "repeated", "other value", "order",
                                          "not the greatest"};
  return std::find(patterns.begin(), patterns.end(), m.pattern) != patterns.end();
}

/// Patterns of an output of ids that were selected by their scores (tensor/selection.hpp).
bool is_selection(const Mismatch& m) {
  static constexpr std::array patterns = {"unreachable", "taken twice", "missing", "padding",
                                          "not among the greatest"};
  return std::find(patterns.begin(), patterns.end(), m.pattern) != patterns.end();
}

/// Patterns of an output of places drawn at random.
bool is_draw(const Mismatch& m) {
  return m.pattern == "no such place" || m.pattern == "impossible" || m.pattern == "outside top-p";
}

} // namespace

std::string mismatch_figures(const Mismatch& m) {
  if (is_draw(m))
    return fmt::format("drew place {}; the most probable is {}", value_text(m.got),
                       value_text(m.want));
  if (is_ranking(m))
    return fmt::format("got place {}; with equal elements in order of place it would be {}",
                       value_text(m.got), value_text(m.want));
  if (is_selection(m))
    return fmt::format("got {}; by falling scores it would be {}", value_text(m.got),
                       value_text(m.want));
  std::string out = fmt::format("got {}, should be {}", value_text(m.got), value_text(m.want));
  const double off = std::abs(m.got - m.want);
  if (!std::isfinite(off))
    return out;
  out += fmt::format(": off by {:.3g}, allowed {:.3g}", off, m.bound);
  if (m.bound > 0 && off / m.bound >= 2 && off / m.bound < 1e15)
    out += fmt::format(" ({} times as much)",
                       count_text(static_cast<std::uint64_t>(std::llround(off / m.bound))));
  return out;
}

namespace {

std::string norm_share(double error) {
  return std::isfinite(error) ? fmt::format("{:.3g} %", 100 * error) : "infinite";
}

struct Hint {
  const char* pattern;
  const char* text;
};

/// More telling than the pattern, where the place is known.
std::string cluster_hint(const Mismatch& m) {
  if (!m.place || m.pattern == "poison left" || m.pattern == "non-finite")
    return {};
  static constexpr std::array hints = {
      Hint{"column", "one column in every row: an index within the row, or one lane of a vector"},
      Hint{"columns",
           "the same columns in every row: some lanes of a vector, or one block of the row"},
      Hint{"first columns", "only the beginning of rows is off: a loop that starts too late, or a "
                            "first step that the others overwrite"},
      Hint{"last columns",
           "only the end of rows is off: does what is left of a row after whole vectors get the "
           "same arithmetic, and does it begin where they end?"},
      Hint{"tile", "one block of a blocked loop is off: check its bounds and its accumulators"},
      Hint{"tiles", "whole blocks of a blocked loop are off: check their bounds and accumulators"},
      Hint{"block", "one rectangle is off: check the bounds of the loops around it"},
  };
  for (const Hint& hint : hints)
    if (m.place->cluster == hint.pattern)
      return hint.text;
  return {};
}

} // namespace

std::string mismatch_parts(const Mismatch& m) {
  if (!m.place)
    return {};
  const MismatchPlace& p = *m.place;
  std::string out = "error relative to the norm: whole output " + norm_share(p.relative_error);
  if (p.rows > 1)
    out += fmt::format("; worst row {}: {}", p.worst_row, norm_share(p.worst_row_error));
  if (p.rows > 1 && p.columns > 1)
    out += fmt::format("; worst tile of 16 x 16, from row {}, column {}: {}", p.worst_tile_row,
                       p.worst_tile_column, norm_share(p.worst_tile_error));
  if (p.max_ulp > 0)
    out += fmt::format("; up to {} ulp", p.max_ulp < 1e15
                                             ? count_text(static_cast<std::uint64_t>(p.max_ulp))
                                             : fmt::format("{:.3g}", p.max_ulp));
  return out;
}

std::string mismatch_hint(const Mismatch& m) {
  if (std::string hint = cluster_hint(m); !hint.empty())
    return hint;
  static constexpr std::array hints = {
      Hint{"all", "every element is off: are the arguments in Definition order, and is the output "
                  "type right?"},
      Hint{"tail", "only the end is off: does the loop over the last, partial block cover it?"},
      Hint{"rows", "whole rows are off: check the row stride and which rows each thread takes"},
      Hint{"scattered", "single elements are off: a race between threads, or an approximation that "
                        "fails for some values?"},
      Hint{"poison left", "these elements still hold the poison from before the call: the kernel "
                          "never wrote them"},
      Hint{"non-finite", "NaN or infinity where the reference is finite, or the other way round: "
                         "an overflow before the scaling?"},
      Hint{"out of range", "places count from 0 within their row"},
      Hint{"repeated", "a place was taken twice: mark places as taken, not values, since elements "
                       "may be equal"},
      Hint{"other value", "value and place do not belong together: are they moved in one step?"},
      Hint{"no such place", "places count from 0 within their row"},
      Hint{"impossible", "this place has no share of the mass: is the sum of what was drawn from "
                         "the sum of what is kept?"},
      Hint{"outside top-p", "kept are the most probable places up to the first with which their "
                            "mass reaches top-p"},
      Hint{"order", "the greatest comes first; what a partial selection finds must still be "
                    "sorted"},
      Hint{"not the greatest", "a greater element was left out: does the key keep all bits of the "
                               "element, and does the loop reach the end of the row?"},
      Hint{"unreachable",
           "an id is of a candidate of its own row: is it the global one, through the "
           "row's own table, and within the row's length?"},
      Hint{"taken twice",
           "ids of a row are all different: do tied scores, or merged parts, give one "
           "candidate twice?"},
      Hint{"missing", "-1 stands only where a row has too few candidates, and only at its end"},
      Hint{"padding", "a row with too few candidates ends in -1: does its length count right?"},
      Hint{"not among the greatest", "a candidate with a certainly greater score was left out: is "
                                     "the score computed in float32, and does the key keep its "
                                     "sign and all its bits?"},
  };
  for (const Hint& hint : hints)
    if (m.pattern == hint.pattern)
      return hint.text;
  return {};
}

std::string exercise_sentence(const Verdict& v) {
  if (!v.exercise)
    return {};
  const Exercise& e = *v.exercise;
  return fmt::format("buffers ended at a guard page in {} calls and began after one in {}; {} "
                     "shapes, {} of them ragged, {} that no workload lists",
                     count_text(e.end_aligned), count_text(e.start_aligned), e.shapes, e.ragged,
                     e.hidden);
}

std::string precision_sentence(const Verdict& v) {
  if (!v.precision)
    return {};
  return is_reduced(v) ? fmt::format("{}: {}; within the tolerance, so no failure",
                                     reduced_precision, v.precision->summary)
                       : "precision: " + v.precision->summary;
}

std::string evidence_sentence(const Verdict& v) {
  if (v.trials == 0)
    return {};
  std::string out = fmt::format("{} {}", count_text(v.trials), v.trials == 1 ? "trial" : "trials");
  if (v.correctness.outcome != Outcome::pass)
    return out;
  out = fmt::format("{} clean {}", count_text(v.trials), v.trials == 1 ? "trial" : "trials");
  // Few trials prove nothing worth printing; smoke says so instead.
  if (v.failure_rate_bound < 0.5)
    out += fmt::format(": failure rate < {} at 95 %", percent_text(v.failure_rate_bound));
  else
    out += ": a smoke test, no evidence of correctness";
  return out;
}

} // namespace kw
