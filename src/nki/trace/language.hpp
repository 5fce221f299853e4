// SPDX-License-Identifier: Apache-2.0
// The tables of calls that the files of nki.language hold.
#pragma once

#include "nki/trace/operands.hpp"

#include <vector>

namespace kw::nki {

[[nodiscard]] const std::vector<Call>& language_tensors_calls();
[[nodiscard]] const std::vector<Call>& language_arithmetic_calls();
[[nodiscard]] const std::vector<Call>& language_reduce_calls();

} // namespace kw::nki
