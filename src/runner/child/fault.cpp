// SPDX-License-Identifier: Apache-2.0
// Notes where a crash happened and crashes in the same way: the disposition is back to default by
// then, so the judge sees the real signal. It cannot return: rt_sigreturn loads every register and
// the signal mask from memory, which a kernel would use as well, so the filter forbids it.
#include "arm.hpp"

#include <array>
#include <csignal>
#include <ucontext.h>

namespace kw::child {
namespace {

protocol::ArmPage* noted_in = nullptr;
alignas(16) std::array<std::byte, 16384> handler_stack;

[[noreturn]] void fail_again(int signal) {
  if (signal == SIGFPE)
    asm volatile("xor %%eax, %%eax\n\tcltd\n\tidivl %%eax" : : : "eax", "edx");
  if (signal == SIGBUS) // #SS: an address that is none, by way of the stack segment
    asm volatile("movabs $0x4000000000000000, %%rbp\n\tmov (%%rbp), %%rax" : : : "rax", "memory");
  if (signal == SIGSEGV)
    asm volatile("xor %%eax, %%eax\n\tmov (%%rax), %%rax" : : : "rax", "memory");
  __builtin_trap(); // SIGILL
}

void note(int signal, siginfo_t* info, void* context) {
  constexpr std::uint64_t page_fault_write = 2; // bit 1 of the x86 page-fault error code
  const auto* state = static_cast<const ucontext_t*>(context);
  noted_in->fault_address = reinterpret_cast<std::uint64_t>(info->si_addr);
  noted_in->fault_write =
      (static_cast<std::uint64_t>(state->uc_mcontext.gregs[REG_ERR]) & page_fault_write) != 0 ? 1
                                                                                              : 0;
  noted_in->fault_signal = static_cast<std::uint32_t>(signal);
  fail_again(signal);
}

} // namespace

void install_fault_notes(protocol::ArmPage* shared) {
  noted_in = shared;
  stack_t stack{};
  stack.ss_sp = handler_stack.data();
  stack.ss_size = handler_stack.size();
  ::sigaltstack(&stack, nullptr);
  struct sigaction action{};
  action.sa_sigaction = note;
  action.sa_flags = static_cast<int>(SA_SIGINFO | SA_ONSTACK | SA_RESETHAND | SA_NODEFER);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL})
    ::sigaction(signal, &action, nullptr);
}

} // namespace kw::child
