// SPDX-License-Identifier: Apache-2.0
// The source of a kernel before it runs: read as a tree, looked at, and given a few calls that tell
// what tensors are called.
#pragma once

#include "nki/lang/diagnostic.hpp"

#include <pybind11/pybind11.h>
#include <string>
#include <vector>

namespace kw::nki::python {

struct Loaded {
  pybind11::dict globals;              ///< of the module
  std::vector<std::string> kernels;    ///< names of decorated functions, in order
  std::vector<Diagnostic> diagnostics; ///< of the source alone
};

/// Runs the module of this text: `x = nl.load(a)` names the tile `x`, and local annotations
/// `x: nt.tensor[128, 512] = ...` are checked. A module that cannot run leaves diagnostics.
[[nodiscard]] Loaded load_source(const std::string& file, const std::string& text);

/// named() and annotated(), which the changed source calls.
void bind_source(pybind11::module_& m);

} // namespace kw::nki::python
