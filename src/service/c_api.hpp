// SPDX-License-Identifier: Apache-2.0
// A shipped kernel as a library: the judged source, compiled with the judged flags, behind a C
// header and a torch custom op.
#pragma once

#include "base/result.hpp"
#include "model/definition.hpp"
#include "model/probe.hpp"
#include "service/workspace.hpp"

#include <string>
#include <utility>
#include <vector>

namespace kw {

struct ShippedLibrary {
  std::vector<std::pair<std::string, std::string>> files; ///< relative path, content
};

Result<ShippedLibrary> make_library(const Workspace& workspace, const Definition& definition,
                                    const Probe& probe);

/// C parameter list of an entry, e.g. "const float* x, float* y, int64_t rows". Tensors
/// of bfloat16 and float16 are uint16_t bit patterns, of fp8 uint8_t; scalars are double, float or
/// int64_t.
[[nodiscard]] std::string c_parameters(const Definition& definition);

} // namespace kw
