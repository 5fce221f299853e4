// SPDX-License-Identifier: Apache-2.0
// Between two calls a candidate's threads belong to the runner again, whatever the kernel did.
//
// A kernel shares its process with the runner. It could stay in a loop of its own, answer the
// doorbell, and compute while the judge believes that the arm prepares the next call: inputs are
// there and no clock runs. So the judge sends every thread of the stopped arm a signal before it
// continues it. A pending signal is delivered before the first instruction; the handler is code in
// read-only memory that the kernel cannot replace, block (no rt_sigprocmask, no rt_sigreturn) or
// starve; it takes its stack and its data from pages that the kernel cannot write (Fixed), and
// never returns. Restartable sequences, which could take control back from it, are off
// (GLIBC_TUNABLES).
#include "arm.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <sys/auxv.h>
#include <sys/mman.h>

namespace kw::child {

Fixed kw_fixed{};
static_assert(offsetof(Fixed, threads) == 0 && offsetof(Fixed, sets_fs) == 8 &&
              offsetof(Fixed, nonce) == 16 && offsetof(Fixed, stack) == 24 &&
              offsetof(Fixed, fs_base) == 24 + 8192);
static_assert(offsetof(siginfo_t, si_value) == 24, "read in assembly");
static_assert(protocol::reset_signal == SIGUSR1);

// Where threads meet after a reset, in assembly: a signal frame may land in another thread's stack,
// so no stack is used before all frames are written. A kernel may have left anything in these
// words, but not the nonce of a call that was drawn later.
extern "C" {
std::array<std::uint32_t, protocol::max_threads> kw_waits{};
std::atomic<std::uint32_t> kw_forgotten{0};
}

extern "C" void kw_reset_entry(int signal, siginfo_t* info, void* context); // trampoline.S

/// Where kw_reset_entry goes with a fresh stack and CPU state.
extern "C" [[noreturn, gnu::used, gnu::visibility("hidden")]] void
kw_after_reset(std::size_t number) {
  const Arm& arm = kw_fixed.arm;
  if (number != 0)
    work_for_ever();
  forget_jobs();
  kw_forgotten.store(*kw_fixed.nonce, std::memory_order_release); // the workers go on
  arm.shared->sleeping.store(0);
  serve(arm, 0); // no `go` is 0: the one that is there is new
}

void remember_thread(std::size_t number) {
  // Well below everything that lives on this stack now; nothing returns there after a reset.
  constexpr std::uintptr_t room = 4096;
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  kw_fixed.stack[number] = (here - room) & ~std::uintptr_t{63};
  kw_fixed.fs_base[number] = reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
}

int accept_resets() {
  constexpr unsigned long fsgsbase = 2; // HWCAP2_FSGSBASE
  kw_fixed.nonce = &kw_fixed.arm.judge->nonce;
  kw_fixed.sets_fs = (::getauxval(AT_HWCAP2) & fsgsbase) != 0 ? 1 : 0;
  struct sigaction action{};
  action.sa_sigaction = kw_reset_entry;
  action.sa_flags = static_cast<int>(SA_SIGINFO | SA_ONSTACK | SA_NODEFER);
  return ::sigaction(protocol::reset_signal, &action, nullptr) == 0 ? 0 : errno;
}

int protect_fixed() {
  return ::mprotect(&kw_fixed, sizeof kw_fixed, PROT_READ) == 0 ? 0 : errno;
}

} // namespace kw::child
