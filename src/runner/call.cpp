// SPDX-License-Identifier: Apache-2.0
// The order of a call is the protocol's whole point:
//   poison -> reset the arm's threads, thaw -> prepare, acknowledged -> clock -> go ... done ->
//   clock -> early samples
//   -> freeze, confirmed -> copy outputs -> compare samples, canaries, CPU state
#include "runner/call.hpp"
#include "runner/cache_flush.hpp"
#include "runner/doorbell.hpp"
#include "runner/launch.hpp"
#include "runner/poison.hpp"
#include "runner/run_delay.hpp"

#include "os/cpu.hpp"
#include "os/sandbox_freeze.hpp"

#include <cstring>
#include <ctime>
#include <fmt/core.h>

namespace kw {
namespace {

/// CPU time of a whole process by the kernel's accounting, -1 if unknown.
class ProcessClock {
 public:
  explicit ProcessClock(pid_t pid) : known_(::clock_getcpuclockid(pid, &clock_) == 0) {}
  [[nodiscard]] double ns() const {
    timespec t{};
    if (!known_ || ::clock_gettime(clock_, &t) != 0)
      return -1;
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
  }

 private:
  clockid_t clock_{};
  bool known_;
};

/// Pins the calling thread while a call is timed, if the session asks for it.
class JudgePin {
 public:
  explicit JudgePin(int cpu) {
    if (cpu < 0)
      return;
    before_ = affinity();
    pinned_ = set_affinity({cpu}).has_value();
  }
  JudgePin(const JudgePin&) = delete;
  JudgePin& operator=(const JudgePin&) = delete;
  ~JudgePin() {
    if (pinned_)
      (void)set_affinity(before_); // best effort: it only affects placement
  }

 private:
  std::vector<int> before_;
  bool pinned_ = false;
};

void note_end(Arm::State& arm, const ChildState& child, CallReport& report) {
  arm.running = false;
  describe_end(arm, child.code, child.code, child.event == ChildEvent::killed, report.end,
               report.signal, report.detail);
}

/// After an unsuccessful wait: the arm is dead or is killed now.
void give_up(Arm::State& arm, Waited waited, const Invocation& invocation, CallReport& report) {
  const ChildState child = kill_child(arm.process.pid);
  note_end(arm, child, report);
  if (waited == Waited::late) {
    report.end = CallEnd::timed_out;
    report.signal = 0;
    report.detail = fmt::format("no answer within {} ms", invocation.timeout.count());
  }
}

void ring(Arm::State& arm) {
  doorbell::ring(arm.judge->go, ++arm.sequence, arm.shared->sleeping);
}

/// The cold protocol, after the arm has filled its page tables and before the clock starts.
void flush_buffers(const Arm::State& arm) {
  for (const BufferSpan& input : arm.core->staged)
    flush_lines(arm.core->inputs.base() + input.offset, input.bytes);
  for (const BufferSpan& output : arm.plan)
    flush_lines(arm.outputs.base() + output.offset, output.bytes);
}

void show_outputs(const Arm::State& arm, CallReport& report) {
  for (const BufferSpan& output : arm.plan)
    report.outputs.emplace_back(arm.outputs.base() + output.offset, output.bytes);
}

void copy_outputs(Arm::State& arm, CallReport& report) {
  arm.copies.resize(arm.plan.size());
  for (std::size_t i = 0; i < arm.plan.size(); ++i) {
    arm.copies[i].resize(arm.plan[i].bytes);
    if (arm.plan[i].bytes > 0)
      std::memcpy(arm.copies[i].data(), arm.outputs.base() + arm.plan[i].offset, arm.plan[i].bytes);
    report.outputs.emplace_back(arm.copies[i]);
  }
}

void check_canaries(const Arm::State& arm, std::uint64_t key, CallReport& report) {
  for (std::size_t i = 0; i < arm.plan.size() && report.canaries_intact; ++i)
    if (const auto at = first_broken_canary(arm.outputs.base(), arm.plan[i], key)) {
      report.canaries_intact = false;
      report.state_detail = *at < 0
                                ? fmt::format("wrote {} bytes before output {}", -*at, i)
                                : fmt::format("wrote {} bytes past the end of output {}", *at, i);
    }
}

void check_cpu_state(const protocol::ArmPage& shared, CallReport& report) {
  const std::uint32_t flags = shared.state_flags;
  if (flags == 0)
    return;
  report.cpu_state_intact = false;
  std::string changed;
  const auto add = [&](std::uint32_t flag, const std::string& what) {
    if ((flags & flag) != 0)
      changed += (changed.empty() ? "" : ", ") + what;
  };
  add(protocol::state_mxcsr, fmt::format("MXCSR {:#x} instead of 0x1f80", shared.mxcsr));
  add(protocol::state_x87, fmt::format("x87 control word {:#x} instead of 0x37f", shared.x87));
  add(protocol::state_direction, "direction flag set");
  add(protocol::state_callee_saved, "a callee-saved register (rbx, rbp, r12-r15)");
  add(protocol::state_stack_pointer, "the stack pointer");
  if (!report.state_detail.empty())
    report.state_detail += "; ";
  report.state_detail += "left changed: " + changed;
}

/// False if it is dead, which the report then says.
bool freeze(Arm::State& arm, CallReport& report) {
  const std::int64_t stopping = monotonic_now_ns();
  const ChildState child = freeze_child(arm.process.pid);
  arm.last_stop_ns = static_cast<double>(monotonic_now_ns() - stopping);
  arm.frozen = child.event == ChildEvent::stopped;
  if (!arm.frozen)
    note_end(arm, child, report);
  return arm.frozen;
}

} // namespace

Result<CallReport> call_arm(Arm::State& arm, const Invocation& invocation) {
  KW_CHECK(prepare_command(arm, invocation));
  std::optional<EarlySample> sample;
  if (!arm.resident)
    sample.emplace(arm);
  const JudgePin pin{arm.core->options.cpu_judge};
  const ProcessClock cpu{arm.process.pid};
  const std::int64_t limit =
      std::chrono::duration_cast<std::chrono::nanoseconds>(invocation.timeout).count();
  CallReport report;

  // Whatever the last call's kernel left in this process must not see the inputs before the clock
  // starts: every thread begins anew, and finds the bell rung.
  ring(arm);
  if (!reset_threads(arm)) {
    report.end = CallEnd::exited;
    report.detail = "a thread of the process has ended";
    kill_child(arm.process.pid);
    arm.running = false;
    return report;
  }
  if (arm.frozen)
    thaw_child(arm.process.pid);
  arm.frozen = false;
  // Preparing touches memory only, but a large arena or an overloaded machine may take its time.
  constexpr std::int64_t prepare_limit = 60'000'000'000;
  Waited waited = wait_for_done(arm, arm.sequence, monotonic_now_ns() + prepare_limit, arm.spin);
  if (waited != Waited::done) {
    give_up(arm, waited, invocation, report);
    return report;
  }

  if (invocation.evict)
    flush_buffers(arm);
  const bool watch = invocation.watch && !arm.spin && !arm.resident;
  std::optional<Decoy> decoy;
  if (watch)
    decoy.emplace(arm.shared->done);
  const std::int64_t accounted_from = monotonic_now_ns();
  const double cpu_before = cpu.ns();
  if (invocation.measure_delay && !arm.delay)
    arm.delay.emplace(RunDelay{}, RunDelay{arm.process.pid});
  const auto delay = [&] {
    return invocation.measure_delay ? arm.delay->first.ns() + arm.delay->second.ns() : 0;
  };
  const std::uint64_t delay_before = delay();
  const std::int64_t go = monotonic_now_ns();
  ring(arm);
  waited = wait_for_done(arm, arm.sequence, go + limit, arm.spin || watch);
  const std::int64_t done = monotonic_now_ns();
  if (waited == Waited::done && sample)
    sample->take();
  report.delay_ns = static_cast<double>(delay() - delay_before);
  decoy.reset();
  report.ns = static_cast<double>(done - go);
  if (waited != Waited::done) {
    give_up(arm, waited, invocation, report);
    return report;
  }

  if (!arm.resident && !freeze(arm, report))
    return report; // it died after raising done
  const double cpu_after = cpu.ns();
  report.accounted_ns = static_cast<double>(monotonic_now_ns() - accounted_from);
  if (cpu_before >= 0 && cpu_after >= cpu_before)
    report.cpu_ns = cpu_after - cpu_before;

  report.return_code = arm.shared->return_code;
  if (arm.resident)
    show_outputs(arm, report);
  else
    copy_outputs(arm, report);
  check_canaries(arm, invocation.canary_key, report);
  check_cpu_state(*arm.shared, report);
  if (const auto output = sample ? sample->first_difference() : std::nullopt) {
    report.stable_after_done = false;
    if (!report.state_detail.empty())
      report.state_detail += "; ";
    report.state_detail +=
        fmt::format("output {} was still being written after the kernel had returned", *output);
  }
  return report;
}

} // namespace kw
