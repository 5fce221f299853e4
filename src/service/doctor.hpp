// SPDX-License-Identifier: Apache-2.0
// What this machine can do, found by trying, with the remedy for what is missing.
#pragma once

#include "base/result.hpp"
#include "service/workspace.hpp"

#include <string>
#include <vector>

namespace kw {

struct DoctorLine {
  std::string subject; ///< "target cpu", "sandbox", "timing" ...
  std::string state;   ///< "ready", "T3", "fit", "none", "missing"
  std::string text;
  std::string remedy;    ///< "" = nothing to do
  bool blocking = false; ///< the main job cannot run without it
};

struct DoctorCeiling {
  std::string name; ///< "fma float32 512-bit", "copy L2 (1:1, plain)"
  double one_thread = 0, all_threads = 0;
  std::string unit; ///< "GFLOP/s" | "GB/s"
};

struct DoctorReport {
  std::vector<DoctorLine> lines;
  std::vector<DoctorCeiling> ceilings;
  [[nodiscard]] bool healthy() const;
};

struct DoctorOptions {
  bool quick = false;   ///< skip ceilings and the A/A run
  bool refresh = false; ///< measure ceilings again
};

Result<DoctorReport> doctor(const Workspace& workspace, const DoctorOptions& options);

} // namespace kw
