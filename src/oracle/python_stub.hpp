// SPDX-License-Identifier: Apache-2.0
// The Python file an arm of kind python_peer runs: the user's text plus an adapter from the flat
// shared buffers to shaped arrays.
#pragma once

#include "base/result.hpp"
#include "model/definition.hpp"

#include <string>

namespace kw {

enum class PythonRole {
  reference, ///< run(*inputs) -> outputs, written as float64; inputs are copies
  peer,      ///< entry(*inputs, *outputs, *axes) writes the outputs in place
};

struct PythonStub {
  std::string text;
  std::string entry;  ///< function the arm calls
  bool torch = false; ///< the text imports torch
  std::string upcast; ///< dtypes that arrive as float32 because torch lacks them, "" = none
};

/// `torch_dtypes`: what the installed torch has. Errors: an input of a dtype that neither framework
/// carries (float4).
Result<PythonStub> make_python_stub(const Definition& definition, const std::string& user_text,
                                    const std::string& function, PythonRole role,
                                    const std::vector<std::string>& torch_dtypes);

} // namespace kw
