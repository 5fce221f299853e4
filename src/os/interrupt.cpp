// SPDX-License-Identifier: Apache-2.0
#include "os/interrupt.hpp"

#include <cerrno>
#include <csignal>
#include <unistd.h>

namespace kw {
namespace {

std::atomic<bool> flag{false};
static_assert(std::atomic<bool>::is_always_lock_free); // it is written in a signal handler

void on_signal(int signal) {
  const int saved_errno = errno;
  if (flag.exchange(true))
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
  return flag;
}
void request_interrupt() {
  flag.store(true);
}
void clear_interrupt() {
  flag.store(false);
}

} // namespace kw
