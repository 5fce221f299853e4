// SPDX-License-Identifier: Apache-2.0
// Turns a template and parameter values into a Solution. The template convention is in
// docs/tuner.md: the template defines `static int KW_ENTRY(...)` inside `namespace KW_NAMESPACE`,
// the generated file wraps it in the exported entry.
#pragma once

#include "model/definition.hpp"
#include "model/solution.hpp"
#include "search/space.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

/// One template at one configuration.
struct Variant {
  const Space* space = nullptr;
  std::vector<int> choice;        ///< value index per parameter of `space`
  std::string_view template_text; ///< content of space->template_file
};

/// A variant, or a whole solution from elsewhere, and the calls it takes.
struct Branch {
  std::string when; ///< expression over the Definition's axes, e.g. "m <= 16"; "" = everything
  Variant variant = {};
  const Solution* foreign = nullptr; ///< set: takes the place of `variant`
};

/// The solution "kw-<definition>-<6 hex>" with one source "kernel.cpp". Same input, same text.
/// Errors: an #include below the first code line, a choice outside the space, an argument type the
/// C calling convention does not carry.
Result<Solution> instantiate(const Definition& definition, const Variant& variant);

/// One solution that tests `when` of each branch in order at run time and calls the first that
/// holds; a call that none takes returns 1 (outside the contract). A foreign branch is compiled as
/// a unit of its own, all its C++ sources in one, its entry renamed by a macro. Errors: as above;
/// no branch; a `when` that names no axis; branches whose spaces export different entries; a
/// foreign solution whose entry is no plain C function.
Result<Solution> instantiate_dispatch(const Definition& definition,
                                      std::span<const Branch> branches);

} // namespace kw
