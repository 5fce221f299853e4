// SPDX-License-Identifier: Apache-2.0
// Where a process spends its time: instruction addresses sampled by the kernel's clock
// (perf_event_open, PERF_COUNT_SW_CPU_CLOCK), which needs no hardware counters.
#pragma once

#include "base/result.hpp"
#include "os/unique_fd.hpp"

#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

namespace kw {

class IpSampler {
 public:
  /// The thread `pid`, user code only, about `hertz` samples per second of its time.
  /// Errors: unsupported, where the kernel does not allow it (with kernel.perf_event_paranoid).
  static Result<IpSampler> open(pid_t pid, int hertz = 10'000);
  ~IpSampler();
  IpSampler(IpSampler&& other) noexcept;
  IpSampler& operator=(IpSampler&& other) noexcept;

  /// Samples since the last call; some are lost when more than some thousand have gathered.
  [[nodiscard]] std::vector<std::uint64_t> take();

 private:
  IpSampler() = default;
  UniqueFd fd_;
  void* ring_ = nullptr;
};

/// The threads of a process, its main thread first. Errors: it is gone.
Result<std::vector<pid_t>> threads_of(pid_t pid);

/// Address range of a file's executable mapping in a process, and the file offset it begins at.
struct CodeMapping {
  std::uint64_t begin = 0, end = 0, offset = 0;
};
/// `name`: the end of the mapping's line in /proc/<pid>/maps. Errors: not_found.
Result<CodeMapping> code_mapping(pid_t pid, const std::string& name);

} // namespace kw
