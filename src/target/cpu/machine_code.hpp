// SPDX-License-Identifier: Apache-2.0
// Machine code as `objdump -dl --no-show-raw-insn` prints it (x86-64, AT&T order): functions and
// their instructions, as views into that text.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace kw {

struct Instruction {
  std::uint64_t address = 0;
  std::string_view text; ///< as printed, without comment
  /// Without prefixes such as "lock".
  std::string_view mnemonic, operands;
  std::string_view file; ///< as far as known
  int line = 0;

  [[nodiscard]] bool is_jump() const { return mnemonic.size() > 1 && mnemonic.front() == 'j'; }
  [[nodiscard]] std::uint64_t jump_target() const; ///< 0 = it is no direct jump
  /// Where the result goes, by AT&T order: the last operand.
  [[nodiscard]] std::string_view last_operand() const;
};

struct CodeFunction {
  std::string_view name;
  std::vector<Instruction> code;
};

/// Lines that are neither are skipped. `disassembly` must outlive the result.
[[nodiscard]] std::vector<CodeFunction> read_machine_code(std::string_view disassembly);

} // namespace kw
