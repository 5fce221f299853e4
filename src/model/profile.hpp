// SPDX-License-Identifier: Apache-2.0
// What is known about where a solution's time goes. Every figure says where it comes from and how
// far it can be trusted; any of them may be missing, and `missing` says why.
#pragma once

#include <string>
#include <vector>

namespace kw {

struct ProfileFigure {
  /// Measured here: "call", "flop_share", "bandwidth_share", "no_vectorize", "fast_math". Imported:
  /// "kernel_time", "kernel_share", "launches", "sm_share", "memory_share", "dram_share",
  /// "achieved_occupancy", "theoretical_occupancy", "waves_per_sm", "blocks_per_sm", "registers",
  /// "shared_memory", "stall_<reason>", "idle_share", "launch_gap".
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
  double share = 0;      ///< of the samples taken in the object; 0 without samples
  bool hot = false;      ///< taken for the one where the time goes
  double confidence = 0; ///< that it is
};

struct BottleneckState {
  /// "compute", "memory", "mixed", "vectorisation", "dependency", "latency", "load_store",
  /// "launch", "tail" (of imported profiles alone), "unknown"
  std::string word = "unknown";
  double confidence = 0;
  double headroom = 1; ///< time now over the roofline's bound; 1 = at the bound or not known
  std::vector<std::string> evidence;
  std::vector<std::string> next; ///< what usually helps
};

struct Profile {
  std::string definition, solution, axes;
  std::vector<ProfileFigure> figures;
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
