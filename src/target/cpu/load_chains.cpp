// SPDX-License-Identifier: Apache-2.0
#include "target/cpu/load_chains.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>

namespace kw {
namespace {

/// One name for all widths: "%eax" and "%al" -> "ax", "%r8d" -> "r8", "%ymm1" -> "mm1".
std::string one_name(std::string_view reg) {
  if (reg.size() > 3 && reg.substr(1).starts_with("mm"))
    return std::string(reg.substr(1)); // xmm, ymm, zmm
  if (reg.size() > 1 && reg[0] == 'r' && reg[1] >= '0' && reg[1] <= '9')
    return std::string(reg.substr(0, reg.find_first_of("dwb", 1)));
  if (reg.size() == 3 && (reg[0] == 'r' || reg[0] == 'e'))
    reg.remove_prefix(1);
  if (reg.size() == 3 && reg.ends_with('l')) // sil, dil, bpl, spl
    reg.remove_suffix(1);
  if (reg.size() == 2 && (reg[1] == 'l' || reg[1] == 'h'))
    return {reg[0], 'x'};
  return std::string(reg);
}

void add_registers(std::string_view operand, std::set<std::string>& to) {
  for (std::size_t at = operand.find('%'); at != std::string_view::npos;
       at = operand.find('%', at + 1)) {
    const std::size_t end = operand.find_first_of(",(){} ", at);
    to.insert(one_name(operand.substr(at + 1, end == std::string_view::npos ? end : end - at - 1)));
  }
}

/// What an instruction does to registers, as far as its text shows.
struct RegisterUse {
  std::set<std::string> sources, address; ///< `address`: those that a memory operand is made of
  std::set<std::string> index;            ///< of these the one with a scale above one
  std::string target;                     ///< register written, "" = none
  bool loads = false;
  bool keeps_target = false; ///< the target's old value is among what the new one is made of
};

bool starts_with_any(std::string_view s, std::initializer_list<std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view b) { return s.starts_with(b); });
}

int operand_count(std::string_view operands) {
  int depth = 0, count = operands.empty() ? 0 : 1;
  for (const char c : operands) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    count += c == ',' && depth == 0;
  }
  return count;
}

RegisterUse use_of(const Instruction& i) {
  RegisterUse use;
  const std::string_view m = i.mnemonic;
  if (i.is_jump() || starts_with_any(m, {"nop", "prefetch", "call", "ret", "data16"}))
    return use;
  const std::string_view last = i.last_operand();
  const std::string_view before =
      i.operands.substr(0, static_cast<std::size_t>(last.data() - i.operands.data()));
  const bool names_memory = i.operands.find('(') != std::string_view::npos;
  if (names_memory) {
    const std::size_t open = i.operands.find('(');
    const std::string_view inside = i.operands.substr(open, i.operands.find(')', open) - open + 1);
    add_registers(inside, use.address);
    const std::size_t comma = inside.find(',');
    if (comma != std::string_view::npos &&
        (inside.ends_with(",2)") || inside.ends_with(",4)") || inside.ends_with(",8)")))
      add_registers(inside.substr(comma), use.index);
  }
  add_registers(before, use.sources);
  const bool only_reads = starts_with_any(m, {"cmp", "test", "bt", "vucomis", "ucomis", "vcomis"});
  const bool to_memory = last.find('(') != std::string_view::npos; // a mask may follow
  if (only_reads || to_memory) {
    add_registers(last, use.sources);
    use.loads = names_memory && !m.starts_with("lea") && only_reads;
    return use;
  }
  std::set<std::string> target;
  add_registers(last.substr(0, last.find('{')), target);
  if (target.empty())
    return use;
  use.target = *target.begin();
  use.loads = names_memory && !m.starts_with("lea");
  const bool moves = starts_with_any(
      m, {"mov", "lea", "vmov", "vpmov", "cvt", "set", "bsf", "bsr", "tzcnt", "lzcnt", "popcnt"});
  const bool three = operand_count(i.operands) >= 3;
  const bool fused = starts_with_any(m, {"vfm", "vfnm", "vpdp", "vgather", "vpgather"});
  const bool clears = m.find("xor") != std::string_view::npos && use.sources.size() == 1 &&
                      use.sources.contains(use.target) && !names_memory;
  if (clears)
    use.sources.clear();
  use.keeps_target = !clears && (fused || (!moves && !(m.starts_with('v') || three)));
  return use;
}

bool meet(const std::set<std::string>& a, const std::set<std::string>& b) {
  return std::any_of(a.begin(), a.end(), [&](const std::string& r) { return b.contains(r); });
}

std::vector<RegisterUse> uses_of(std::span<const Instruction> loop) {
  std::vector<RegisterUse> uses;
  uses.reserve(loop.size());
  for (const Instruction& i : loop)
    uses.push_back(use_of(i));
  return uses;
}

/// `carried`: registers that hold something made of a loaded value; what an instruction adds to
/// them or overwrites.
void carry(const RegisterUse& use, std::set<std::string>& carried) {
  if (use.target.empty())
    return;
  if (meet(use.sources, carried) || meet(use.address, carried) ||
      (use.keeps_target && carried.contains(use.target)))
    carried.insert(use.target);
  else
    carried.erase(use.target);
}

} // namespace

int chased_loads(std::span<const Instruction> loop) {
  const std::vector<RegisterUse> uses = uses_of(loop);
  int chased = 0;
  for (std::size_t load = 0; load < uses.size(); ++load) {
    if (!uses[load].loads || uses[load].target.empty())
      continue;
    std::set<std::string> carried{uses[load].target};
    for (std::size_t step = 1; step < uses.size() && !carried.empty(); ++step)
      carry(uses[(load + step) % uses.size()], carried);
    chased += meet(uses[load].address, carried);
  }
  return chased;
}

int indirect_loads(std::span<const Instruction> loop) {
  std::set<std::string> loaded; // registers that hold something loaded in this turn
  int indirect = 0;
  for (const RegisterUse& use : uses_of(loop)) {
    indirect += use.loads && meet(use.index, loaded);
    carry(use, loaded);
    if (use.loads && !use.target.empty())
      loaded.insert(use.target);
  }
  return indirect;
}

} // namespace kw
