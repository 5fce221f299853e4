// SPDX-License-Identifier: Apache-2.0
// Ctrl-C: the first asks to finish the current step and keep what was found, the second ends the
// process at once (the archive survives that by construction).
#pragma once

#include <atomic>

namespace kw {

/// Handles SIGINT and SIGTERM from now on. Call once, from main.
void install_interrupt_handler();

/// True after the first signal. Pass it to run_child as `cancel`.
[[nodiscard]] const std::atomic<bool>& interrupt_flag();
[[nodiscard]] inline bool interrupted() {
  return interrupt_flag().load(std::memory_order_relaxed);
}

/// For tests and for faces with their own stop button.
void request_interrupt();
void clear_interrupt();

} // namespace kw
