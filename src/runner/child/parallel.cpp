// SPDX-License-Identifier: Apache-2.0
// kw_parallel_for: workers made before the filter closes, a ticket that hands out indices.
//
// The ticket holds (job number, next index) in one word, so a worker that wakes late can only claim
// work of the job it read, and nobody has to wait for workers that never joined: a job is over when
// `finished` reaches its number of units, whoever did them.
#include "arm.hpp"

#include "runner/doorbell.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <pthread.h>
#include <sched.h>

namespace kw::child {
namespace {

using Body = void (*)(void*, std::int64_t);

struct Job {
  std::atomic<Body> body{nullptr};
  std::atomic<void*> context{nullptr};
  std::atomic<std::int64_t> count{0}, chunk{1};
  std::atomic<std::uint32_t> units{0};
};

constexpr int spins_before_sleep =
    2000; // about 50 us: consecutive loops of one call find all awake

std::array<Job, 2> jobs; // by parity of the job number
alignas(64) std::atomic<std::uint64_t> ticket{0};
alignas(64) std::atomic<std::uint32_t> job_number{0}; // futex of the workers
std::atomic<std::uint32_t> sleepers{0};
alignas(64) std::atomic<std::uint32_t> finished{0}; // futex of the caller
std::atomic<std::uint32_t> caller_sleeps{0};
std::atomic<int> started{0};
thread_local bool inside = false;

constexpr std::uint32_t job_of(std::uint64_t t) {
  return static_cast<std::uint32_t>(t >> 32);
}
constexpr std::uint32_t unit_of(std::uint64_t t) {
  return static_cast<std::uint32_t>(t);
}

void wake(std::atomic<std::uint32_t>& word, int how_many) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, how_many, nullptr, nullptr, 0);
}

/// Claims and runs units until the current job has none left.
void work() {
  for (;;) {
    std::uint64_t t = ticket.load(std::memory_order_acquire);
    const Job& job = jobs[job_of(t) & 1];
    const std::uint32_t units = job.units.load(std::memory_order_relaxed);
    if (unit_of(t) >= units)
      return;
    if (!ticket.compare_exchange_weak(t, t + 1, std::memory_order_acq_rel))
      continue;
    // The claim holds the job open: its fields cannot change before `finished` is complete.
    const std::int64_t chunk = job.chunk.load(std::memory_order_relaxed);
    const std::int64_t begin = std::int64_t{unit_of(t)} * chunk;
    const std::int64_t end = std::min(begin + chunk, job.count.load(std::memory_order_relaxed));
    const Body body = job.body.load(std::memory_order_relaxed);
    void* context = job.context.load(std::memory_order_relaxed);
    for (std::int64_t i = begin; i < end; ++i)
      body(context, i);
    if (finished.fetch_add(1, std::memory_order_seq_cst) + 1 == units &&
        caller_sleeps.load(std::memory_order_seq_cst) != 0)
      wake(finished, 1);
  }
}

void* worker(void* number) {
  remember_thread(reinterpret_cast<std::uintptr_t>(number));
  started.fetch_add(1, std::memory_order_release);
  work_for_ever();
}

void run_job(std::int64_t count, Body body, void* context) {
  constexpr std::int64_t most_units = INT32_MAX;
  const std::int64_t chunk = (count - 1) / most_units + 1;
  const auto units = static_cast<std::uint32_t>((count - 1) / chunk + 1);
  const std::uint32_t number = job_number.load(std::memory_order_relaxed) + 1;
  Job& job = jobs[number & 1];
  job.body.store(body, std::memory_order_relaxed);
  job.context.store(context, std::memory_order_relaxed);
  job.count.store(count, std::memory_order_relaxed);
  job.chunk.store(chunk, std::memory_order_relaxed);
  job.units.store(units, std::memory_order_relaxed);
  finished.store(0, std::memory_order_relaxed);
  ticket.store(std::uint64_t{number} << 32, std::memory_order_release);
  job_number.store(number, std::memory_order_seq_cst);
  if (sleepers.load(std::memory_order_seq_cst) != 0)
    wake(job_number, INT_MAX);
  inside = true;
  work();
  inside = false;
  for (int spins = 0;;) {
    const std::uint32_t done = finished.load(std::memory_order_acquire);
    if (done == units)
      break;
    if (++spins < spins_before_sleep) {
      doorbell::pause();
      continue;
    }
    caller_sleeps.store(1, std::memory_order_seq_cst);
    const std::uint32_t again = finished.load(std::memory_order_seq_cst);
    if (again != units)
      doorbell::sleep(finished, again);
    caller_sleeps.store(0, std::memory_order_seq_cst);
  }
}

} // namespace

void work_for_ever() {
  inside = true;
  std::uint32_t seen = 0;
  for (;;) {
    int spins = 0;
    while (job_number.load(std::memory_order_acquire) == seen) {
      if (++spins < spins_before_sleep) {
        doorbell::pause();
        continue;
      }
      sleepers.fetch_add(1, std::memory_order_seq_cst);
      if (job_number.load(std::memory_order_seq_cst) == seen)
        doorbell::sleep(job_number, seen);
      sleepers.fetch_sub(1, std::memory_order_seq_cst);
    }
    seen = job_number.load(std::memory_order_acquire);
    work();
  }
}

int start_workers(int threads) {
  kw_fixed.threads = static_cast<std::uint64_t>(std::max(threads, 1));
  remember_thread(0);
  for (std::uintptr_t i = 1; i < kw_fixed.threads; ++i) {
    pthread_t thread{};
    if (const int error = ::pthread_create(&thread, nullptr, worker, reinterpret_cast<void*>(i));
        error != 0)
      return error;
    ::pthread_detach(thread);
  }
  // A thread's first steps need system calls of their own: the filter must not overtake them.
  while (started.load(std::memory_order_acquire) != static_cast<int>(kw_fixed.threads) - 1)
    ::sched_yield();
  return 0;
}

void forget_jobs() {
  for (Job& job : jobs) {
    job.body.store(nullptr, std::memory_order_relaxed);
    job.units.store(0, std::memory_order_relaxed);
  }
  ticket.store(0, std::memory_order_relaxed);
  job_number.store(0, std::memory_order_relaxed);
  sleepers.store(0, std::memory_order_relaxed);
  finished.store(0, std::memory_order_relaxed);
  caller_sleeps.store(0, std::memory_order_relaxed);
  inside = false;
}

} // namespace kw::child

extern "C" __attribute__((visibility("default"))) int kw_threads(void) {
  return static_cast<int>(kw::child::kw_fixed.threads);
}

extern "C" __attribute__((visibility("default"))) void
kw_parallel_for(std::int64_t count, void (*body)(void* context, std::int64_t i), void* context) {
  using namespace kw::child;
  if (count <= 0)
    return;
  if (kw_fixed.threads == 1 || inside || count == 1) { // nested loops run where they are
    for (std::int64_t i = 0; i < count; ++i)
      body(context, i);
    return;
  }
  run_job(count, body, context);
}
