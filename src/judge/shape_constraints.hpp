// SPDX-License-Identifier: Apache-2.0
// What a Definition's constraints mean for shapes that nobody listed: conditions that must hold,
// and equations that give one axis from the others, so that it need not be met by chance.
#pragma once

#include "base/expr.hpp"
#include "base/result.hpp"
#include "model/definition.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kw {

struct ShapeConstraints {
  struct Equation {
    std::string axis; ///< variable
    Expr value;       ///< over other axes
  };
  std::vector<Expr> conditions; ///< every constraint over axes, the equations among them
  std::vector<Equation> equations;

  /// Gives the axes of equations the values that follow from the others. False: no whole number of
  /// at least 1 follows, or two equations contradict each other.
  [[nodiscard]] bool solve(const Bindings& constant_axes,
                           std::vector<std::pair<std::string, std::int64_t>>& axes) const;
  [[nodiscard]] bool hold(const Bindings& axes) const;
};

/// `axis == expression`, either way round, is an equation. A statement about the content of an
/// input is left out where the way it is drawn keeps it: `limit == name[-1].item()` for kind
/// "offsets". `name.shape[i]` stands for the axis that the tensor is declared with. Any other text
/// that is no expression over axes is an error that names it.
[[nodiscard]] Result<ShapeConstraints> shape_constraints(const Definition& definition);

} // namespace kw
