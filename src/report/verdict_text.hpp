// SPDX-License-Identifier: Apache-2.0
// A verdict on one screen: an outcome per axis, the reason, the evidence, the next command.
#pragma once

#include "model/verdict.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace kw {

struct VerdictView {
  std::string name;         ///< of the solution, hostile
  std::string next_command; ///< "kernwright replay 9bd1c2", shown at the end; may be empty
  std::map<std::string, std::string> workload_axes = {}; ///< uuid -> "m=1 n=4096"
  bool colour = false;                                   ///< only when the stream is a terminal
  std::size_t width = 100;
};

/// Ends with a newline. The same text without colour in a pipe.
[[nodiscard]] std::string render_verdict(const Verdict& verdict, const VerdictView& view);
[[nodiscard]] std::string render_verdict(const Verdict& verdict, std::string_view name);

/// "3 of 24,576 elements of `out` are wrong in trial 41, first at [7, 1033]"
[[nodiscard]] std::string mismatch_sentence(const Mismatch& mismatch);
/// "got 31.97, should be 38.02: off by 6.05, allowed 2e-05 (302,500 times as much)"
[[nodiscard]] std::string mismatch_figures(const Mismatch& mismatch);
/// "off by 35 % of its norm in row 17, the worst, ..."; "" where nothing is known about parts.
[[nodiscard]] std::string mismatch_parts(const Mismatch& mismatch);
/// What this pattern of errors usually means; "" for an unknown one.
[[nodiscard]] std::string mismatch_hint(const Mismatch& mismatch);
/// "buffers ended at a guard page in 170 calls and began after one in 169; ..."; "" at other gates.
[[nodiscard]] std::string exercise_sentence(const Verdict& verdict);
/// "precision: error 1.1x of plain-c++'s"; "" where nothing was compared.
[[nodiscard]] std::string precision_sentence(const Verdict& verdict);
/// "59 clean trials: failure rate < 4.95 % at 95 %"; "" without trials.
[[nodiscard]] std::string evidence_sentence(const Verdict& verdict);

} // namespace kw
