// SPDX-License-Identifier: Apache-2.0
// One untimed run of a candidate built with sanitizers, in a process and sandbox of its own
// (os/sandbox_side.hpp). The driver (side/driver.cpp) is compiled with the same sanitizers, calls
// the kernel on each trial and leaves the outputs here. What the process says is no evidence that
// the kernel is right; a report on its error stream, or its death, is evidence that it is not.
#pragma once

#include "base/result.hpp"
#include "os/sandbox.hpp"
#include "runner/shared_memory.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kw {

/// One argument of a call; tensors have bytes, scalars bits.
struct SideArgument {
  enum class Kind { input, output, integer, floating } kind = Kind::input;
  std::size_t bytes = 0;
  std::uint64_t bits = 0; ///< a float32 in the low half
};
using SideTrial = std::vector<SideArgument>; ///< in the order of the prototype

struct SideRunSpec {
  std::string driver, object, entry;    ///< paths, symbol
  std::vector<std::string> environment; ///< options of the sanitizers
  int threads = 1;
  std::size_t workspace_bytes = std::size_t{64} << 20;
  std::chrono::milliseconds wall{60'000};
  SandboxDenials deny;
};

struct SideRunReport {
  bool reached_kernel = false; ///< candidate code may have run
  bool completed = false;      ///< every call returned and the process ended properly
  bool timed_out = false;      ///< or ran out of the memory or processor time it may use
  std::size_t calls = 0;       ///< that returned, by the driver's account
  std::string ending;          ///< "exit code 1", "killed by SIGSEGV"
  std::string log;             ///< what it wrote to its error stream, bounded
  std::vector<int> return_codes;
  double ms = 0;
};

class SideRun {
 public:
  /// Lays the trials out in shared memory. Errors: more arguments than a kernel may have.
  static Result<SideRun> create(std::vector<SideTrial> trials);

  /// Bytes of one tensor: to be filled before, and for outputs read after the run.
  [[nodiscard]] std::span<std::byte> buffer(std::size_t trial, std::size_t argument) const;

  /// The value of a scalar.
  void set(std::size_t trial, std::size_t argument, std::uint64_t bits);

  /// Errors are infrastructure only: the driver cannot be started or never came to the object.
  Result<SideRunReport> run(const SideRunSpec& spec);

 private:
  SideRun() = default;
  std::vector<SideTrial> trials_;
  std::vector<std::vector<std::size_t>> offsets_; ///< of every buffer; our own copy
  SharedMemory memory_;
};

/// A source of the driver: the first is the translation unit, the others it includes.
struct SideDriverFile {
  std::string name, text;
};
[[nodiscard]] std::vector<SideDriverFile> side_driver_sources();

} // namespace kw
