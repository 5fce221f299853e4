// SPDX-License-Identifier: Apache-2.0
// What the kernel says about the CPUs: for compile flags, pinning, cache sizes and reports.
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

struct CacheLevel {
  int level = 0;
  std::string type; ///< "Data", "Instruction", "Unified"
  std::size_t bytes = 0;
  std::size_t line = 64; ///< bytes
  int shared_by = 1;     ///< logical CPUs
};

struct CpuInfo {
  std::string arch;   ///< uname machine: "x86_64"
  std::string vendor; ///< "GenuineIntel"
  std::string model;  ///< marketing name, as in /proc/cpuinfo
  int family = 0, model_number = 0, stepping = 0;
  std::vector<std::string> flags; ///< /proc/cpuinfo names, sorted: "avx512f", "avx512_bf16", ...
  int online = 1;                 ///< logical CPUs of the machine
  std::vector<CacheLevel> caches; ///< of cpu0

  [[nodiscard]] bool has(std::string_view flag) const;
  /// Bytes of the data or unified cache of a level, 0 if there is none.
  [[nodiscard]] std::size_t cache_bytes(int level) const;
  [[nodiscard]] std::size_t last_level_bytes() const;
  /// "Intel(R) Xeon(R) ..., 2 cores"
  [[nodiscard]] std::string describe() const;
};

/// Reads /proc/cpuinfo and /sys once; never fails (unknown fields stay empty).
[[nodiscard]] const CpuInfo& cpu_info();
/// First processor of a /proc/cpuinfo text.
[[nodiscard]] CpuInfo parse_cpuinfo(std::string_view text);

/// CPUs this thread may run on, ascending: what a container or taskset left us.
[[nodiscard]] std::vector<int> affinity();
/// `thread` 0 = the calling thread.
Status set_affinity(const std::vector<int>& cpus, int thread = 0);

} // namespace kw
