// SPDX-License-Identifier: Apache-2.0
// Precompiled headers for the heavy standard headers. A kernel that includes <immintrin.h> spends
// most of its build parsing it (260 of 290 ms measured); with a precompiled header it takes 50.
//
// One precompiled header per exact set of known headers, compiler and flags: it then contains
// nothing that the source did not ask for, so what compiles with it compiles without it. It costs
// two to three builds to make, so it is made when a set is seen for the second time.
#pragma once

#include "compile/cache.hpp"
#include "compile/compiler.hpp"
#include "compile/worker.hpp"
#include "model/solution.hpp"

#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kw {

/// Known headers the sources include, sorted; empty when none of them is heavy, when a macro is
/// defined before the last #include (it could change what a header means), or when a source file
/// has the name of a known header.
[[nodiscard]] std::vector<std::string>
precompilable_headers(const std::vector<SourceFile>& sources);

class PrecompiledHeaders {
 public:
  /// Path of a header to pass with -include (its .gch lies beside it), "" when there is none yet or
  /// it cannot be made. Never an error: a precompiled header only saves time.
  std::string find_or_make(const std::vector<std::string>& headers, const Compiler& compiler,
                           const std::vector<std::string>& flags, BuildCache& cache,
                           const std::string& scratch, const WorkerLimits& limits);

 private:
  std::mutex mutex_;            ///< one is made at a time: each takes a core for half a second
  std::set<std::string> ready_; ///< keys whose bytes were verified by this process
};

} // namespace kw
