// SPDX-License-Identifier: Apache-2.0
// The judge's side of a call against a process that does to its page and its outputs whatever the
// input says, at any time. No crash, no read outside of the mappings, no call without an end, and
// what the judge looks at is what was there when the process was stopped.
#include "runner/call.hpp"
#include "runner/launch.hpp"

#include "os/sandbox_freeze.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

using kw::protocol::ArmPage;
using kw::protocol::JudgePage;

[[noreturn]] void broken(const char* what) {
  ::write(2, what, std::strlen(what));
  std::abort();
}

/// What is left of the input.
class Script {
 public:
  Script(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}
  [[nodiscard]] bool empty() const { return left_ == 0; }
  std::uint8_t byte() {
    if (left_ == 0)
      return 0;
    --left_;
    return *data_++;
  }
  std::uint32_t word() {
    std::uint32_t w = 0;
    for (int i = 0; i < 4; ++i)
      w = w << 8 | byte();
    return w;
  }

 private:
  const std::uint8_t* data_;
  std::size_t left_;
};

const sigset_t& reset_signals() {
  static const sigset_t set = [] {
    sigset_t s;
    ::sigemptyset(&s);
    ::sigaddset(&s, kw::protocol::reset_signal);
    return s;
  }();
  return set;
}

void nap(long ns) {
  const timespec t{0, ns};
  ::nanosleep(&t, nullptr);
}

/// The hostile process. It may do what a confined kernel could, and ends with its script.
[[noreturn]] void play(Script script, const JudgePage& judge, ArmPage& page, std::byte* outputs,
                       std::size_t output_bytes) {
  ::signal(kw::protocol::reset_signal, SIG_IGN); // the fuzzer itself handles it
  ::sigprocmask(SIG_UNBLOCK, &reset_signals(), nullptr);
  auto* bytes = reinterpret_cast<std::byte*>(&page);
  std::uint32_t seen = judge.go.load();
  while (!script.empty()) {
    switch (script.byte() % 12) {
    case 0:
    case 1: // wait for the bell, but not for ever
      for (int i = 0; i < 200 && judge.go.load() == seen; ++i)
        nap(20'000);
      seen = judge.go.load();
      break;
    case 2:
    case 3:
      page.done.store(judge.go.load());
      break;
    case 4:
      page.done.store(judge.go.load() + script.byte() - 128U);
      break;
    case 5:
      page.done.store(script.word());
      break;
    case 6: { // some bytes of the page
      const std::size_t at = script.word() % sizeof page;
      const std::byte value{script.byte()};
      for (std::size_t i = at, n = script.byte(); i < sizeof page && n > 0; ++i, --n)
        bytes[i] = value;
      break;
    }
    case 7: { // some bytes of the outputs or of what surrounds them
      const std::size_t at = script.word() % output_bytes;
      const std::byte value{script.byte()};
      for (std::size_t i = at, n = 16U * script.byte(); i < output_bytes && n > 0; ++i, --n)
        outputs[i] = value;
      break;
    }
    case 8:
      page.sleeping.store(script.byte());
      break;
    case 9:
      ::syscall(SYS_futex, &page.done, 1 /* FUTEX_WAKE */, script.byte(), nullptr, nullptr, 0);
      break;
    case 10:
      nap(1000L * script.byte());
      break;
    default: { // a signal that ends it, or its exit
      const int code = script.byte();
      if (code % 2 == 0)
        ::_exit(code / 2);
      const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTERM, SIGKILL};
      const int signal = signals[code / 2 % 8];
      ::signal(signal, SIG_DFL);
      ::raise(signal);
    }
    }
  }
  ::_exit(0);
}

kw::SharedMemory memory(const char* name, std::size_t bytes, kw::SharedMemory::Others others) {
  auto made = kw::SharedMemory::create(name, bytes, others);
  if (!made)
    broken("no memory\n");
  return std::move(*made);
}

void check(const kw::Arm::State& arm, const kw::CallReport& report) {
  if (report.detail.size() > 2 * kw::protocol::message_bytes || report.state_detail.size() > 4096)
    broken("endless text\n");
  if (report.end != kw::CallEnd::returned) {
    if (arm.running || ::kill(arm.process.pid, 0) == 0 || errno != ESRCH)
      broken("a call that failed left the process alive\n");
    return;
  }
  if (!arm.running)
    return; // it ended after it had answered
  if (report.outputs.size() != arm.plan.size())
    broken("outputs are missing\n");
  for (std::size_t i = 0; i < arm.plan.size(); ++i)
    if (!std::ranges::equal(report.outputs[i],
                            std::span(arm.outputs.base() + arm.plan[i].offset, arm.plan[i].bytes)))
      broken("the outputs are not those of the stopped process\n");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using Others = kw::SharedMemory::Others;
  if (size < 2 || size > 512)
    return 0;
  kw::Arm::State arm;
  arm.core = std::make_shared<kw::SessionCore>();
  arm.spin = (data[0] & 1) != 0;
  arm.judge_memory = memory("judge", kw::protocol::page, Others::read_only);
  arm.arm_memory = memory("arm", kw::protocol::page, Others::may_write);
  arm.outputs = memory("outputs", std::size_t{1} << 16, Others::may_write);
  arm.judge = new (arm.judge_memory.base()) JudgePage{};
  arm.shared = new (arm.arm_memory.base()) ArmPage{};
  arm.judge->sleeping.store(arm.spin ? 0 : 1);
  arm.judge->go.store(kw::protocol::loaded_sequence);

  kw::Invocation invocation;
  invocation.output_bytes = {1U + data[1], 4U * data[1]};
  invocation.placement =
      (data[0] & 2) != 0 ? kw::Placement::start_aligned : kw::Placement::end_aligned;
  invocation.poison = data[0];
  invocation.canary_key = data[1];
  invocation.watch = (data[0] & 4) != 0;
  invocation.timeout = std::chrono::milliseconds{5};

  ::sigprocmask(SIG_BLOCK, &reset_signals(), nullptr);
  arm.process.pid = ::fork();
  if (arm.process.pid == 0)
    play({data + 2, size - 2}, *arm.judge, *arm.shared, arm.outputs.base(), arm.outputs.bytes());
  if (arm.process.pid < 0)
    broken("no process\n");
  arm.process.pidfd.reset(static_cast<int>(::syscall(SYS_pidfd_open, arm.process.pid, 0)));
  arm.threads_of = {arm.process.pid};
  arm.running = true;

  for (int call = 0; call < 3 && arm.running; ++call) {
    const auto report = kw::call_arm(arm, invocation);
    if (!report)
      break;
    check(arm, *report);
  }
  kw::CallReport words; // what the page says of its end, for a reader
  kw::describe_end(arm, data[0] % 64, data[1], (data[0] & 8) != 0, words.end, words.signal,
                   words.detail);
  if (words.detail.size() > 2 * kw::protocol::message_bytes)
    broken("endless text\n");
  if (arm.running)
    kw::kill_child(arm.process.pid);
  return 0;
}
