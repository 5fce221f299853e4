// SPDX-License-Identifier: Apache-2.0
#include "target/cpu/machine_code.hpp"

#include <algorithm>
#include <charconv>

namespace kw {
namespace {

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t'))
    s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t' || s.back() == '\r'))
    s.remove_suffix(1);
  return s;
}

bool hex(std::string_view s, std::uint64_t& out) {
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), out, 16);
  return error == std::errc{} && end == s.data() + s.size() && !s.empty();
}

/// "0000000000001110 <mm>:" -> mm
std::string_view function_name(std::string_view line) {
  const std::size_t open = line.find(" <");
  std::uint64_t address = 0;
  if (open == std::string_view::npos || !line.ends_with(">:") ||
      !hex(line.substr(0, open), address))
    return {};
  return line.substr(open + 2, line.size() - open - 4);
}

/// "    1110:\ttest   %rcx,%rcx"
bool parse_instruction(std::string_view line, Instruction& out) {
  const std::size_t colon = line.find(":\t");
  if (colon == std::string_view::npos || !hex(trimmed(line.substr(0, colon)), out.address))
    return false;
  std::string_view text = trimmed(line.substr(colon + 2));
  if (const std::size_t comment = text.find(" #"); comment != std::string_view::npos)
    text = trimmed(text.substr(0, comment));
  out.text = text;
  for (bool found = true; found;) {
    found = false;
    for (const std::string_view prefix :
         {"bnd ", "lock ", "rep ", "repz ", "notrack ", "data16 ", "cs "})
      if (text.starts_with(prefix))
        text = trimmed(text.substr(prefix.size())), found = true;
  }
  const std::size_t space = text.find(' ');
  out.mnemonic = text.substr(0, space);
  out.operands = space == std::string_view::npos ? std::string_view() : trimmed(text.substr(space));
  return !out.mnemonic.empty();
}

/// "/path/kernel.cpp:12" or "... (discriminator 3)"
bool parse_line(std::string_view line, std::string_view& file, int& number) {
  if (const std::size_t note = line.find(" (discriminator"); note != std::string_view::npos)
    line = line.substr(0, note);
  const std::size_t colon = line.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == line.size())
    return false;
  const auto [end, error] =
      std::from_chars(line.data() + colon + 1, line.data() + line.size(), number);
  if (error != std::errc{} || end != line.data() + line.size())
    return false;
  file = line.substr(0, colon);
  return true;
}

} // namespace

std::uint64_t Instruction::jump_target() const {
  std::uint64_t target = 0;
  return is_jump() && hex(operands.substr(0, operands.find(' ')), target) ? target : 0;
}

std::string_view Instruction::last_operand() const {
  // Memory operands hold commas too: the last one outside parentheses separates.
  int depth = 0;
  for (std::size_t i = operands.size(); i-- > 0;) {
    depth += operands[i] == ')' ? 1 : operands[i] == '(' ? -1 : 0;
    if (operands[i] == ',' && depth == 0)
      return trimmed(operands.substr(i + 1));
  }
  return trimmed(operands);
}

std::vector<CodeFunction> read_machine_code(std::string_view text) {
  std::vector<CodeFunction> out;
  std::string_view file;
  int number = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (const std::string_view name = function_name(line); !name.empty()) {
      out.push_back({name, {}});
      file = {}, number = 0;
      continue;
    }
    if (out.empty())
      continue;
    Instruction i;
    if (parse_instruction(line, i)) {
      i.file = file, i.line = number;
      out.back().code.push_back(i);
    } else {
      parse_line(line, file, number);
    }
  }
  return out;
}

} // namespace kw
