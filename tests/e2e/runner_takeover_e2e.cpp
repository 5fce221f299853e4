// SPDX-License-Identifier: Apache-2.0
// A kernel that keeps a thread of its process loses it before the next inputs can be seen.
#include "runner_fixture.hpp"

#include <string>
#include <thread>

namespace kw::e2e {
namespace {

/// Finds the judge's and the arm's page in the runner's data by the pointers around the output, and
/// answers the doorbell. `kept` survives between calls: the workspace's far part is not refilled.
const char* const takeover = R"(
typedef unsigned long u64;
struct Pages { const char* judge; char* arm; };
static Pages find(const void* inside, const float* y) {
  u64 at = (u64)inside & ~4095ul;
  while (*(const unsigned*)at != 0x464c457f) at -= 4096;
  const char* header = (const char*)at + *(const u64*)(at + 32);
  const int count = *(const unsigned short*)(at + 56);
  for (int i = 0; i < count; ++i, header += 56) {
    if (*(const unsigned*)header != 1 || (*(const unsigned*)(header + 4) & 2) == 0) continue;
    const u64* p = (const u64*)((at + *(const u64*)(header + 16) + 7) & ~7ul);
    for (u64 k = 0; k + 8 < *(const u64*)(header + 40) / 8; ++k, ++p)
      if (p[0] != 0 && p[1] != 0 && ((p[0] | p[1] | p[2] | p[3]) & 4095) == 0 && p[2] <= (u64)y && (u64)y < p[3])
        return {(const char*)p[0], (char*)p[1]};
  }
  return {};
}
static unsigned bell(const Pages& p) { return *(const volatile unsigned*)(p.judge + 64); }
static volatile i64* kept() { return (volatile i64*)((char*)kw_workspace(2 << 20) + (1 << 20) + 64); }
static void ring(const Pages& p, unsigned value) {
  *(volatile unsigned*)p.arm = value;
  long r; register long r10 asm("r10") = 0;
  asm volatile("syscall" : "=a"(r) : "a"(202), "D"(p.arm), "S"(1), "d"(1), "r"(r10) : "rcx", "r11", "memory");
}
)";

TEST(Takeover, AKernelThatNeverReturnsBeginsAnew) {
  OneKernel k{build("stays", takeover + std::string(R"(
API int f(const float*, float* y, i64) {
  const Pages pages = find(__builtin_return_address(0), y);
  y[0] = ++kept()[0];
  y[1] = kept()[1];
  for (unsigned seen = bell(pages);;) {
    ring(pages, seen);
    while (bell(pages) == seen) {}
    seen = bell(pages);
    if (seen % 2 == 1) ++kept()[1]; // would see the next inputs
  }
})"))};
  for (int call = 1; call <= 4; ++call) {
    const CallReport r = k.call();
    ASSERT_EQ(r.end, CallEnd::returned) << r.detail;
    EXPECT_EQ(OneKernel::output(r, 0), static_cast<float>(call)) << "entered once per call";
    EXPECT_EQ(OneKernel::output(r, 1), 0.F) << "ran between two calls";
  }
}

TEST(Takeover, AWorkerThatStaysBehindBeginsAnew) {
  OneKernel k{build("worker_stays", takeover + std::string(R"(
struct Job { void* escape[5]; Pages pages; volatile int stayed; };
static void body(void* context, i64) {
  Job& job = *(Job*)context;
  const u64 here = (u64)__builtin_frame_address(0);
  if (here < (u64)&job && (u64)&job - here < 65536) { // on the caller's stack
    while (job.stayed == 0) {}
    __builtin_longjmp(job.escape, 1);
  }
  const Pages pages = job.pages;
  volatile i64* seen = kept() + 1;
  job.stayed = 1;
  for (;;)
    if (bell(pages) % 2 == 1) ++*seen;
}
API int f(const float*, float* y, i64) {
  Job job{};
  job.pages = find(__builtin_return_address(0), y);
  y[0] = ++kept()[0];
  y[1] = kept()[1];
  if (__builtin_setjmp(job.escape) == 0)
    kw_parallel_for(2, body, &job);
  return 0;
})"),
                    {"-O1"}),
              1000, options(), 2};
  for (int call = 1; call <= 4; ++call) {
    const CallReport r = k.call();
    ASSERT_EQ(r.end, CallEnd::returned) << r.detail;
    EXPECT_EQ(OneKernel::output(r, 0), static_cast<float>(call));
    EXPECT_EQ(OneKernel::output(r, 1), 0.F) << "a worker ran between two calls";
  }
}

// Half a call's work hides behind the time a sleeping judge takes to wake up, unless it watches.
TEST(Takeover, ASleepingJudgeWatchesNowAndThen) {
  SessionOptions o = options();
  o.doorbell = Doorbell::futex;
  if (std::thread::hardware_concurrency() < 2)
    GTEST_SKIP() << "watching takes a second CPU";
  o.cpu_judge = 0, o.cpu_arm = 1; // other work could put both on one
  OneKernel k{build("hides", takeover + std::string(R"(
API int f(const float*, float* y, i64 n) {
  const Pages pages = find(__builtin_return_address(0), y);
  long woken; register long r10 asm("r10") = 0;
  asm volatile("syscall" : "=a"(woken) : "a"(202), "D"(pages.arm), "S"(1), "d"(1), "r"(r10) : "rcx", "r11", "memory");
  if (woken == 1) // somebody sleeps: nobody looks
    ring(pages, bell(pages));
  for (i64 i = 0; i < n; ++i)
    for (int k = 0; k < 8; ++k) { y[i] = 1; asm volatile("pause" : : : "memory"); }
  return 0;
})")),
              1000, o};
  int noticed = 0;
  for (int call = 0; call < 400 && noticed == 0; ++call) {
    k.invocation.watch = call % 2 == 1;
    const bool stable = k.call().stable_after_done;
    noticed += k.invocation.watch && !stable ? 1 : 0;
  }
  EXPECT_EQ(noticed, 1);
}

TEST(Takeover, RegistersKeepNothing) {
  OneKernel k{build("registers", R"(
API int f(const float*, float* y, i64) {
  long mm, zmm;
  asm volatile("movq %%mm3, %0\n\temms" : "=r"(mm));
  asm volatile("movq %%xmm9, %0" : "=r"(zmm));
  y[0] = mm; y[1] = zmm;
  asm volatile("movq %0, %%mm3\n\temms\n\tmovq %0, %%xmm9" : : "r"(7L));
  return 0;
})")};
  for (int call = 0; call < 3; ++call) {
    const CallReport r = k.call();
    ASSERT_EQ(r.end, CallEnd::returned) << r.detail;
    for (std::size_t i = 0; i < 2; ++i)
      EXPECT_EQ(OneKernel::output(r, i), 0.F) << i;
  }
}

} // namespace
} // namespace kw::e2e
