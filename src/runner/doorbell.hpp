// SPDX-License-Identifier: Apache-2.0
// Ringing and waiting on a 32-bit word in shared memory; used by both sides of the protocol.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kw::doorbell {

inline void pause() noexcept {
  __builtin_ia32_pause();
}

/// Sleeps while `word` holds `seen`, at most `timeout_ns` (0 = for ever). Spurious returns happen.
inline void sleep(const std::atomic<std::uint32_t>& word, std::uint32_t seen,
                  std::int64_t timeout_ns = 0) noexcept {
  const timespec limit{timeout_ns / 1'000'000'000, timeout_ns % 1'000'000'000};
  ::syscall(SYS_futex, &word, FUTEX_WAIT, seen, timeout_ns > 0 ? &limit : nullptr, nullptr, 0);
}

/// Stores `value`, and wakes the other side if it said that it sleeps.
inline void ring(std::atomic<std::uint32_t>& word, std::uint32_t value,
                 const std::atomic<std::uint32_t>& other_sleeps) noexcept {
  word.store(value, std::memory_order_seq_cst);
  if (other_sleeps.load(std::memory_order_seq_cst) != 0)
    ::syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

} // namespace kw::doorbell
