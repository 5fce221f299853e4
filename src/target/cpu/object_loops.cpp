// SPDX-License-Identifier: Apache-2.0
#include "target/cpu/object_loops.hpp"

#include "target/cpu/load_chains.hpp"
#include "target/cpu/machine_code.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <map>
#include <set>
#include <span>

namespace kw {
namespace {

int register_bits(std::string_view operands) {
  if (operands.find("%zmm") != std::string_view::npos)
    return 512;
  if (operands.find("%ymm") != std::string_view::npos)
    return 256;
  return operands.find("%xmm") != std::string_view::npos ? 128 : 0;
}

bool ends_with_any(std::string_view s, std::initializer_list<std::string_view> endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [&](std::string_view e) { return s.ends_with(e); });
}
bool contains(std::string_view s, std::string_view part) {
  return s.find(part) != std::string_view::npos;
}

/// Moves and shuffles count as neither.
bool is_arithmetic(std::string_view m) {
  static constexpr std::array words = {"add",  "sub",   "mul",    "div",   "sqrt",  "max",   "min",
                                       "rcp",  "rsqrt", "round",  "scale", "cvt",   "fma",   "fms",
                                       "fnma", "fnms",  "getexp", "vdp",   "range", "reduce"};
  return std::any_of(words.begin(), words.end(), [&](const char* w) { return contains(m, w); });
}
bool is_float_op(std::string_view m) {
  return ends_with_any(m, {"ps", "pd", "ss", "sd", "ph", "sh"}) && is_arithmetic(m);
}

void count(const Instruction& i, ObjectLoop& loop) {
  ++loop.instructions;
  const std::string_view m = i.mnemonic;
  const bool memory = contains(i.operands, "(") && !m.starts_with("lea") && !m.starts_with("nop") &&
                      !m.starts_with("prefetch");
  const bool to_memory = memory && contains(i.last_operand(), "(");
  const bool compares = m.starts_with("cmp") || m.starts_with("test");
  loop.stores += to_memory && !compares;
  loop.loads += memory && (!to_memory || compares);
  loop.spills += memory && (contains(i.operands, "(%rsp") || contains(i.operands, "(%rbp)"));
  loop.gathers += contains(m, "gather") || contains(m, "scatter");
  loop.calls += m.starts_with("call");
  loop.branches += i.is_jump();
  loop.atomics += i.text.starts_with("lock ") || (m.starts_with("xchg") && memory);
  loop.divides += m.starts_with("vdiv") || m.starts_with("vsqrt") || m.starts_with("div") ||
                  m.starts_with("sqrt") || m.starts_with("idiv");
  if (!is_float_op(m))
    return;
  const bool scalar = ends_with_any(m, {"ss", "sd", "sh"});
  ++(scalar ? loop.scalar : loop.packed);
  if (!scalar)
    loop.vector_bits = std::max(loop.vector_bits, register_bits(i.operands));
  loop.fma += contains(m, "fmadd") || contains(m, "fmsub") || contains(m, "fnmadd") ||
              contains(m, "fnmsub");
}

bool adds_up(std::string_view m) {
  return m.starts_with("vfm") || m.starts_with("vfnm") || m.starts_with("vadd") ||
         m.starts_with("addp") || m.starts_with("adds");
}

/// Registers that carry a sum from one turn to the next.
int accumulators(const std::vector<Instruction>& code, std::size_t first, std::size_t last) {
  std::map<std::string_view, bool> only_sums; // vector registers written in the loop
  for (std::size_t i = first; i <= last; ++i) {
    const std::string_view to = code[i].last_operand().substr(0, 6);
    if (!to.starts_with("%xmm") && !to.starts_with("%ymm") && !to.starts_with("%zmm"))
      continue;
    const std::string_view number = to.substr(4); // "0{%k1" cannot be told from "0": close enough
    const bool reads_itself = adds_up(code[i].mnemonic) && is_float_op(code[i].mnemonic) &&
                              (contains(code[i].mnemonic, "231") || // a two-operand form too
                               !code[i].mnemonic.starts_with("v") ||
                               code[i].operands.find(to) < code[i].operands.rfind(to));
    const auto [at, fresh] = only_sums.emplace(number, reads_itself);
    if (!fresh)
      at->second = at->second && reads_itself;
  }
  return static_cast<int>(
      std::count_if(only_sums.begin(), only_sums.end(), [](const auto& r) { return r.second; }));
}

struct Span {
  std::size_t first = 0, last = 0; ///< instruction numbers
};

std::vector<Span> loops_in(const std::vector<Instruction>& code) {
  std::map<std::uint64_t, std::size_t> at;
  for (std::size_t i = 0; i < code.size(); ++i)
    at.emplace(code[i].address, i);
  std::map<std::size_t, std::size_t> by_head; // several jumps back to one head: the last
  for (std::size_t i = 0; i < code.size(); ++i)
    if (const auto head = at.find(code[i].jump_target()); head != at.end() && head->second <= i)
      by_head[head->second] = i;
  std::vector<Span> out;
  for (const auto& [first, last] : by_head)
    out.push_back({first, last});
  return out;
}

std::string base(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

/// What an assembler reads again: addresses become names, padding one word.
std::string assembly(const std::vector<Instruction>& code, std::size_t first, std::size_t last) {
  std::string out = "kw_turn:\n";
  for (std::size_t i = first; i <= last; ++i) {
    const std::string_view m = code[i].mnemonic;
    std::string line(code[i].text);
    if (code[i].is_jump() || m.starts_with("call"))
      line = std::string(m) +
             (code[i].jump_target() == code[first].address ? " kw_turn" : " kw_elsewhere");
    else if (m.starts_with("nop") || line == "xchg %ax,%ax")
      line = "nop";
    out += "  " + line + "\n";
  }
  return out;
}

void loops_of(const CodeFunction& function, const std::vector<std::uint64_t>& samples,
              std::vector<ObjectLoop>& out) {
  const std::vector<Span> all = loops_in(function.code);
  for (const Span& span : all) {
    const auto inside = [&](const Span& inner, const Span& outer) {
      return inner.first >= outer.first && inner.last <= outer.last &&
             (inner.first != outer.first || inner.last != outer.last);
    };
    if (std::any_of(all.begin(), all.end(), [&](const Span& s) { return inside(s, span); }))
      continue;
    ObjectLoop loop;
    loop.function = std::string(function.name);
    loop.depth = 1 + static_cast<int>(std::count_if(
                         all.begin(), all.end(), [&](const Span& s) { return inside(span, s); }));
    for (std::size_t i = span.first; i <= span.last; ++i) {
      count(function.code[i], loop);
      if (loop.line == 0 && function.code[i].line > 0)
        loop.line = function.code[i].line, loop.file = base(function.code[i].file);
    }
    loop.accumulators = accumulators(function.code, span.first, span.last);
    loop.chased =
        chased_loads(std::span(function.code).subspan(span.first, span.last - span.first + 1));
    loop.gathers +=
        indirect_loads(std::span(function.code).subspan(span.first, span.last - span.first + 1));
    loop.code = assembly(function.code, span.first, span.last);
    const std::uint64_t begin = function.code[span.first].address,
                        end = function.code[span.last].address;
    if (!samples.empty())
      loop.share = static_cast<double>(
                       std::count_if(samples.begin(), samples.end(),
                                     [&](std::uint64_t a) { return a >= begin && a <= end; })) /
                   static_cast<double>(samples.size());
    if (loop.packed + loop.scalar + loop.loads + loop.stores + loop.calls > 0)
      out.push_back(std::move(loop));
  }
}

/// Below this many samples a share says little.
constexpr std::size_t enough_samples = 50;

/// A static guess. Work per turn: floating point, a call counts as much of it.
double heat(const ObjectLoop& loop) {
  return loop.packed + loop.scalar + 0.25 * (loop.loads + loop.stores) + 20 * loop.calls +
         10 * loop.divides;
}

void mark_hot(std::vector<ObjectLoop>& loops, std::size_t samples) {
  if (samples >= enough_samples) {
    const auto hot =
        std::max_element(loops.begin(), loops.end(), [](const ObjectLoop& a, const ObjectLoop& b) {
          return a.share < b.share;
        });
    if (hot != loops.end() && hot->share > 0)
      hot->hot = true, hot->confidence = std::min(0.95, 0.5 + hot->share / 2);
    return;
  }
  int deepest = 0;
  for (const ObjectLoop& l : loops)
    if (l.packed + l.scalar + l.calls > 0)
      deepest = std::max(deepest, l.depth);
  ObjectLoop* hot = nullptr;
  double total = 0;
  for (ObjectLoop& l : loops) {
    if (l.depth < deepest)
      continue;
    total += heat(l);
    if (hot == nullptr || heat(l) > heat(*hot))
      hot = &l;
  }
  if (hot == nullptr)
    return;
  hot->hot = true;
  hot->confidence = total > 0 ? 0.9 * heat(*hot) / total : 0.1;
}

} // namespace

std::vector<ObjectLoop> object_loops(std::string_view disassembly, const std::string& entry,
                                     const std::vector<std::uint64_t>& samples) {
  std::vector<CodeFunction> functions = read_machine_code(disassembly);
  std::stable_partition(functions.begin(), functions.end(),
                        [&](const CodeFunction& f) { return f.name == entry; });
  std::vector<ObjectLoop> out;
  for (const CodeFunction& f : functions)
    loops_of(f, samples, out);
  mark_hot(out, samples.size());
  return out;
}

} // namespace kw
