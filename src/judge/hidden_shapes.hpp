// SPDX-License-Identifier: Apache-2.0
// Legal shapes that no workload lists. A kernel that knows the listed ones by heart meets them when
// it claims to be accepted.
#pragma once

#include "judge/binding.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kw {

struct HiddenShapes {
  std::vector<BoundWorkload> workloads; ///< uuid "hidden:rows=17,n=129"
  std::string why_fewer;                ///< set when there are fewer than asked for
};

/// Up to `count` different shapes: each variable axis is 1, a listed value and its neighbours, a
/// power of two and its neighbours, a prime, or anything between 1 and the largest listed value.
/// A shape is legal when every constraint of the Definition holds; an axis that one of them gives
/// (`len_cu == seqs + 1`) follows from the others. It is never larger than the
/// listed workloads in any buffer (arenas are sized by them), and costs at most eight times the
/// cheapest of them, or 4e7 where that is more (`cost`). `coin(i)` is the i-th secret random
/// number.
HiddenShapes hidden_shapes(const Definition& definition, const std::vector<BoundWorkload>& listed,
                           std::size_t count,
                           const std::function<std::uint64_t(std::uint64_t)>& coin);

} // namespace kw
