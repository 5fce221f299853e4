// SPDX-License-Identifier: Apache-2.0
// What an undefined symbol means to the author of a kernel, and what to write in its place. Used
// for link errors and by the admission of objects.
#pragma once

#include "model/solution.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace kw {

struct SymbolAdvice {
  std::string what;    ///< "heap allocation"
  std::string instead; ///< "take scratch from kw_workspace(bytes)"
};
[[nodiscard]] SymbolAdvice advise(std::string_view symbol);

/// The demangled name of a C++ symbol, with the raw name; other names unchanged.
[[nodiscard]] std::string readable(const std::string& symbol);

struct SymbolUse {
  std::string file;
  int line = 0; ///< 0 = not found in the sources
  [[nodiscard]] std::string text() const;
};
/// First place in the sources (comments and strings aside) where the symbol, or the construct that
/// brings it in (`new`, a std::vector, a static local, `#pragma omp parallel`), is written.
[[nodiscard]] SymbolUse find_use(std::string_view symbol, const std::vector<SourceFile>& sources);

/// First place where any of the words is written as an identifier; earlier words win.
[[nodiscard]] SymbolUse find_words(const std::vector<std::string>& words,
                                   const std::vector<SourceFile>& sources);

} // namespace kw
