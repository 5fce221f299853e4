// SPDX-License-Identifier: Apache-2.0
// Definitions whose only reference is Python: `run` is called in a separate trusted interpreter on
// views of the staged inputs.
#pragma once

#include "base/result.hpp"
#include "oracle/oracle.hpp"

#include <string>
#include <vector>

namespace kw {

/// What the interpreter can do, found by asking it.
struct PythonProbe {
  bool present = false;
  std::string version; ///< "3.11.2"
  std::string numpy;   ///< version, "" = missing
  std::string torch;
  std::vector<std::string> torch_dtypes; ///< of those the schema knows
  std::string remedy;                    ///< what to install, "" = nothing missing
};
PythonProbe probe_python(const std::string& python);

/// Writes the generated adapter into scratch_dir. Inputs of a dtype the installed torch lacks are
/// upcast to float32, which Oracle::mode records.
/// Errors: no interpreter, or the reference needs torch and it is not installed.
Result<Oracle> prepare_python_reference(const Definition& definition, const OracleContext& context);

} // namespace kw
