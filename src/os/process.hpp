// SPDX-License-Identifier: Apache-2.0
// Runs a program to its end under a deadline and captures what it says.
#pragma once

#include "base/result.hpp"
#include "os/spawn.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kw {

struct ChildSpec {
  std::string program;                  ///< absolute path; see find_program
  std::vector<std::string> args;        ///< argv[1..]
  std::vector<std::string> environment; ///< complete; nothing is inherited
  std::string cwd;                      ///< "" = unchanged
  std::string stdin_data;
  std::chrono::milliseconds timeout{60'000}; ///< then SIGKILL to the whole group
  std::size_t max_output = 1 << 20;          ///< bytes kept per stream (first half and last half)
  ChildLimits limits;
  ChildHook prepare;        ///< closes the sandbox; see spawn.hpp for what it may do
  std::vector<int> inherit; ///< descriptors kept open under the same number
  const std::atomic<bool>* cancel = nullptr; ///< looked at every 50 ms; true kills the group
};

struct ChildReport {
  int exit_code = -1; ///< -1 when killed by a signal
  int signal = 0;
  bool timed_out = false;
  bool cancelled = false;
  std::string out, err;
  bool out_truncated = false, err_truncated = false;
  double wall_ms = 0, user_ms = 0, system_ms = 0;
  std::uint64_t max_rss_bytes = 0;

  [[nodiscard]] bool ok() const { return exit_code == 0 && !timed_out && !cancelled; }
  /// "exit code 1", "killed by SIGSEGV", "stopped after 60000 ms".
  [[nodiscard]] std::string ending() const;
};

/// Errors are about starting it only; however it ended is in the report. Whatever the child leaves
/// running in its process group is killed when it ends.
Result<ChildReport> run_child(const ChildSpec& spec);

/// Absolute path of a program on PATH (or `name` itself when it contains a slash), "" if absent.
[[nodiscard]] std::string find_program(const std::string& name);

/// "SIGSEGV" etc., "signal 40" for unnamed ones.
[[nodiscard]] std::string signal_name(int signal);

} // namespace kw
