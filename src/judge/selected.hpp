// SPDX-License-Identifier: Apache-2.0
// Outputs that select among candidates (tensor/selection.hpp) within a trial.
#pragma once

#include "judge/trial.hpp"
#include "tensor/selection.hpp"

#include <memory>
#include <vector>

namespace kw {

/// An output that selects; a score may be off by `eta` roundings of its magnitude.
[[nodiscard]] SelectionResult check_ids(const BoundOutput& output, std::span<const std::byte> ids,
                                        const Expected::Tensor& expected, double eta);

/// The answer that the exact scores give: elements of the output.
[[nodiscard]] std::shared_ptr<const std::vector<double>> chosen_of(const BoundOutput& output,
                                                                   const Expected::Tensor& tensor);

} // namespace kw
