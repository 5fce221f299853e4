// SPDX-License-Identifier: Apache-2.0
// One kernel file looked at from all sides: what `kernwright nki` asks an interpreter for.
#pragma once

#include <pybind11/pybind11.h>

namespace kw::nki::python {

/// inspect(request: str) -> str, both JSON (docs/nki.md).
void bind_inspect(pybind11::module_& m);

} // namespace kw::nki::python
