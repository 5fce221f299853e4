// SPDX-License-Identifier: Apache-2.0
// One Solution's C++ sources -> one shared object, in a sandboxed one-shot compiler process, with a
// content-addressed cache in front. Flags are ours (flags.hpp); a candidate supplies source only.
#pragma once

#include "base/result.hpp"
#include "compile/compiler.hpp"
#include "compile/pipeline_tool.hpp"
#include "model/solution.hpp"
#include "model/verdict.hpp"
#include "os/sandbox.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kw {

enum class BuildMode {
  candidate, ///< also every C++ baseline: freestanding link, source rules, one exported symbol
  trusted,   ///< oracle and peers: ordinary link, libraries allowed
  sanitized, ///< a candidate once more with BuildRequest::sanitizers; never timed, never admitted
  driver,    ///< trusted executable that calls the above
};

struct BuildRequest {
  std::vector<SourceFile> sources;  ///< every *.cpp/.cc/.cxx is compiled, the rest can be included
  std::string entry_file;           ///< must be among them ("" = not checked)
  std::string entry;                ///< the one exported symbol (candidate mode)
  std::vector<std::string> defines; ///< "NAME=value", e.g. KW_AXIS_hidden=4096
  std::vector<std::string> include_dirs; ///< absolute; content is part of the cache key
  std::vector<std::string> extra_link;   ///< trusted mode: "openblas", "m" or full "-l..." options
  BuildMode mode = BuildMode::candidate;
  std::string sanitizers; ///< sanitized and driver modes: "address,undefined", "thread"
  std::vector<std::string> more_flags; ///< candidate mode, ours: a variant that is only profiled
  std::chrono::milliseconds wall_limit{60'000};
  std::uint64_t cpu_seconds = 30; ///< per compiler process
  const std::atomic<bool>* cancel = nullptr;
};

struct BuildOutcome {
  bool ok = false;
  std::string object_path; ///< read-only file in the cache; valid while the Builder lives
  std::string object_hash; ///< sha256 of the object
  std::vector<Diagnostic> diagnostics; ///< errors first as the compiler gave them, warnings, notes
  bool cached = false;
  bool precompiled_header = false;
  double ms = 0;            ///< wall time of this call
  std::string key;          ///< cache key: sources, headers, compiler, flags, arch, entry
  std::string remarks;      ///< lines that -Rpass flags among more_flags asked for, paths relative
  std::string raw_log;      ///< what the compiler said, as text, <= 8 KiB, paths relative
  std::string failure_kind; ///< "", "compile", "timeout", "memory", "forbidden"
};

struct BuilderOptions {
  std::string cache_dir; ///< "" = no cache: objects live in a private folder
  std::uint64_t max_cache_bytes = std::uint64_t{2} << 30;
  std::string compiler; ///< name or path; "" = g++-12, g++, clang++-19, clang++
  std::string scratch;  ///< parent of work folders; "" = $TMPDIR or /tmp
  SandboxDenials deny;  ///< for tests of weak machines
  bool use_precompiled_headers = true;
};

class Builder {
 public:
  /// Errors: no compiler (with what to install). A cache folder that cannot be used is no error:
  /// builds then go to a private folder and every outcome carries a note that says so.
  static Result<Builder> open(BuilderOptions options);
  ~Builder();
  Builder(Builder&&) noexcept;
  Builder& operator=(Builder&&) noexcept;

  /// Thread-safe. Errors are infrastructure only (disk full, cannot start the compiler); whatever
  /// is wrong with the sources is in the outcome.
  Result<BuildOutcome> build(const BuildRequest& request);

  /// The machine code of an object of ours as `objdump -dl` prints it, in the same sandbox.
  /// Errors: not_found without objdump (with the package); infrastructure.
  Result<std::string> disassemble(const std::string& object);

  [[nodiscard]] const Compiler& compiler() const;
  /// llvm-mca in the same sandbox. Errors: not_found, with the package.
  [[nodiscard]] Result<PipelineTool> pipeline_tool() const;
  /// The full flag line of a mode, for records and reports.
  [[nodiscard]] std::string flag_text(BuildMode mode) const;

 private:
  struct State;
  explicit Builder(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

} // namespace kw
