// SPDX-License-Identifier: Apache-2.0
// What a kernel tries and must not be able to do, in every tier this machine can play.
#include "runner_fixture.hpp"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <grp.h>
#include <optional>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace kw::e2e {
namespace {

const char* const raw_syscall = R"(
static long sys(long n, long a, long b, long c, long d = 0, long e = 0, long g = 0) {
  long r; register long r10 asm("r10") = d; register long r8 asm("r8") = e; register long r9 asm("r9") = g;
  asm volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
  return r; }
)";

std::string attack(const std::string& name, const std::string& expression) {
  return build(name, raw_syscall + ("API int f(const float*, float* y, i64) { return (int)" +
                                    expression + "; }"));
}

TEST(Sandbox, ForbiddenSystemCallsKill) {
  const std::vector<std::pair<std::string, std::string>> attacks{
      {"open", "sys(2, (long)\"/etc/passwd\", 0, 0)"},
      {"openat", "sys(257, -100, (long)\"/etc/passwd\", 0)"},
      {"fork", "sys(57, 0, 0, 0)"},
      {"clone", "sys(56, 0x11, 0, 0)"},
      {"execve", "sys(59, (long)\"/bin/true\", 0, 0)"},
      {"socket", "sys(41, 1, 1, 0)"},
      {"write", "sys(1, 1, (long)\"x\", 1)"},
      {"kill", "sys(62, 1, 9, 0)"},
      {"getppid", "sys(110, 0, 0, 0)"},
      {"mmap_exec", "sys(9, 0, 4096, 7, 0x22, -1, 0)"},
      {"mprotect_exec", "sys(10, (long)y & -4096, 4096, 7)"},
      {"mprotect_own_code", "sys(10, (long)&f & -4096, 4096, 3)"},
      {"mprotect_stack", "sys(10, (long)__builtin_frame_address(0) & -4096, 4096, 3)"},
      {"ptrace", "sys(101, 16, 1, 0)"},
      {"nanosleep", "sys(35, (long)y, 0, 0)"},
      {"int80", "({ long r; asm volatile(\"int $0x80\" : \"=a\"(r) : \"a\"(20)); r; })"},
  };
  for (const auto& [name, code] : attacks) {
    const CallReport r = OneKernel(attack(name, code)).call();
    EXPECT_EQ(r.end, CallEnd::violation) << name << ": " << r.detail;
    EXPECT_EQ(r.signal, SIGSYS) << name;
  }
}

TEST(Sandbox, ExitIsAnEndNotASuccess) {
  const CallReport r = OneKernel(attack("exit", "sys(231, 0, 0, 0)")).call();
  EXPECT_EQ(r.end, CallEnd::exited);
  EXPECT_EQ(r.detail, "the process ended by itself with exit code 0");
}

TEST(Sandbox, InputsCannotBeMadeWritable) {
  const CallReport r = OneKernel(build("unseal", raw_syscall + std::string(R"(
API int f(const float* x, float*, i64) { return (int)sys(10, (long)x & -4096, 4096, 3); })")))
                           .call();
  EXPECT_EQ(r.end, CallEnd::returned) << r.detail;
  EXPECT_EQ(r.return_code, -13); // EACCES
}

TEST(Sandbox, ConstructorsRunInsideToo) {
  const auto load = [](const std::string& name, const std::string& code) {
    return OneKernel(build(name, raw_syscall + ("__attribute__((constructor)) static void c() { " +
                                                code + " } API int f() { return 0; }")))
        .load;
  };
  EXPECT_EQ(load("ctor_socket", "sys(41, 1, 1, 0);").end, CallEnd::violation);
  EXPECT_EQ(load("ctor_fork", "sys(57, 0, 0, 0);").end, CallEnd::violation);
  EXPECT_EQ(load("ctor_write", "sys(257, -100, (long)\"/tmp/kernwright-evil\", 0101, 0600);").end,
            CallEnd::violation);
  EXPECT_EQ(load("ctor_crash", "asm volatile(\"movl $1, 0\" ::: \"memory\");").end,
            CallEnd::crashed);
  EXPECT_EQ(load("ctor_exit", "sys(231, 0, 0, 0);").end, CallEnd::exited);
  // Reading files is up to Landlock: the constructor exits with the result of the open.
  const LoadReport read =
      load("ctor_read",
           "long r = sys(257, -100, (long)\"/etc/passwd\", 0); sys(231, r == -13 ? 77 : 1, 0, 0);");
  if (probe_sandbox().landlock_abi > 0) {
    EXPECT_EQ(read.detail, "the process ended by itself with exit code 77");
  }
}

TEST(Sandbox, SlowConstructorTimesOut) {
  SessionOptions o = options();
  o.load_timeout = std::chrono::milliseconds{100};
  OneKernel k{build("ctor_hang", "__attribute__((constructor)) static void c() { for (;;) asm "
                                 "volatile(\"\"); } API int f() { return 0; }"),
              10, o};
  EXPECT_EQ(k.load.end, CallEnd::timed_out);
}

TEST(Sandbox, EveryTierRunsHonestKernelsAndFailsClosed) {
  const std::string object = build("double", doubling);
  const int best = probe_sandbox().tier;
  for (int denied = 0; denied < 16; ++denied) {
    SessionOptions o = options();
    o.deny = {(denied & 1) != 0, (denied & 2) != 0, (denied & 4) != 0, (denied & 8) != 0};
    const SandboxReport report = probe_sandbox(o.deny);
    o.required_tier = report.tier_name();
    OneKernel k{object, 100, o};
    EXPECT_EQ(k.session().tier(), report.tier_name());
    EXPECT_EQ(OneKernel::output(k.call(), 9), 9.F) << report.describe();
    if (report.tier < 3 && best >= 1) {
      o.required_tier = "T" + std::to_string(report.tier + 1);
      const auto refused = Session::start(o);
      ASSERT_FALSE(refused.has_value());
      EXPECT_EQ(refused.error().kind, ErrorKind::refused);
      EXPECT_FALSE(refused.error().remedy.empty());
      o.allow_weak = true;
      EXPECT_TRUE(Session::start(o).has_value());
    }
  }
}

TEST(Sandbox, DenyingAFacilityLowersTheTier) {
  if (probe_sandbox().tier != 3)
    GTEST_SKIP() << "this machine is below T3: " << probe_sandbox().describe();
  EXPECT_EQ(probe_sandbox({.namespaces = true}).tier, 2);
  EXPECT_EQ(probe_sandbox({.cgroup = true}).tier, 2);
  EXPECT_EQ(probe_sandbox({.landlock = true}).tier, 1);
  EXPECT_EQ(probe_sandbox({.seccomp = true}).tier, 0);
  EXPECT_EQ(probe_sandbox({.namespaces = true}).missing.size(), 1U);
}

// This program again, as an ordinary user, where it runs as root.
TEST(Sandbox, WorksForAnOrdinaryUser) {
  if (::getuid() != 0)
    GTEST_SKIP() << "already an ordinary user";
  constexpr int unreachable = 77;
  const pid_t pid = ::fork();
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    if (::setgroups(0, nullptr) != 0 || ::setgid(65534) != 0 || ::setuid(65534) != 0)
      ::_exit(3);
    if (::access(KW_RUNNER, X_OK) != 0)
      ::_exit(unreachable);
    ::execl(
        "/proc/self/exe", "runner_e2e", "--gtest_brief=1",
        "--gtest_filter=Sandbox.Forbidden*:Sandbox.EveryTier*:Sandbox.Constructors*:Call.Computes*",
        nullptr);
    ::_exit(unreachable);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  ASSERT_TRUE(WIFEXITED(status)) << status;
  if (WEXITSTATUS(status) == unreachable)
    GTEST_SKIP() << "uid 65534 cannot reach " << KW_RUNNER;
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

/// Children of all threads of a process.
std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> found;
  const std::string tasks = "/proc/" + std::to_string(parent) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks)) {
    std::ifstream list{task.path() / "children"};
    for (pid_t child = 0; list >> child;)
      found.push_back(child);
  }
  return found;
}

/// Whoever inherits it may take its time to reap: a zombie counts as gone.
bool is_gone(pid_t pid) {
  std::ifstream file{"/proc/" + std::to_string(pid) + "/stat"};
  const std::string stat{std::istreambuf_iterator<char>{file}, {}};
  return stat.empty() || stat.find(") Z") != std::string::npos;
}

/// Starts a judge whose kernel hangs, sends `signal` to all its children but the arm, then kills
/// the judge. Whether the arm is gone soon.
bool arm_ends_with_the_judge(int signal) {
  const std::string object =
      build("hang", "API int f(const float*, float*, i64) { for (;;) asm volatile(\"\"); }");
  int channel[2];
  EXPECT_EQ(::pipe(channel), 0);
  const pid_t judge = ::fork();
  EXPECT_GE(judge, 0);
  if (judge == 0) {
    OneKernel k{object};
    const int pid = k.arm().pid();
    if (::write(channel[1], &pid, sizeof pid) < 0)
      ::_exit(1);
    k.invocation.timeout = std::chrono::minutes{1};
    k.call();
    ::_exit(0);
  }
  int arm = 0;
  EXPECT_EQ(::read(channel[0], &arm, sizeof arm), static_cast<ssize_t>(sizeof arm));
  ::usleep(50'000); // the kernel loops by now
  EXPECT_EQ(::kill(arm, 0), 0);
  int signalled = 0;
  for (const pid_t child : children_of(judge))
    if (child != arm)
      signalled += ::kill(child, signal) == 0 ? 1 : 0;
  EXPECT_EQ(signalled, 1) << "the zygote";
  ::usleep(20'000);
  EXPECT_FALSE(is_gone(arm)) << "it ends with the judge, not before";
  ::kill(judge, SIGKILL);
  int status = 0;
  ::waitpid(judge, &status, 0);
  bool gone = false;
  for (int i = 0; i < 200 && !gone; ++i) {
    ::usleep(10'000);
    gone = is_gone(arm);
  }
  if (!gone)
    ::kill(arm, SIGKILL);
  ::close(channel[0]);
  ::close(channel[1]);
  return gone;
}

// A polite signal to everything of ours first (pkill): the zygote must outlive it.
TEST(Sandbox, NothingSurvivesTheJudge) {
  EXPECT_TRUE(arm_ends_with_the_judge(SIGTERM));
}

// An arm is the init of its own pid namespace, and nobody is left to kill it but the kernel.
TEST(Sandbox, NothingSurvivesTheJudgeWithoutItsZygote) {
  EXPECT_TRUE(arm_ends_with_the_judge(SIGKILL));
}

TEST(Sandbox, AnArmOutlivesTheThreadThatStartedIt) {
  std::optional<OneKernel> k;
  std::thread{[&k] { k.emplace(build("copied", doubling)); }}.join();
  ::usleep(20'000);
  EXPECT_EQ(k->call().end, CallEnd::returned);
}

/// Folder of the control group that an arm is in; "" if it is in none of ours.
std::string group_of(pid_t arm) {
  std::ifstream file{"/proc/" + std::to_string(arm) + "/cgroup"};
  for (std::string line; std::getline(file, line);) {
    const std::size_t second = line.find(':', line.find(':') + 1);
    const std::string path = line.substr(second + 1);
    if (path.find("kernwright-") == std::string::npos)
      continue;
    for (const char* root : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/memory",
                             "/sys/fs/cgroup/pids"})
      if (std::filesystem::exists(root + path + "/cgroup.procs"))
        return root + path;
  }
  return {};
}

TEST(Health, AnHonestKernelLeavesNothing) {
  OneKernel k{build("clean", doubling)};
  ASSERT_EQ(k.call().end, CallEnd::returned);
  EXPECT_TRUE(k.session().remove_leftovers().empty()) << "its arm is alive and ours";
  EXPECT_TRUE(k.session().serves().has_value());
}

// No kernel can start one, as the tests above say; so this process does, in its place.
TEST(Health, AProcessInTheGroupThatIsNoArmIsFoundAndEnded) {
  OneKernel k{build("left", doubling)};
  const std::string group = group_of(k.arm().pid());
  if (group.empty())
    GTEST_SKIP() << "no control group here";
  const pid_t helper = ::fork();
  if (helper == 0) { // its child is nobody's arm and survives it
    const pid_t orphan = ::fork();
    if (orphan == 0) {
      ::prctl(PR_SET_PDEATHSIG, 0);
      std::ofstream{group + "/cgroup.procs"} << ::getpid();
      ::pause();
    }
    ::usleep(100'000);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(helper, &status, 0);
  const std::vector<std::string> found = k.session().remove_leftovers();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front(), "a process (`runner_e2e`)");
  ::usleep(50'000);
  EXPECT_TRUE(k.session().remove_leftovers().empty());
  EXPECT_EQ(k.call().end, CallEnd::returned) << "arms stay";
}

TEST(Health, ProcessesThatEndWhileTheyAreLookedAtAreNoFault) {
  SessionOptions o = options();
  o.deny.cgroup = true; // then all of /proc is read
  o.allow_weak = true;
  OneKernel k{build("busy", doubling), 1000, o};
  const std::jthread neighbours([](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::vector<pid_t> children;
      for (int i = 0; i < 64; ++i)
        if (const pid_t child = ::fork(); child == 0) {
          ::usleep(static_cast<unsigned>(i) * 100);
          ::_exit(0);
        } else {
          children.push_back(child);
        }
      for (const pid_t child : children)
        ::waitpid(child, nullptr, 0);
    }
  });
  for (int i = 0; i < 2000; ++i)
    ASSERT_TRUE(k.session().remove_leftovers().empty());
}

TEST(Health, SharedMemoryLeftInAWeakSandboxIsFoundAndRemoved) {
  SessionOptions o = options();
  o.deny = {.namespaces = true, .seccomp = true};
  o.allow_weak = true;
  OneKernel k{attack("shm", "sys(29, 0, 4096, 01600)"), 10, o}; // shmget(IPC_PRIVATE)
  const CallReport report = k.call();
  ASSERT_EQ(report.end, CallEnd::returned) << report.detail;
  ASSERT_GE(report.return_code, 0);
  EXPECT_EQ(k.session().remove_leftovers(), std::vector<std::string>{"a shared memory segment"});
  k.respawn();
  EXPECT_TRUE(k.session().remove_leftovers().empty());
}

TEST(Health, WithoutItsZygoteTheSessionServesNoMore) {
  OneKernel k{build("gone", doubling)};
  for (const pid_t child : children_of(::getpid()))
    if (child != k.arm().pid() && !is_gone(child))
      ::kill(child, SIGKILL);
  const Status served = k.session().serves();
  ASSERT_FALSE(served);
  EXPECT_EQ(served.error().kind, ErrorKind::infrastructure);
  EXPECT_TRUE(k.session().serves().has_value()) << "the next one has a new zygote";
}

// Living arms serve on, the next one is an error of ours, and the one after has a new zygote.
TEST(Sandbox, TheZygotesDeathIsAnErrorOfOursOnce) {
  OneKernel k{build("zygote", "API int f(const float* x, float* y, i64 n) {\n"
                              "  for (i64 i = 0; i < n; ++i) y[i] = x[i];\n  return 0;\n}")};
  ASSERT_EQ(k.call().end, CallEnd::returned);
  int killed = 0;
  for (const pid_t child : children_of(::getpid()))
    if (child != k.arm().pid() && !is_gone(child))
      killed += ::kill(child, SIGKILL) == 0 ? 1 : 0;
  ASSERT_EQ(killed, 1) << "the zygote";
  EXPECT_EQ(k.call().end, CallEnd::returned);

  LoadReport report;
  const auto began = std::chrono::steady_clock::now();
  const Result<Arm> refused = k.session().spawn(k.spec(), report);
  ASSERT_FALSE(refused);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds{20})
      << "it may not hang";
  EXPECT_EQ(refused.error().kind, ErrorKind::infrastructure);
  EXPECT_NE(refused.error().message.find("ended unexpectedly"), std::string::npos)
      << refused.error().text();
  EXPECT_FALSE(refused.error().remedy.empty());

  const Result<Arm> next = k.session().spawn(k.spec(), report);
  ASSERT_TRUE(next) << next.error().text();
  EXPECT_EQ(report.end, CallEnd::returned);
}

} // namespace
} // namespace kw::e2e
