// SPDX-License-Identifier: Apache-2.0
// Looks at an NKI kernel in an interpreter of its own (src/nki/python).
#pragma once

#include "base/result.hpp"

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace kw {

struct NkiInspection {
  std::string library; ///< folder of the extension module; "" = nki_library()
  std::string python = "/usr/bin/python3";
  std::chrono::milliseconds timeout{300'000};
};

/// `request`: file, text, kernel, arguments, grid, target, dialect, mode, cost, out (docs/nki.md).
/// The answer has ok, diagnostics, text, results, memory, cost. Errors: the interpreter cannot be
/// started, the extension is missing, or the process died.
Result<nlohmann::ordered_json> inspect_nki(const NkiInspection& how,
                                           const nlohmann::ordered_json& request);

/// lib/kernwright beside the folder of the running program.
Result<std::string> nki_library();

} // namespace kw
