// SPDX-License-Identifier: Apache-2.0
// The yardstick: a candidate's errors beside those of the Definition's baseline on the same secret
// inputs. A tolerance has room for honest arithmetic of every kind; an arithmetic that is plainly
// coarser than the baseline's may hide in it. That is said, and decides nothing.
#pragma once

#include "judge/binding.hpp"
#include "model/definition.hpp"
#include "model/solution.hpp"
#include "model/verdict.hpp"
#include "tensor/error_units.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace kw {

/// The Definition's own baseline; empty when it declares none.
[[nodiscard]] std::optional<Solution> trusted_baseline(const Definition& definition);

/// Errors of both, pooled over all trials of one output and input class.
struct PrecisionPool {
  std::string output;
  InputClass input_class = InputClass::normal;
  bool magnitudes = false; ///< that the errors are counted by
  ErrorUnits candidate, baseline;
};

/// Workloads that the comparison calls: at most four, from the cheapest on, none that is sampled.
[[nodiscard]] std::vector<std::size_t>
precision_workloads(const std::vector<BoundWorkload>& workloads);
/// Input classes of a workload for it: values of both signs, then sums that are exact in float32.
[[nodiscard]] std::vector<InputClass> precision_classes(const BoundWorkload& workload);
[[nodiscard]] bool is_exact_probe(InputClass c);

/// What the pools say. `baseline`: its name.
[[nodiscard]] PrecisionEvidence weigh(const std::vector<PrecisionPool>& pools,
                                      const std::string& baseline);

} // namespace kw
