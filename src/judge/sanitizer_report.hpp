// SPDX-License-Identifier: Apache-2.0
// The error stream of a side run -> what was found and where in the candidate's own sources. The
// text is hostile and arbitrary: nothing of it is believed beyond "something was reported", and
// what is shown of it is bounded, printable and without addresses or paths of this machine.
#pragma once

#include "model/solution.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace kw {

struct SanitizerReport {
  bool found = false;
  std::string tool; ///< "AddressSanitizer", "ThreadSanitizer", "UndefinedBehaviorSanitizer"
  std::string kind; ///< "heap-buffer-overflow", "data race", the sentence of an undefined behaviour
  std::string access;    ///< "READ of size 4", ""
  std::string region;    ///< "0 bytes to the right of 6060-byte region", ""
  long region_bytes = 0; ///< size of that region, 0 if none is named
  std::string file;      ///< of the solution; "" when no frame is in it
  int line = 0, column = 0;
  std::vector<std::string> lines; ///< for people: the first lines that say something, at most 12

  /// A fault of the kernel, not trouble of the runtime itself (out of memory, a mapping in its
  /// way).
  [[nodiscard]] bool is_fault() const;
  /// "AddressSanitizer: heap-buffer-overflow, READ of size 4 at k.cpp:12, 0 bytes to the right of
  /// 6060-byte region"
  [[nodiscard]] std::string sentence() const;
  /// The same without the place, for a record that has it elsewhere.
  [[nodiscard]] std::string sentence_without_place() const;
};

[[nodiscard]] SanitizerReport parse_sanitizer_report(std::string_view log,
                                                     const std::vector<SourceFile>& sources);

} // namespace kw
