// SPDX-License-Identifier: Apache-2.0
#include "runner/doorbell.hpp"
#include "runner/session_core.hpp"

#include <algorithm>
#include <ctime>
#include <poll.h>

namespace kw {
namespace {

bool has_ended(const Arm::State& arm) {
  pollfd process{arm.process.pidfd.get(), POLLIN, 0};
  return ::poll(&process, 1, 0) > 0;
}

} // namespace

std::int64_t monotonic_now_ns() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

Waited wait_for_done(const Arm::State& arm, std::uint32_t target, std::int64_t deadline_ns,
                     bool spin) {
  // Signs of death and the clock are looked at rarely: the wait itself must see `done` at once.
  constexpr int spins_per_look = 4096; // about 100 us
  const std::atomic<std::uint32_t>& done = arm.shared->done;
  std::int64_t nap_ns = 200'000;
  for (;;) {
    if (spin) {
      for (int i = 0; i < spins_per_look; ++i) {
        if (done.load(std::memory_order_acquire) == target)
          return Waited::done;
        doorbell::pause();
      }
    } else {
      const std::uint32_t seen = done.load(std::memory_order_acquire);
      if (seen == target)
        return Waited::done;
      doorbell::sleep(done, seen, nap_ns);
      nap_ns = std::min<std::int64_t>(nap_ns * 2, 10'000'000);
    }
    if (done.load(std::memory_order_acquire) == target)
      return Waited::done;
    if (has_ended(arm))
      return done.load(std::memory_order_acquire) == target ? Waited::done : Waited::ended;
    if (monotonic_now_ns() > deadline_ns)
      return Waited::late;
  }
}

} // namespace kw
