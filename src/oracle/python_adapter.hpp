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

struct PythonAdapter {
  std::string text;
  std::string entry;  ///< function the arm calls
  bool torch = false; ///< the text imports torch
  std::string upcast; ///< inputs whose dtype the framework lacks: they arrive as float32
};

/// `torch_dtypes`: what the installed torch has. Errors: an input of a dtype that neither framework
/// carries (float4); a text that is not UTF-8.
Result<PythonAdapter> make_python_adapter(const Definition& definition,
                                          const std::string& user_text, const std::string& function,
                                          PythonRole role,
                                          const std::vector<std::string>& torch_dtypes);

} // namespace kw
