// SPDX-License-Identifier: Apache-2.0
// Which compiler there is, and its identity for cache keys and records.
#pragma once

#include "base/result.hpp"

#include <string>

namespace kw {

struct Compiler {
  std::string path;     ///< absolute
  std::string name;     ///< as asked for: "g++-12"
  std::string version;  ///< "12.2.0"
  std::string identity; ///< sha256 over driver, version text, back-end programs and system headers
  std::string libgcc;   ///< path of the static helper library, "" if the compiler has none
  bool clang = false;

  /// Asks the compiler where it would link this library from; false if it knows of none.
  [[nodiscard]] bool has_library(const std::string& file) const;
  [[nodiscard]] std::string describe() const { return name + " " + version; }
};

/// Finds and questions a compiler; the answer is kept for the life of the process, and in
/// `memory_folder` ("" = nowhere) until the compiler's file changes. Name "" tries g++-12, g++,
/// clang++-19, clang++ in this order. Errors: not_found, with the package to install.
Result<Compiler> probe_compiler(const std::string& name = {},
                                const std::string& memory_folder = {});

} // namespace kw
