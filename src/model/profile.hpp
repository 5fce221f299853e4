// SPDX-License-Identifier: Apache-2.0
// What is known about where a solution's time goes. Every figure says where it comes from and how
// far it can be trusted; any of them may be missing, and `missing` says why.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kw {

struct ProfileFigure {
  /// Measured here: "call", "footprint", "flop_share", "bandwidth_share", "no_vectorize",
  /// "fast_math"; of several threads "thread_efficiency", "thread_balance", "least_thread",
  /// "task_overhead"; of a sweep "cliff_<level>"; of hardware counters "ipc", "branch_misses",
  /// "cache_misses". Imported: "kernel_time", "kernel_share", "launches", "sm_share",
  /// "memory_share", "dram_share", "achieved_occupancy", "theoretical_occupancy", "waves_per_sm",
  /// "blocks_per_sm", "registers", "shared_memory", "stall_<reason>", "idle_share", "launch_gap".
  std::string name;
  double value = 0;
  std::string unit;   ///< "ns", "" for shares and ratios
  std::string source; ///< "judge", "judge, ceilings", "variant build", "ncu raw page", ...
  double confidence = 1;
};

/// What a compiler says about vectorising one loop.
struct LoopRemark {
  std::string file;
  int line = 0;
  bool vectorized = false;
  /// "vectorized", "reduction_order", "call", "control_flow", "dependence", "trip_count",
  /// "access_pattern", "cost", "other"
  std::string code;
  std::string text;   ///< the compiler's own words
  std::string source; ///< "clang 19.1.7"
};

/// A processor's model on a loop, taken as straight-line code with all data in the first-level
/// cache.
struct PipelineEstimate {
  std::string model;     ///< processor as the tool names it: "sapphirerapids"
  bool own = false;      ///< the tool takes this machine for it; else the fixed reference
  double cycles = 0;     ///< of one turn
  double throughput = 0; ///< cycles of one turn if nothing waited for a result: the busiest unit's
  double ports = 0;      ///< share of the cycles in which units were short
  double dependency = 0; ///< share of the cycles in which operands were
  std::string port;      ///< the unit that was short most, "" = none
  std::string source;    ///< "llvm-mca 19.1.7"
  double confidence = 0;
};

/// A loop of the machine code without another loop inside, as it stands: counts of instructions.
struct ObjectLoop {
  std::string function, file;
  int line = 0; ///< of its first instruction with a line; 0 = not known
  int depth = 1;
  int instructions = 0;
  int vector_bits = 0;        ///< widest packed floating-point instruction; 0 = none
  int packed = 0, scalar = 0; ///< floating-point instructions
  int fma = 0;
  int accumulators = 0; ///< registers that only multiply-adds and additions of this loop write
  int loads = 0, stores = 0, spills = 0, gathers = 0, divides = 0, calls = 0;
  int chased = 0;        ///< loads whose address follows from the same load of the turn before
  int atomics = 0;       ///< locked read-modify-writes
  int branches = 0;      ///< jumps, the one that closes the loop among them
  double share = 0;      ///< of the samples taken in the object; 0 without samples
  bool hot = false;      ///< taken for the one where the time goes
  double confidence = 0; ///< that it is
  std::string code;      ///< its instructions, one a line; only of loops where time goes
  std::vector<PipelineEstimate> pipeline;
};

/// One size of a sweep along a variable axis.
struct SweepPoint {
  std::string axis;
  std::int64_t value = 0;
  double bytes = 0;  ///< that a call reads and writes at least
  std::string level; ///< that they fit: "L1", "L2", "L3", "DRAM"
  double ns = 0;     ///< of a call
  double ns_per_byte = 0;
  std::string source;
  double confidence = 0;
};

/// The same calls with another number of threads.
struct ThreadPoint {
  int threads = 1;
  double ns = 0;         ///< of a call
  double speedup = 1;    ///< over one thread
  double efficiency = 1; ///< speed-up per thread
  std::string source;
  double confidence = 0;
};

struct BottleneckState {
  /// "compute", "memory", "mixed", "vectorisation", "dependency", "latency", "load_store",
  /// "launch", "threading" (not of imported profiles), "tail", "unknown"
  std::string word = "unknown";
  std::string level; ///< of "memory", not imported: "L2", "L3", "DRAM"
  double confidence = 0;
  double headroom = 1; ///< time now over the roofline's bound; 1 = at the bound or not known
  std::vector<std::string> evidence;
  std::vector<std::string> next; ///< what usually helps
};

struct Profile {
  std::string definition, solution, axes;
  int threads = 0;   ///< that the calls may use; 0 = imported
  std::string level; ///< of the memory hierarchy that the call's bytes fit; "" = not known
  std::vector<ProfileFigure> figures;
  std::vector<SweepPoint> sweep;
  std::vector<ThreadPoint> scaling;
  std::vector<LoopRemark> remarks;
  std::vector<ObjectLoop> loops;
  std::vector<std::string> missing;
  BottleneckState state;

  [[nodiscard]] const ProfileFigure* figure(const std::string& name) const {
    for (const ProfileFigure& f : figures)
      if (f.name == name)
        return &f;
    return nullptr;
  }
};

} // namespace kw
