// SPDX-License-Identifier: Apache-2.0
#include "report/profile_text.hpp"

#include "report/escape.hpp"
#include "report/table.hpp"
#include "report/units.hpp"

#include <cmath>
#include <fmt/format.h>
#include <string_view>
#include <utility>

namespace kw {
namespace {

constexpr std::size_t line_width = 100, indent = 13;

std::string sentence_of(const BottleneckState& s) {
  const std::string sure = fmt::format("(confidence {:.0f} %)", 100 * s.confidence);
  if (s.word == "unknown")
    return "not known: nothing that was measured explains the time";
  const std::string what = s.word == "vectorisation" ? "bound by missing vectorisation"
                           : s.word == "dependency"  ? "bound by chains of dependent operations"
                           : s.word == "load_store"  ? "bound by loads and stores"
                           : s.word == "launch"      ? "bound by the cost of a call"
                           : s.word == "mixed"       ? "bound by compute and memory alike"
                           : s.word == "latency"     ? "bound by latency: units wait"
                           : s.word == "tail"        ? "bound by a tail that leaves units idle"
                           : s.word == "threading"   ? "bound by threads in each other's way"
                           : !s.level.empty()        ? fmt::format("memory-bound in {}", s.level)
                                                     : s.word + "-bound";
  return what + " " + sure;
}

std::string figure_text(const ProfileFigure& f) {
  if (f.unit == "ns")
    return duration_text(f.value);
  if (f.unit.empty())
    return share_text(f.value);
  return fmt::format("{} {}",
                     f.value == std::floor(f.value) ? fmt::format("{:.0f}", f.value)
                                                    : fmt::format("{:.2f}", f.value),
                     f.unit);
}

std::string meaning(const std::string& name) {
  if (name == "call")
    return "median of a call";
  if (name == "flop_share")
    return "of the FLOP ceiling";
  if (name == "bandwidth_share")
    return "of the bandwidth that fits the footprint";
  if (name == "footprint")
    return "that a call reads and writes at least";
  if (name.starts_with("cliff_"))
    return "dearer from " + name.substr(std::string_view("cliff_").size()) +
           " than from the level before";
  if (name == "no_vectorize")
    return "without the compiler's vectorisation";
  if (name == "fast_math")
    return "with -ffast-math";
  if (name.starts_with("stall_"))
    return "of the stalls: " + name.substr(std::string_view("stall_").size());
  for (const auto& [known, text] :
       {std::pair{"thread_efficiency", "speed-up per thread"},
        std::pair{"thread_balance", "mean over busiest thread"},
        std::pair{"least_thread", "least over busiest thread"},
        std::pair{"task_overhead", "of helpers' time where tasks are handed out"},
        std::pair{"ipc", "hardware counters"},
        std::pair{"branch_misses", "branch misses"},
        std::pair{"cache_misses", "cache misses"},
        std::pair{"kernel_time", "mean of a launch"},
        std::pair{"kernel_share", "of the kernels' time"},
        std::pair{"launches", "of this kernel"},
        std::pair{"sm_share", "of the multiprocessors' ceiling"},
        std::pair{"memory_share", "of the memory system's ceiling"},
        std::pair{"dram_share", "of the DRAM bandwidth"},
        std::pair{"achieved_occupancy", "achieved occupancy"},
        std::pair{"theoretical_occupancy", "theoretical occupancy"},
        std::pair{"waves_per_sm", "on each multiprocessor"},
        std::pair{"blocks_per_sm", "for each multiprocessor"},
        std::pair{"registers", "registers"},
        std::pair{"shared_memory", "shared memory"},
        std::pair{"idle_share", "of the timeline without work"},
        std::pair{"launch_gap", "median pause between launches"}})
    if (name == known)
      return text;
  return name;
}

void block(std::string& out, const char* title, const std::vector<std::string>& lines) {
  std::string head = fmt::format("{:<{}}", title, indent);
  for (const std::string& text : lines)
    for (const std::string& line : wrap(terminal_text(text), line_width - indent)) {
      out += head + line + "\n";
      head.assign(indent, ' ');
    }
}

std::string loop_place(const ObjectLoop& l) {
  return l.line > 0 ? fmt::format("{}:{}", l.file, l.line) : l.function;
}

/// What models of processors say of the loops where time goes.
std::string pipeline_table(const Profile& p, bool colour) {
  Table models({{"innermost loop", Align::left, 40},
                {"model", Align::left},
                {"cycles", Align::right},
                {"busiest unit", Align::right},
                {"short of units", Align::right},
                {"waits for results", Align::right},
                {"from", Align::left}});
  bool any = false;
  for (const ObjectLoop& l : p.loops)
    for (const PipelineEstimate& e : l.pipeline) {
      any = true;
      models.row({loop_place(l), e.model + (e.own ? " (this machine)" : " (reference)"),
                  fmt::format("{:.1f}", e.cycles), fmt::format("{:.1f}", e.throughput),
                  share_text(e.ports) + (e.port.empty() ? "" : " " + e.port),
                  share_text(e.dependency), e.source});
    }
  return any ? "\n" + models.text(colour) : "";
}

std::string sweep_tables(const Profile& p, bool colour) {
  std::string out;
  if (!p.sweep.empty()) {
    Table sizes({{p.sweep.front().axis, Align::right},
                 {"bytes", Align::right},
                 {"fits", Align::left},
                 {"call", Align::right},
                 {"ns per byte", Align::right},
                 {"from", Align::left}});
    for (const SweepPoint& s : p.sweep)
      sizes.row({std::to_string(s.value), fmt::format("{:.0f}", s.bytes), s.level,
                 duration_text(s.ns), fmt::format("{:.3f}", s.ns_per_byte), s.source});
    out += "\n" + sizes.text(colour);
  }
  if (!p.scaling.empty()) {
    Table threads({{"threads", Align::right},
                   {"call", Align::right},
                   {"speed-up", Align::right},
                   {"per thread", Align::right}});
    for (const ThreadPoint& t : p.scaling)
      threads.row({std::to_string(t.threads), duration_text(t.ns), ratio_text(t.speedup),
                   share_text(t.efficiency)});
    out += "\n" + threads.text(colour);
  }
  return out;
}

std::string loop_kind(const ObjectLoop& l) {
  if (l.packed + l.scalar == 0)
    return "no floating point";
  const std::string width = l.packed > 0 ? fmt::format("{} bit", l.vector_bits) : "scalar";
  return l.packed > 0 && l.scalar > 0 ? width + fmt::format(", {} scalar", l.scalar) : width;
}

} // namespace

std::string render_profile(const Profile& p, bool colour) {
  std::string out = fmt::format("{}{}\n", paint(terminal_text(p.solution), Colour::bold, colour),
                                p.axes.empty() ? "" : "  " + terminal_text(p.axes));
  block(out, "bottleneck", {sentence_of(p.state)});
  if (p.state.headroom > 1)
    block(out, "headroom",
          {fmt::format("{} to the nearest ceiling", ratio_text(p.state.headroom))});
  block(out, "evidence", p.state.evidence);
  block(out, "try", p.state.next);
  out += "\n";
  Table figures({{"figure", Align::right}, {"", Align::left}, {"from", Align::left}});
  for (const ProfileFigure& f : p.figures)
    figures.row({figure_text(f), meaning(f.name), f.source});
  out += figures.text(colour);
  if (!p.loops.empty()) {
    Table loops({{"innermost loop", Align::left, 40},
                 {"vectors", Align::left},
                 {"instr.", Align::right},
                 {"fma", Align::right},
                 {"sums", Align::right},
                 {"loads", Align::right},
                 {"stores", Align::right},
                 {"spills", Align::right},
                 {"calls", Align::right},
                 {"samples", Align::left}});
    for (const ObjectLoop& l : p.loops)
      loops.row({loop_place(l), loop_kind(l), std::to_string(l.instructions), std::to_string(l.fma),
                 std::to_string(l.accumulators), std::to_string(l.loads), std::to_string(l.stores),
                 std::to_string(l.spills), std::to_string(l.calls),
                 l.share > 0 ? share_text(l.share) + (l.hot ? "  hot" : "")
                 : l.hot     ? fmt::format("hot, by its looks ({:.0f} %)", 100 * l.confidence)
                             : ""});
    out += "\n" + loops.text(colour);
  }
  out += pipeline_table(p, colour);
  out += sweep_tables(p, colour);
  if (!p.remarks.empty()) {
    Table remarks({{"line", Align::left}, {"the compiler says", Align::left, 80}});
    for (const LoopRemark& r : p.remarks)
      remarks.row({fmt::format("{}:{}", r.file, r.line), r.text});
    out += "\n" + remarks.text(colour);
  }
  if (!p.missing.empty())
    out += "\n";
  block(out, "missing", p.missing);
  return out;
}

} // namespace kw
