// SPDX-License-Identifier: Apache-2.0
// Expressions over axes as C++, for a kernel that chooses its variant at run time.
#pragma once

#include "base/expr.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace kw {

/// The expression as C++ over doubles with the meaning Expr::eval gives it (Python's floor division
/// and modulo, comparisons as 0 or 1). `spell` maps a name to C++ of type double, or returns "" for
/// a name that does not exist. Uses kw_floor, kw_min, kw_max (expression_prelude).
/// Errors: an unknown name; a construct with no C++ counterpart here.
Result<std::string> to_cpp(const Expr& expression,
                           const std::function<std::string(std::string_view)>& spell);

/// C++ definitions that the text of to_cpp relies on; freestanding.
std::string_view expression_prelude();

} // namespace kw
