// SPDX-License-Identifier: Apache-2.0
// A typed schedule space: which parameter values a kernel template has. Format: docs/tuner.md.
#pragma once

#include "base/expr.hpp"
#include "base/result.hpp"

#include <array>
#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

/// What a parameter changes, so that a controller can vary one thing at a time.
inline constexpr std::array<std::string_view, 11> parameter_roles = {
    "vector",        ///< width of vectors or number of lanes
    "unroll",        ///< independent operations side by side
    "register_tile", ///< rows and columns kept in registers
    "cache_tile",    ///< blocks that stay in a cache
    "passes",        ///< what is kept or computed again between passes over the data
    "order",         ///< of loops
    "stores",        ///< through the caches or past them
    "prefetch",      ///< distance and level
    "arithmetic",    ///< another formula or degree for the same value
    "layout",        ///< of data the kernel arranges itself
    "task",          ///< grain of work per thread
};

struct Parameter {
  std::string name;
  std::string role;                ///< one of parameter_roles, "" = none of them
  bool ordered = true;             ///< "int": neighbouring values are alike; else categorical
  std::vector<std::string> values; ///< as written; ordered parameters are sorted ascending
  std::vector<double> numbers;     ///< what expressions see: the number, or the index of a word
  bool words = false;              ///< values are words: `numbers` are their indices
};

/// One template with its parameters.
struct Space {
  std::string name, family;
  std::string template_file; ///< relative to the folder of `file`
  std::string entry;         ///< exported function of the generated source
  std::optional<Expr> applies;
  std::vector<Parameter> parameters;
  std::vector<Expr> legal;
  std::vector<std::vector<int>> seeds; ///< value index per parameter
  std::string file;
};

/// A point: which space of a set, and the value index of each of its parameters.
struct Config {
  std::size_t space = 0;
  std::vector<int> choice;
  auto operator<=>(const Config&) const = default;
};

/// Reads one `*.space.json`. Errors: syntax, unknown schema, doubled names, a seed with a missing
/// or foreign value, an expression that does not parse or names a parameter in `applies`.
Result<Space> parse_space(std::string_view text, const std::string& file);

} // namespace kw
