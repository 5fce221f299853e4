// SPDX-License-Identifier: Apache-2.0
#include "report/fib_text.hpp"

#include <cmath>
#include <fmt/format.h>

namespace kw {
namespace {

struct Counts {
  std::uint64_t trials = 0, matched = 0;
};

Counts counts(const FibCompat& fib) {
  Counts c;
  for (const FibWorkload& w : fib.workloads)
    c.trials += w.trials, c.matched += w.matched;
  return c;
}

bool passed(const FibCompat& fib) {
  return fib.status == "PASSED";
}

/// What the strict check saw and upstream's does not.
std::string reason_it_passes(const Verdict& v) {
  switch (v.finding) {
  case Finding::nondeterminism:
    return "it calls a kernel once per input";
  case Finding::state:
    return "it looks at outputs only";
  case Finding::wrong:
    break;
  default:
    return "it did not meet what failed here";
  }
  if (!v.mismatch)
    return "its tolerance is wider";
  const Mismatch& m = *v.mismatch;
  if (is_hidden_shape(m.workload))
    return "it tries listed shapes only";
  const double error = std::fabs(m.got - m.want);
  std::string out;
  if (m.input_class != "normal")
    out = fmt::format("it draws no inputs of class `{}`", m.input_class);
  const std::string also = out.empty() ? "" : ", and ";
  if (error <= v.fib->atol)
    return out + also + fmt::format("the error of {:.2g} is below its atol", error);
  if (error <= v.fib->rtol * std::fabs(m.want))
    return out + also +
           fmt::format("the relative error of {:.2g} is below its rtol", error / std::fabs(m.want));
  return out.empty() ? "so few trials did not meet the failure, or it forgives a share of elements"
                     : out;
}

std::string reason_it_fails(const FibCompat& fib) {
  if (fib.status != "INCORRECT_NUMERICAL")
    return "the kernel failed in a call that only its rule asked for";
  return fib.non_finite ? "it refuses infinities and NaN even where they are the right answer"
                        : "its fixed tolerance is tighter here than honest rounding";
}

} // namespace

bool fib_differs(const Verdict& v) {
  return v.fib && !v.fib->status.empty() && v.correctness.outcome != Outcome::unknown &&
         passed(*v.fib) != (v.correctness.outcome == Outcome::pass);
}

std::string fib_sentence(const Verdict& v) {
  if (!v.fib || v.fib->status.empty())
    return {};
  const FibCompat& fib = *v.fib;
  const Counts c = counts(fib);
  const bool settled = c.trials >= fib_trials || !passed(fib);
  std::string out = !settled ? "so far" : passed(fib) ? "accepted upstream" : "refused upstream";
  if (fib_differs(v) && settled)
    out = "would have been " + out;
  out += fmt::format(": {} of {} trial{} matched (absolute error <= {} or relative <= {}",
                     c.matched, c.trials, c.trials == 1 ? "" : "s", fib.atol, fib.rtol);
  out += fib.required_ratio < 1 ? fmt::format(" in {:.4g} % of elements)", 100 * fib.required_ratio)
                                : ")";
  if (fib_differs(v))
    out += "; differs because " + (passed(fib) ? reason_it_passes(v) : reason_it_fails(fib));
  return out;
}

} // namespace kw
