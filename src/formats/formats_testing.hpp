// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of this folder: small valid documents and ways to look at issues.
#pragma once

#include "formats/issue.hpp"

#include <string>

namespace kw {

inline std::string golden(const std::string& name) {
  return std::string(KW_SOURCE_DIR) + "/tests/golden/formats/" + name;
}

/// One line per issue: "error where: message | remedy".
inline std::string listing(const Issues& issues) {
  std::string out;
  for (const Issue& i : issues)
    out += (i.severity == Severity::error ? "error " : "warning ") + i.error.where + ": " +
           i.error.message + " | " + i.error.remedy + "\n";
  return out;
}

/// A definition with the given replacement for one of its parts.
inline std::string definition_text(const std::string& from = {}, const std::string& to = {}) {
  std::string text = R"({
  "name": "d", "op_type": "ew",
  "axes": {"rows": {"type": "var"}, "cols": {"value": "8"}},
  "inputs": {"x": {"shape": ["rows", "cols"], "dtype": "float32"}, "s": {"shape": null, "dtype": "int32"}},
  "outputs": {"y": {"shape": ["rows", "cols"], "dtype": "bfloat16"}},
  "reference": "def run(x, s):\n    return x\n",
  "x_kernwright": {"flops": "rows * cols", "inputs": {"s": {"kind": "indices", "limit": "rows"}},
                   "tolerance": {"y": {"eta": 2, "reduction": "cols"}}}
})";
  const std::size_t at = from.empty() ? std::string::npos : text.find(from);
  if (at != std::string::npos)
    text.replace(at, from.size(), to);
  return text;
}

} // namespace kw
