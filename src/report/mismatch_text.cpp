// SPDX-License-Identifier: Apache-2.0
#include "report/units.hpp"
#include "report/verdict_text.hpp"

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

std::string mismatch_figures(const Mismatch& m) {
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

std::string mismatch_hint(const Mismatch& m) {
  struct Hint {
    const char* pattern;
    const char* text;
  };
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
  };
  for (const Hint& hint : hints)
    if (m.pattern == hint.pattern)
      return hint.text;
  return {};
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
