// SPDX-License-Identifier: Apache-2.0
// What is wrong with a kernel: a stable code, the place, the operands, the limit and one edit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kw::nki {

enum class Severity : std::uint8_t { error, warning };

/// A tensor that an instruction was given.
struct OperandRow {
  std::string parameter, name, element, memory;
  std::vector<std::int64_t> shape;
  std::int64_t bytes_per_partition = 0;
};

struct Diagnostic {
  Severity severity = Severity::error;
  std::string code;    ///< AWS's name where there is one (err_...), else "NK-..."
  std::string message; ///< one sentence
  std::string file;
  std::int32_t line = 0, column = 0, end_column = 0;
  std::string api;
  std::vector<OperandRow> operands;
  std::string limit; ///< "128 partitions"; "" = none
  std::string edit;  ///< what to write instead
  std::int64_t times = 1;
};

} // namespace kw::nki
