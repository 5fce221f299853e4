// SPDX-License-Identifier: Apache-2.0
// What a call does and what it notices.
#include "runner_fixture.hpp"

#include <atomic>
#include <csignal>
#include <thread>

namespace kw::e2e {
namespace {

TEST(Call, ComputesFromStagedInputsOverAndOver) {
  OneKernel k{build("double", doubling)};
  for (int round = 0; round < 20; ++round) {
    k.invocation.placement = round % 2 == 0 ? Placement::end_aligned : Placement::start_aligned;
    k.invocation.evict = round % 3 == 0;
    const CallReport r = k.call();
    ASSERT_EQ(r.end, CallEnd::returned) << r.detail;
    EXPECT_EQ(r.return_code, 0);
    for (std::size_t i = 0; i < 1000; ++i)
      ASSERT_EQ(OneKernel::output(r, i), static_cast<float>(i)) << i;
    EXPECT_TRUE(r.canaries_intact && r.cpu_state_intact && r.stable_after_done) << r.state_detail;
    EXPECT_GT(r.ns, 0);
  }
}

TEST(Call, PassesTwelvePointersIntegersAndFloats) {
  const std::string object = build("mixed", R"(
API int f(const float* a, const float* b, const float* c, const float* d, float s1, const float* e,
          const float* g, const float* h, const float* k, double s2, const float* l, const float* m,
          float* y, float* z, i64 n, float t1, float t2, float t3, float t4, float t5, float t6,
          float t7, float t8, i64 last) {
  y[0] = a[0] + b[0] * 2 + c[0] * 3 + d[0] * 4 + e[0] * 5 + g[0] * 6 + h[0] * 7 + k[0] * 8 + l[0] * 9 + m[0] * 10;
  z[0] = s1; z[1] = (float)s2; z[2] = (float)n; z[3] = t1 + t2 * 10 + t3 * 100 + t4 * 1000;
  z[4] = t5 + t6 * 10 + t7 * 100 + t8 * 1000; z[5] = (float)last;
  return 42;
})");
  Session session = Session::start(options()).value();
  ArmSpec spec;
  spec.object = object;
  spec.entry = "f";
  LoadReport load;
  Arm arm = session.spawn(spec, load).value();
  ASSERT_EQ(load.end, CallEnd::returned) << load.detail;
  const std::vector<std::size_t> sizes(10, 4);
  auto views = session.stage(sizes, Placement::end_aligned, 1).value();
  for (std::size_t i = 0; i < 10; ++i) {
    const auto value = static_cast<float>(i + 1);
    std::memcpy(views[i].data(), &value, 4);
  }
  Invocation call;
  call.output_bytes = {4, 24};
  call.arguments = {in(0),  in(1),     in(2),  in(3),  f32(0.5), in(4),  in(5),       in(6),
                    in(7),  f64(0.25), in(8),  in(9),  out(0),   out(1), integer(-7), f32(1),
                    f32(2), f32(3),    f32(4), f32(5), f32(6),   f32(7), f32(8),      integer(99)};
  const CallReport r = arm.call(call).value();
  ASSERT_EQ(r.end, CallEnd::returned) << r.detail;
  EXPECT_EQ(r.return_code, 42);
  float y = 0;
  std::array<float, 6> z{};
  std::memcpy(&y, r.outputs[0].data(), 4);
  std::memcpy(z.data(), r.outputs[1].data(), 24);
  EXPECT_EQ(y, 385.F); // sum of i squared, 1..10
  EXPECT_EQ(z, (std::array<float, 6>{0.5F, 0.25F, -7.F, 4321.F, 8765.F, 99.F}));
}

TEST(Call, WritingInputsIsACrashWithWords) {
  OneKernel k{
      build("mutate", "API int f(float* x, float* y, i64) { y[0] = 1; x[32] = 1; return 0; }")};
  const CallReport r = k.call();
  EXPECT_EQ(r.end, CallEnd::crashed);
  EXPECT_EQ(r.signal, SIGSEGV);
  EXPECT_EQ(r.detail, "SIGSEGV, writing into the read-only inputs (input 0, byte 128)");
  EXPECT_FALSE(k.arm().alive());
  EXPECT_FALSE(k.arm().call(k.invocation).has_value());
}

TEST(Call, OverrunHitsTheGuardPageOrTheCanaries) {
  const std::string object = build("overrun", R"(API int f(const float* x, float* y, i64 n) {
    for (i64 i = 0; i <= n; ++i) y[i] = 1; return 0; })");
  OneKernel exact{object, 1024}; // a whole page: the next byte is the guard
  const CallReport crash = exact.call();
  EXPECT_EQ(crash.end, CallEnd::crashed);
  EXPECT_EQ(crash.detail, "SIGSEGV, writing 0 bytes past the end of output 0");
  OneKernel slack{object, 1000};
  slack.invocation.placement = Placement::start_aligned;
  const CallReport r = slack.call();
  EXPECT_EQ(r.end, CallEnd::returned);
  EXPECT_FALSE(r.canaries_intact);
  EXPECT_EQ(r.state_detail.substr(0, 11), "wrote 0 byt") << r.state_detail;
}

TEST(Call, UnderrunOfAnInputHitsTheGuardPage) {
  OneKernel k{
      build("underrun", "API int f(const float* x, float* y, i64) { y[0] = x[-1]; return 0; }")};
  k.invocation.placement = Placement::start_aligned;
  const CallReport r = k.call();
  EXPECT_EQ(r.end, CallEnd::crashed);
  EXPECT_EQ(r.detail, "SIGSEGV, reading 4 bytes before input 0");
}

TEST(Call, EndlessLoopIsStopped) {
  OneKernel k{
      build("hang", "API int f(const float*, float*, i64) { for (;;) asm volatile(\"\"); }")};
  k.invocation.timeout = std::chrono::milliseconds{100};
  const int pid = k.arm().pid();
  const CallReport r = k.call();
  EXPECT_EQ(r.end, CallEnd::timed_out);
  EXPECT_EQ(::kill(pid, 0), -1); // killed and reaped
}

TEST(Call, DivisionByZeroTrapStackOverflowAndNull) {
  EXPECT_EQ(OneKernel(build("fpe", "API int f(const float*, float*, i64 n) { volatile i64 z = 0; "
                                   "return (int)(n / z); }"))
                .call()
                .signal,
            SIGFPE);
  EXPECT_EQ(OneKernel(build("trap", "API int f(const float*, float*, i64) { __builtin_trap(); }"))
                .call()
                .signal,
            SIGILL);
  EXPECT_EQ(
      OneKernel(build("null", "API int f(const float*, float*, i64) { return *(volatile int*)8; }"))
          .call()
          .detail,
      "SIGSEGV, reading through a null pointer");
  EXPECT_EQ(OneKernel(build("deep",
                            "API int f(const float* x, float* y, i64 n) { volatile char a[4096]; "
                            "a[0] = 1; a[n] = 2; "
                            "int r = f(x, y, n + 1); a[1] = (char)r; return r + a[0]; }",
                            {"-fno-optimize-sibling-calls"}))
                .call()
                .detail.substr(0, 23),
            "SIGSEGV, stack overflow");
}

TEST(Call, ChangedCpuStateIsNoticed) {
  const auto detail = [](const char* name, const std::string& body) {
    OneKernel k{build(name, "API int f(const float*, float*, i64) {" + body + " return 0; }")};
    const CallReport first = k.call();
    EXPECT_EQ(first.end, CallEnd::returned) << first.detail;
    EXPECT_FALSE(first.cpu_state_intact) << name;
    return first.state_detail;
  };
  EXPECT_EQ(detail("mxcsr", "unsigned m = 0x9fc0; asm volatile(\"ldmxcsr %0\" :: \"m\"(m));"),
            "left changed: MXCSR 0x9fc0 instead of 0x1f80");
  EXPECT_EQ(detail("x87", "unsigned short m = 0x27f; asm volatile(\"fldcw %0\" :: \"m\"(m));"),
            "left changed: x87 control word 0x27f instead of 0x37f");
  EXPECT_EQ(detail("df", "asm volatile(\"std\");"), "left changed: direction flag set");
  EXPECT_EQ(detail("rbx", "asm volatile(\"xor %%ebx, %%ebx\" ::: \"memory\");"),
            "left changed: a callee-saved register (rbx, rbp, r12-r15)");
}

TEST(Call, AnIntactStateIsNotAccused) {
  OneKernel k{
      build("inexact", "API int f(const float* x, float* y, i64) { y[0] = x[1] / 3; return 0; }")};
  EXPECT_TRUE(k.call().cpu_state_intact); // sticky exception flags are not a change
}

TEST(Call, StackAndWorkspaceDoNotSurvive) {
  OneKernel k{build("stale", R"(API int f(const float*, float* y, i64) {
    volatile float a[4096]; float* w = (float*)kw_workspace(65536);
    y[0] = a[77]; y[1] = w[99]; for (int i = 0; i < 4096; ++i) a[i] = 7; w[99] = 7;
    y[2] = kw_workspace(1 << 30) ? 1 : 0; return 0; })")};
  std::vector<float> stack, scratch;
  for (int i = 0; i < 3; ++i) {
    const CallReport r = k.call();
    ASSERT_EQ(r.end, CallEnd::returned) << r.detail;
    stack.push_back(OneKernel::output(r, 0));
    scratch.push_back(OneKernel::output(r, 1));
    EXPECT_EQ(OneKernel::output(r, 2), 0);
  }
  EXPECT_NE(stack[1], 7);
  EXPECT_NE(scratch[1], 7);
  EXPECT_NE(std::memcmp(&stack[1], &stack[2], 4), 0); // another pattern each time
  EXPECT_NE(std::memcmp(&scratch[1], &scratch[2], 4), 0);
}

TEST(Call, UntouchedOutputsShowThePoison) {
  OneKernel k{build("lazy", "API int f(const float*, float*, i64) { return 0; }")};
  const float even = OneKernel::output(k.call(), 10), odd = OneKernel::output(k.call(), 10);
  EXPECT_TRUE(even != even);
  EXPECT_GT(odd, 1e29F);
}

TEST(Call, LoopsRunOnTheDeclaredThreads) {
  const std::string object = build("parallel", R"(
struct C { const float* x; float* y; };
API int f(const float* x, float* y, i64 n) {
  C c{x, y};
  for (int round = 0; round < 50; ++round)
    kw_parallel_for(n, [](void* p, i64 i) { C* k = (C*)p; k->y[i] = 2 * k->x[i]; }, &c);
  return kw_threads(); })");
  for (const int threads : {1, 2, 3}) {
    OneKernel k{object, 1000, options(), threads};
    for (int round = 0; round < 3; ++round) {
      const CallReport r = k.call();
      ASSERT_EQ(r.end, CallEnd::returned) << r.detail;
      EXPECT_EQ(r.return_code, threads);
      for (std::size_t i = 0; i < 1000; ++i)
        ASSERT_EQ(OneKernel::output(r, i), static_cast<float>(i));
    }
  }
}

// A worker keeps writing after the entry has returned: the loop below abandons its parallel_for by
// unwinding out of it on the calling thread (no exception support needed: a longjmp of its own).
TEST(Call, WritesAfterReturnAreSeen) {
  const std::string object = build("late", R"(
struct C { float* y; void* jump[5]; };
static void body(void* p, i64 i) {
  C* c = (C*)p;
  if (i == 0) for (volatile i64 n = 0; n < 2000000; ++n) {} // let the worker begin
  if (i == 0) __builtin_longjmp(c->jump, 1);
  for (unsigned n = 0;; ++n) { c->y[n % 1000] = (float)n; asm volatile("" ::: "memory"); }
}
API int f(const float*, float* y, i64) {
  C* c = (C*)kw_workspace(sizeof(C)); c->y = y;
  if (__builtin_setjmp(c->jump) == 0) kw_parallel_for(2, body, c);
  return 0; })");
  OneKernel k{object, 1000, options(), 2};
  k.invocation.timeout = std::chrono::milliseconds{2000};
  int noticed = 0;
  for (int attempt = 0; attempt < 100 && noticed == 0; ++attempt) {
    const CallReport r = k.call();
    noticed += r.end == CallEnd::returned && !r.stable_after_done ? 1 : 0;
    k.respawn();
  }
  EXPECT_GT(noticed, 0);
}

// Without seccomp and Landlock a kernel can find the arm's page in /proc/self/maps and raise `done`
// itself, before it has done its work: the samples taken then differ from the frozen outputs.
TEST(Call, RaisingDoneEarlyIsSeenByTheSamples) {
  const std::string object = build("early", R"CPP(
static long sys(long n, long a, long b, long c) { long r;
  asm volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory"); return r; }
static volatile unsigned* find_page(char* text) {
  long fd = sys(2, (long)"/proc/self/maps", 0, 0), n = 0, got;
  while ((got = sys(0, fd, (long)(text + n), 60000 - n)) > 0) n += got;
  for (long line = 0, i = 0; i < n; ++i) {
    if (text[i] == '\n') line = i + 1;
    if (text[i] == '/' && text[i + 1] == 'm' && text[i + 6] == ':' && text[i + 7] == 'a' && text[i + 8] == 'r') {
      unsigned long address = 0;
      for (long k = line; text[k] != '-'; ++k) address = address * 16 + (unsigned long)(text[k] <= '9' ? text[k] - '0' : text[k] - 'a' + 10);
      return (volatile unsigned*)address;
    }
  }
  return 0;
}
API int f(const float*, float* y, i64 n) {
  volatile unsigned* done = find_page((char*)kw_workspace(65536));
  if (!done) return 9;
  *done = *done + 1;
  for (unsigned k = 0;; ++k) { y[k % n] = (float)k; asm volatile("" ::: "memory"); } })CPP");
  SessionOptions o = options();
  o.deny.seccomp = o.deny.landlock = true;
  o.required_tier = "T0";
  OneKernel k{object, 1000, o};
  int noticed = 0;
  for (int attempt = 0; attempt < 100 && noticed == 0;
       ++attempt) { // a busy machine may stop it at once
    const CallReport r = k.call();
    ASSERT_EQ(r.end, CallEnd::returned) << r.detail;
    ASSERT_NE(r.return_code, 9) << "the page was not found";
    noticed += r.stable_after_done ? 0 : 1;
    k.respawn();
  }
  EXPECT_GT(noticed, 0);
}

TEST(Spawn, MissingSymbolAndBrokenObject) {
  OneKernel missing{build("other", "API int g() { return 0; }")};
  EXPECT_EQ(missing.load.end, CallEnd::exited);
  EXPECT_EQ(missing.load.detail, "the object has no entry: f");
  OneKernel undefined{build("undefined", "API int nowhere(); API int f() { return nowhere(); }")};
  EXPECT_EQ(undefined.load.end, CallEnd::exited);
  EXPECT_NE(undefined.load.detail.find("nowhere"), std::string::npos) << undefined.load.detail;
}

TEST(Spawn, MathFunctionsComeFromTheRunner) {
  OneKernel k{build("math",
                    "API float expf(float); API void* memset(void*, int, unsigned long);"
                    "API int f(const float*, float* y, i64 n) { memset(y, 0, n * 4); y[0] = "
                    "expf(1.0f); return 0; }",
                    {"-fno-builtin"})};
  EXPECT_NEAR(OneKernel::output(k.call(), 0), 2.718281F, 1e-5F);
}

TEST(Spawn, TwoArmsShareTheInputsOnly) {
  Session session = Session::start(options()).value();
  ArmSpec spec;
  spec.object = build("double", doubling);
  spec.entry = "f";
  LoadReport load;
  Arm a = session.spawn(spec, load).value(), b = session.spawn(spec, load).value();
  const std::array<std::size_t, 1> sizes{4000};
  auto views = session.stage(sizes, Placement::end_aligned, 3).value();
  std::memset(views[0].data(), 0, 4000);
  Invocation call;
  call.output_bytes = {4000};
  call.arguments = {in(0), out(0), integer(1000)};
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(a.call(call).value().end, CallEnd::returned);
    EXPECT_EQ(b.call(call).value().end, CallEnd::returned);
  }
  EXPECT_NE(a.pid(), b.pid());
}

TEST(Call, WaitingForACpuIsMeasuredWhereItIsAskedFor) {
  if (::access("/proc/self/schedstat", R_OK) != 0)
    GTEST_SKIP() << "this kernel keeps no account of waiting";
  OneKernel k{build("long", "API int f(const float*, float* y, i64) { for (volatile i64 i = 0; i < "
                            "100000000; i = i + 1) {} y[0] = 1; return 0; }")};
  std::atomic<bool> stop{false};
  std::vector<std::thread> neighbours; // more than there are CPUs
  for (unsigned i = 0; i <= std::thread::hardware_concurrency(); ++i)
    neighbours.emplace_back([&stop] {
      while (!stop.load(std::memory_order_relaxed)) {
      }
    });
  EXPECT_EQ(k.call().delay_ns, 0);
  k.invocation.measure_delay = true;
  const CallReport r = k.call();
  stop = true;
  for (std::thread& t : neighbours)
    t.join();
  EXPECT_GT(r.delay_ns, 1e7) << "of " << r.ns;
}

TEST(Spawn, ASessionMayMoveToAnotherThread) {
  std::optional<Session> session;
  std::optional<Arm> arm;
  std::thread([&] { // the thread that started the processes ends before they are used
    session.emplace(Session::start(options()).value());
    ArmSpec spec;
    spec.object = build("double", doubling);
    spec.entry = "f";
    LoadReport load;
    arm.emplace(session->spawn(spec, load).value());
  })
      .join();
  EXPECT_EQ(arm->call({}).value().end, CallEnd::returned); // no elements, but alive
}

TEST(Session, CalibratesItself) {
  Session session = Session::start(options()).value();
  const Calibration c = session.calibrate().value();
  EXPECT_GT(c.doorbell_ns_median, 0);
  EXPECT_GE(c.doorbell_ns_p99, c.doorbell_ns_median);
  EXPECT_GE(c.least_window_ns(), 3e6);
  RecordProperty("doorbell_ns", std::to_string(c.doorbell_ns_median));
  RecordProperty("stop_ns", std::to_string(c.stop_ns_median));
}

} // namespace
} // namespace kw::e2e
