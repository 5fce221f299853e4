// SPDX-License-Identifier: Apache-2.0
// A regime is a group of workloads that the same schedule spaces apply to (m = 1 is another kernel
// than m = 4096). Each is searched on its own; the winners meet in one dispatching solution.
#pragma once

#include "base/expr.hpp"
#include "base/result.hpp"
#include "judge/binding.hpp"
#include "search/space.hpp"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace kw {

struct Regime {
  std::string name;                   ///< "M <= 2", "M >= 64", or "all"
  std::string condition;              ///< over axes: the calls it takes; "" = all that are left
  std::vector<std::size_t> workloads; ///< indices, in file order
  std::vector<std::size_t> spaces;    ///< indices of the spaces that apply
  std::size_t representative = 0;     ///< workload index: the weighted median by cost
  std::size_t smallest = 0;           ///< cheapest workload, verified as well
  double weight = 0;                  ///< sum of workload weights
  std::string axis;                   ///< along which it borders on its neighbours; "" = none
  double from = 0, to = 0;            ///< smallest and largest listed value of the axis
  double border = 0;                  ///< it takes calls up to here; 0 = all that are left
};

/// Spells name and condition of regimes in a row along one axis.
void describe_row(std::vector<Regime>& row);
/// Between two regimes, before anything is measured: the geometric mean of their neighbouring
/// values.
[[nodiscard]] double assumed_border(double below, double above);

/// Sets `smallest`, and `representative` among the workloads that can be timed (none: as it was).
void choose_representative(Regime& regime, const std::vector<BoundWorkload>& workloads,
                           const std::function<bool(std::size_t)>& timeable);

/// Names that spaces may use besides axes: vector_bytes, threads, l1_bytes, l2_bytes, l3_bytes,
/// vector_registers (docs/tuner.md).
Bindings machine_facts(int threads);

/// An `applies` as a condition over axes alone: machine facts become numbers. "" when no axis is
/// left, which means always.
std::string axis_condition(const Space& space, const Bindings& facts);

/// Workloads with the same applicable spaces, split further: along the only variable axis where
/// arithmetic intensity or footprint leaves the first workload's order of magnitude (one kernel
/// configuration cannot serve a matrix-vector and a matrix-matrix product), or, with several
/// variable axes, along the one that is the length of a row of the first output, where it grows
/// threefold. Regimes are ordered so that testing `condition` one after the other takes every call
/// once. Without spaces (nobody but others proposes) only the axes split. Errors: an `applies` that
/// does not evaluate; a workload that none of the spaces applies to.
/// `split` false: one regime for all that the same spaces apply to.
Result<std::vector<Regime>> find_regimes(const std::vector<BoundWorkload>& workloads,
                                         const std::vector<Space>& spaces, const Bindings& facts,
                                         bool split = true);

} // namespace kw
