// SPDX-License-Identifier: Apache-2.0
// What a Session and its arms share (inside this folder only).
#pragma once

#include "os/sandbox_probe.hpp"
#include "os/spawn.hpp"
#include "runner/layout.hpp"
#include "runner/protocol.hpp"
#include "runner/run_delay.hpp"
#include "runner/session.hpp"
#include "runner/shared_memory.hpp"

#include <cstdint>
#include <future>
#include <memory>
#include <thread>
#include <vector>

namespace kw {

/// The thread that starts the zygote and stays as long as that is wanted. The kernel takes it for
/// the parent of the zygote and of every arm: when it ends, by whatever end of the judge, the arms
/// are killed (confine_before_threads), zygote or no zygote. Any other thread might end too early.
class ParentThread {
 public:
  static Result<std::unique_ptr<ParentThread>> start(const SpawnSpec& child, Spawned& started);
  ParentThread(const ParentThread&) = delete;
  ParentThread& operator=(const ParentThread&) = delete;
  ~ParentThread();

 private:
  ParentThread() = default;
  std::promise<void> end_;
  std::thread thread_;
};

/// The zygote process and the socket to it. Ends with this object, and its arms with it.
class Zygote {
 public:
  /// Returns while the process still starts up; the first request waits for it.
  /// With `cgroup`, everything happens inside a control group of its own.
  static Result<Zygote> start(const std::string& runner, std::uint32_t confine, bool cgroup);
  Zygote(Zygote&&) noexcept = default;
  Zygote& operator=(Zygote&&) noexcept = default;
  ~Zygote();

  /// One arm, a direct child of this process. Descriptors as in protocol::StartRequest.
  Result<Spawned> request(const std::string& message, std::span<const int> descriptors);
  [[nodiscard]] pid_t pid() const { return process_.pid; }
  [[nodiscard]] bool in_cgroup() const { return cgroup_.has_value(); }
  /// Of the control group.
  [[nodiscard]] std::vector<pid_t> group_processes() const {
    return cgroup_ ? cgroup_->processes() : std::vector<pid_t>{};
  }

 private:
  Zygote() = default;
  Status wait_until_ready();
  std::optional<SandboxCgroup> cgroup_; ///< goes last: it is empty by then
  std::unique_ptr<ParentThread> parent_;
  UniqueFd socket_;
  Spawned process_;
  bool ready_ = false;
};

struct SessionCore {
  SessionOptions options;
  SandboxReport sandbox;
  std::uint32_t confine = 0; ///< protocol::Confine bits of candidate arms
  int cores = 1;             ///< CPUs this process may use
  SharedMemory inputs;
  std::vector<BufferSpan> staged;
  Placement placement = Placement::end_aligned;
  std::uint64_t input_layout = 0; ///< counts distinct layouts
  /// A spinning judge takes a whole CPU from the kernel's threads.
  [[nodiscard]] Doorbell doorbell_for(int threads) const {
    return options.doorbell.value_or(threads <= cores - 1 ? Doorbell::spin : Doorbell::futex);
  }

  std::vector<pid_t> candidates; ///< started since the last remove_leftovers()
  std::optional<Zygote> zygote;  ///< of all candidate arms; replaced if it fails
};

/// Judge-side state of one arm.
struct Arm::State {
  std::shared_ptr<SessionCore> core; ///< the input arena outlives its arms
  ArmKind kind = ArmKind::candidate;
  int threads = 1;
  std::size_t entry_count = 1;
  bool spin = false;
  bool resident = false; ///< as in ArmSpec
  Spawned process;
  std::vector<pid_t> threads_of; ///< candidates: in the order of their numbers
  UniqueFd socket;               ///< trusted arms: closing it ends them
  bool running = false, frozen = false;
  std::optional<std::pair<RunDelay, RunDelay>> delay; ///< judge's, arm's; once a call asked for it

  SharedMemory judge_memory, arm_memory, outputs;
  protocol::JudgePage* judge = nullptr;
  protocol::ArmPage* shared = nullptr; ///< hostile: read once, never trusted
  std::uint32_t sequence = protocol::loaded_sequence;

  std::vector<BufferSpan> plan; ///< of the outputs
  std::vector<std::size_t> planned_bytes;
  std::optional<Placement> planned;
  std::uint64_t output_layout = 0;
  std::vector<std::vector<std::byte>> copies; ///< of the outputs, taken frozen
  std::vector<std::byte> samples;             ///< taken right after done
  std::uint64_t sample_state = 0;             ///< of the line choice
  double last_stop_ns = 0;                    ///< how long the last freeze took
};

/// CLOCK_MONOTONIC in nanoseconds.
[[nodiscard]] std::int64_t monotonic_now_ns();

enum class Waited { done, ended, late };
/// Until `done` reaches `target`, the process ends, or the deadline passes.
/// `spin`: without sleeping.
Waited wait_for_done(const Arm::State& arm, std::uint32_t target, std::int64_t deadline_ns,
                     bool spin);

} // namespace kw
