// SPDX-License-Identifier: Apache-2.0
// Diagnostics for people: the line, what is under it, the operands, the limit and one edit.
#pragma once

#include "nki/lang/diagnostic.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace kw::nki {

/// file.py:12:5: error err_num_partition_mismatch: ...
///    12 |   y = nisa.tensor_tensor(a, b, op=nl.add)
///       |       ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
[[nodiscard]] std::string to_text(const Diagnostic& d, std::string_view source);
/// All of them, errors first, and how many there are.
[[nodiscard]] std::string to_text(const std::vector<Diagnostic>& all, std::string_view source);

} // namespace kw::nki
