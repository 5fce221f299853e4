// SPDX-License-Identifier: Apache-2.0
// The judge's side of the doorbell. A Session owns one input arena, one zygote process
// (`kernwright-runner`, exec'd with a cleared environment) and the arms forked from it.
//
//   judge:  stage inputs -> arm.call() -> output bytes, taken after the arm was frozen
//   arm:    wait for the doorbell -> (warm: touch inputs) -> call the kernel -> raise done
//
// Nothing an arm says is evidence except that it raised `done`: time is the judge's clock, outputs
// are judge memory copied after the freeze, the rest is kernel accounting.
#pragma once

#include "base/result.hpp"
#include "os/sandbox_probe.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kw {

enum class ArmKind {
  candidate,   ///< sandboxed; also every C++ baseline
  oracle,      ///< trusted C++ reference; own output memory, never mapped by another arm
  peer,        ///< trusted peer: shared object with library dependencies, unsandboxed
  python_peer, ///< trusted peer or reference worker: a Python file, unsandboxed
};

enum class Doorbell { spin, futex };

struct SessionOptions {
  std::string runner;                    ///< path of kernwright-runner
  std::size_t input_capacity = 1 << 20;  ///< bytes, all inputs of the largest workload with guards
  std::size_t output_capacity = 1 << 20; ///< per arm
  std::size_t workspace_capacity = 64 << 20; ///< per arm, reserved lazily
  std::string required_tier = "T2";          ///< fail closed below it unless allow_weak
  bool allow_weak = false;
  std::chrono::milliseconds load_timeout{10'000};
  int cpu_judge = -1,
      cpu_arm = -1; ///< pin while timing; -1 = do not pin (an arm of several threads never is)
  std::optional<Doorbell>
      doorbell;        ///< instead of the rule; futex where many sessions share the CPUs
  SandboxDenials deny; ///< tests: facilities to do without
  std::string python = "/usr/bin/python3"; ///< interpreter of python_peer arms
};

/// How arguments are passed (docs/abi.md): pointers and integers fill the integer registers in
/// order, floats the vector registers in order.
struct Argument {
  enum class Kind { input, output, integer, float32, float64 } kind = Kind::input;
  std::size_t index = 0; ///< input/output number
  std::int64_t integer = 0;
  double real = 0;
};

enum class Placement { start_aligned, end_aligned }; ///< which guard page the buffer touches

/// One call: sizes in bytes of every input and output, argument list, options.
struct Invocation {
  std::size_t entry = 0; ///< which symbol: 0 = ArmSpec::entry, i = more_entries[i - 1]
  std::vector<std::size_t> output_bytes;
  std::vector<Argument> arguments;
  Placement placement = Placement::end_aligned;
  std::uint32_t poison = 0;     ///< pattern number; patterns alternate between calls
  std::uint64_t canary_key = 0; ///< secret key of the slack pattern
  bool warm = true;             ///< the arm touches all inputs before the clock starts
  /// Where the judge sleeps on the doorbell: spins this time, while the arm is told that it sleeps.
  /// Work that hides behind the time it takes to wake up shows in such calls.
  bool watch = false;
  bool evict = false;         ///< cold protocol: flush buffers, workspace and TLB first (untimed)
  bool measure_delay = false; ///< fills CallReport::delay_ns; takes some microseconds
  std::chrono::milliseconds timeout{10'000};
};

/// How a call ended, as seen by the judge.
enum class CallEnd {
  returned,  ///< done was raised; `return_code` is what the entry returned
  crashed,   ///< killed by a signal (SIGSEGV, SIGFPE, SIGILL, SIGBUS, SIGABRT ...)
  violation, ///< killed by seccomp (SIGSYS)
  exited,    ///< the process ended without raising done
  timed_out,
};

struct CallReport {
  CallEnd end = CallEnd::returned;
  int return_code = 0;
  int signal = 0;
  std::string detail;            ///< e.g. "SIGSEGV, writing into the read-only inputs"
  double ns = 0;                 ///< go -> done on the judge's clock
  double cpu_ns = 0;             ///< CPU time of the arm's process over go -> frozen, 0 if unknown
  double accounted_ns = 0;       ///< judge's clock over the same interval, never shorter than it
  double delay_ns = 0;           ///< go -> done: judge and arm waited for a CPU, if measured
  bool canaries_intact = true;   ///< slack around outputs unchanged
  bool inputs_intact = true;     ///< always true with sealed inputs; checked where they are not
  bool cpu_state_intact = true;  ///< MXCSR, x87 control word, DF, callee-saved registers
  bool stable_after_done = true; ///< early random samples equal the frozen outputs
  std::string state_detail;      ///< which of the above failed and how
  std::vector<std::span<const std::byte>> outputs; ///< valid until the next call on this arm
};

struct Calibration {
  double doorbell_ns_median = 0, doorbell_ns_p99 = 0; ///< empty call, go -> done
  double stop_ns_median = 0, stop_ns_p99 = 0;         ///< freeze until confirmed
  [[nodiscard]] double least_window_ns() const;       ///< max(3 ms, 100 stop p99, 1000 doorbell)
};

struct SessionCore; // session_core.hpp
struct ArmSpec;
struct LoadReport;

/// An arm maps its object from sealed memory of this name: "/memfd:kernel (deleted)" in its maps.
inline constexpr const char* object_memory = "kernel";

class Arm {
 public:
  ~Arm(); ///< kills the process and everything it started
  Arm(Arm&&) noexcept;
  Arm& operator=(Arm&&) noexcept;

  /// Thaws, poisons outputs, rings, waits, samples, freezes, copies. Inputs must be staged.
  /// Errors are infrastructure only; whatever the kernel did is in the report.
  Result<CallReport> call(const Invocation& invocation);
  [[nodiscard]] bool alive() const;
  [[nodiscard]] int pid() const;
  [[nodiscard]] Doorbell doorbell() const;

  [[nodiscard]] double last_stop_ns() const; ///< how long the last freeze took until confirmed

  struct State; ///< session_core.hpp

 private:
  friend Result<Arm> launch_arm(const std::shared_ptr<SessionCore>&, const ArmSpec&, LoadReport&);
  explicit Arm(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

struct ArmSpec {
  ArmKind kind = ArmKind::candidate;
  std::string object; ///< path of the shared object (or .py file)
  std::string entry;
  int threads = 1;
  /// For the oracle, which is trusted and never timed: sleeps instead of being frozen between
  /// calls, its outputs are read where they are (valid until its next call) and poisoned only when
  /// their layout changes.
  bool resident = false;
  std::size_t output_capacity = 0;       ///< 0 = SessionOptions::output_capacity
  std::vector<std::string> more_entries; ///< oracle: further symbols, called by index
  std::vector<std::string>
      environment; ///< trusted arms: further "NAME=value" (OPENBLAS_CORETYPE ...)
};

/// Loading failed on the candidate's side (its constructor crashed, a symbol is missing):
/// reported as a CallEnd with detail, not as an infrastructure error.
struct LoadReport {
  CallEnd end = CallEnd::returned;
  int signal = 0;
  std::string detail;
  double ms = 0;
};

class Session {
 public:
  static Result<Session> start(SessionOptions options);
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  /// Forks a pristine child, closes its sandbox, then loads the object. `report` says how loading
  /// went; the returned Arm is unusable unless report.end == returned.
  Result<Arm> spawn(const ArmSpec& spec, LoadReport& report);

  /// Writable judge-side views, one per input, laid out for `placement`; guard pages and canaries
  /// in between. Invalidates the staging before. No arm runs while inputs are being staged.
  Result<std::vector<std::span<std::byte>>> stage(std::span<const std::size_t> input_bytes,
                                                  Placement placement, std::uint64_t canary_key);

  /// Ends what candidates whose arms are gone have left running or mapped, and names it.
  std::vector<std::string> remove_leftovers();
  /// Whether a pristine child can still be forked and answers. Stages anew. Errors: infrastructure.
  Status serves();

  [[nodiscard]] std::string tier() const;             ///< T0..T3 actually in force
  [[nodiscard]] const SandboxReport& sandbox() const; ///< what the tier stands on
  [[nodiscard]] Doorbell doorbell(int threads) const; ///< spin iff threads <= cores - 1
  Result<Calibration> calibrate();

 private:
  explicit Session(std::shared_ptr<SessionCore> core);
  std::shared_ptr<SessionCore> core_;
};

} // namespace kw
