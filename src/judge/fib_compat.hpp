// SPDX-License-Identifier: Apache-2.0
// What flashinfer-bench's own check would say of an output. Beside the strict verdict, never
// instead of it: it lets zeros pass where answers are small, looks at three trials, and checks
// neither state nor timed calls (docs/formats.md).
#pragma once

#include "base/dtype.hpp"
#include "model/definition.hpp"
#include "model/verdict.hpp"

#include <cstddef>
#include <span>
#include <string>

namespace kw {

/// Trials upstream makes of each workload.

/// The rule upstream applies to a Definition: its defaults, and what its bundled configuration and
/// special evaluators change.
struct FibRule {
  std::string evaluator = "default"; ///< default | lowbit | dsa_sparse_attention
  double atol = 1e-2, rtol = 1e-2;
  double required_ratio = 1; ///< of elements that must match
  bool finite = true;        ///< an infinity or NaN among the outputs is refused
  std::string unknown;       ///< why it cannot be told; "" = it can
};
[[nodiscard]] FibRule fib_rule(const Definition& definition);

/// One output of one trial.
struct FibOutput {
  double ratio = 1; ///< of elements that match
  bool non_finite = false;
  double max_abs = 0, max_rel = 0;
  bool passed = true;
};

/// An element fails only if |got - want| > atol and also |got - want| / (|want| + 1e-8) > rtol,
/// both sides as stored. `want` from the oracle. A comparison with NaN is false, so it never fails
/// there.
[[nodiscard]] FibOutput fib_compare(DType dtype, std::span<const std::byte> got,
                                    std::span<const double> want, const FibRule& rule);

/// Fills the rule's fields: "nothing seen yet".
[[nodiscard]] FibCompat open_fib(const FibRule& rule);
/// Counts one trial of a workload; `outputs` one per output.
void count_fib(FibCompat& fib, const std::string& uuid, std::span<const FibOutput> outputs);

} // namespace kw
