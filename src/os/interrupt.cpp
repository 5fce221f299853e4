// SPDX-License-Identifier: Apache-2.0
#include "os/interrupt.hpp"

#include <cerrno>
#include <csignal>
#include <unistd.h>

namespace kw {
namespace {

std::atomic<bool> asked{false};
static_assert(std::atomic<bool>::is_always_lock_free); // it is written in a signal handler

void on_signal(int signal) {
  const int saved_errno = errno;
  if (asked.exchange(true))
    ::_exit(128 + signal);
  static constexpr char text[] = "\ninterrupted: finishing the current step (again to stop now)\n";
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, text, sizeof text - 1);
  errno = saved_errno;
}

} // namespace

void install_interrupt_handler() {
  struct sigaction action{};
  action.sa_handler = on_signal; // no SA_RESTART: blocking calls return, loops look at the flag
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

const std::atomic<bool>& interrupt_flag() {
  return asked;
}
void request_interrupt() {
  asked.store(true);
}
void clear_interrupt() {
  asked.store(false);
}

} // namespace kw
