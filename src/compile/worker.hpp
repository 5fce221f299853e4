// SPDX-License-Identifier: Apache-2.0
// One sandboxed run of the compiler in a work folder of its own:
//   <scratch>/src   the sources, readable; the working folder, so that all names are relative
//   <scratch>/work  the only writable place: temporary files and the output
// No secret is readable there, no network, bounded processor time, memory, file size and wall time.
#pragma once

#include "base/result.hpp"
#include "compile/compiler.hpp"
#include "model/solution.hpp"
#include "os/process.hpp"
#include "os/sandbox.hpp"
#include "os/temp_dir.hpp"

#include <atomic>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

struct WorkerLimits {
  std::uint64_t cpu_seconds = 30;
  std::chrono::milliseconds wall{60'000};
  const std::atomic<bool>* cancel = nullptr;
  SandboxDenials deny;
};

class CompileWorker {
 public:
  /// Creates the work folder and writes the sources into it. `parent`: see TempDir::create.
  static Result<CompileWorker> prepare(const std::vector<SourceFile>& sources,
                                       const std::string& parent);

  /// A file of ours in the writable folder (the version script); its path.
  Result<std::string> add_work_file(const std::string& name, std::string_view content);

  /// Runs the compiler with `args`, the readable folders being src, `read_only` and the toolchain.
  /// Errors: infrastructure (disk full, cannot start).
  Result<ChildReport> run(const Compiler& compiler, const std::vector<std::string>& args,
                          const std::vector<std::string>& read_only, const WorkerLimits& limits);

  [[nodiscard]] std::string source_dir() const { return scratch_.file("src"); }
  [[nodiscard]] std::string work_dir() const { return scratch_.file("work"); }

 private:
  explicit CompileWorker(TempDir scratch) : scratch_(std::move(scratch)) {}
  TempDir scratch_;
};

/// "", "compile", "timeout" or "memory": how a compiler run failed.
[[nodiscard]] std::string failure_kind_of(const ChildReport& report, const WorkerLimits& limits);

} // namespace kw
