// SPDX-License-Identifier: Apache-2.0
// Admission of a shared object before anything loads it. The bytes are judged, never mapped as
// code: what could run at load time, keep state between calls, or reach outside the kernel is
// refused.
#pragma once

#include "base/result.hpp"
#include "model/solution.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace kw {

struct AdmitRules {
  std::string entry;               ///< the one symbol that may be exported
  std::vector<SourceFile> sources; ///< to say where a refused symbol is used; may be empty
  std::size_t max_bytes = std::size_t{4} << 20;
};

/// One broken rule, in words for the kernel's author.
struct Refusal {
  std::string rule;   ///< "malformed", "exports", "import", "load-time-code", "writable-state", ...
  std::string symbol; ///< the symbol concerned, may be empty
  std::string message; ///< sentence
  std::string remedy;  ///< the allowed replacement
  std::string where;   ///< "file:line" of the use, when it can be told
};

struct Admission {
  std::vector<Refusal> refusals;    ///< empty = admitted
  std::vector<std::string> flags;   ///< worth a look, not refused: "syscall instruction at 0x1040"
  std::vector<std::string> imports; ///< undefined symbols, sorted

  [[nodiscard]] bool admitted() const { return refusals.empty(); }
  /// One Error of kind `refused` over all refusals; ok when admitted.
  [[nodiscard]] Status status() const;
};

/// Judges the bytes of a shared object. A malformed file is a refusal like any other; the error
/// side is kept for bytes that are no ELF file for this processor at all (unsupported).
Result<Admission> admit(std::span<const std::byte> object, const AdmitRules& rules);

} // namespace kw
