// SPDX-License-Identifier: Apache-2.0
// clone(CLONE_VM | CLONE_VFORK) on a small stack of its own: no page tables are copied and no page
// of the judge becomes copy-on-write, so starting a compiler does not disturb a timed neighbour.
// The price is the discipline written at ChildHook: the child borrows our memory until exec.
#include "os/spawn.hpp"

#include "os/system_error.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kw {
namespace {

// ThreadSanitizer takes every clone() for a fork and would repair its state in the shared memory:
// give it a real fork, which is slower and the same otherwise.
#if defined(__SANITIZE_THREAD__)
#define KW_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KW_THREAD_SANITIZER 1
#endif
#endif
#ifdef KW_THREAD_SANITIZER
constexpr int share_memory = 0;
#else
constexpr int share_memory = CLONE_VM;
#endif

/// Written by the child when it cannot come to exec; lies in memory shared in any case.
struct Failure {
  const char* step; ///< a literal: the same address in both processes
  int error;
};

/// Everything the child needs, prepared before it exists.
struct Plan {
  const char* program;
  char* const* argv;
  char* const* envp;
  const char* cwd;             ///< nullptr = unchanged
  std::array<int, 3> standard; ///< all > 2
  const int* inherit;
  std::size_t inherit_count;
  struct Limit {
    int resource;
    rlim_t value;
  };
  std::array<Limit, 6> limits;
  std::size_t limit_count;
  ChildHook prepare;
  bool die_with_parent;
  pid_t parent;
  sigset_t signal_mask; ///< of the parent before everything was blocked
  Failure* failure;
};

int give_up(Plan& plan, const char* step, int error) {
  *plan.failure = {step, error};
  return 127;
}

int child_main(void* argument) {
  Plan& plan = *static_cast<Plan*>(argument);
  // Handlers are code of the parent: drop them before signals are unblocked.
  struct sigaction by_default{};
  by_default.sa_handler = SIG_DFL;
  for (int s = 1; s < _NSIG; ++s)
    ::sigaction(s, &by_default, nullptr); // fails harmlessly for KILL, STOP and reserved ones
  if (::setpgid(0, 0) != 0)
    return give_up(plan, "create a process group", errno);
  if (plan.die_with_parent) {
    if (::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0)
      return give_up(plan, "tie the child to its parent", errno);
    if (::getppid() != plan.parent)
      ::_exit(127); // the parent died in between
  }
  if (plan.cwd != nullptr && ::chdir(plan.cwd) != 0)
    return give_up(plan, "enter the working folder", errno);
  for (int i = 0; i < 3; ++i)
    if (::dup2(plan.standard[static_cast<std::size_t>(i)], i) < 0)
      return give_up(plan, "set up standard streams", errno);
  if (::syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC) != 0 && errno != ENOSYS)
    return give_up(plan, "close descriptors", errno); // ENOSYS, before 5.9: ours are O_CLOEXEC
  for (std::size_t i = 0; i < plan.inherit_count; ++i)
    if (::fcntl(plan.inherit[i], F_SETFD, 0) != 0)
      return give_up(plan, "pass on a descriptor", errno);
  for (std::size_t i = 0; i < plan.limit_count; ++i) {
    const rlimit limit{plan.limits[i].value, plan.limits[i].value};
    if (::syscall(SYS_prlimit64, 0, plan.limits[i].resource, &limit, nullptr) != 0)
      return give_up(plan, "set resource limits", errno);
  }
  if (plan.prepare.run != nullptr)
    if (const int error = plan.prepare.run(plan.prepare.context); error != 0)
      return give_up(plan, "close the sandbox for", error);
  ::sigprocmask(SIG_SETMASK, &plan.signal_mask, nullptr);
  ::execve(plan.program, plan.argv, plan.envp);
  return give_up(plan, "start", errno);
}

std::vector<char*> pointers(const std::vector<std::string>& strings, const std::string* first) {
  std::vector<char*> out;
  if (first != nullptr)
    out.push_back(const_cast<char*>(first->c_str())); // execve takes char* const* by old custom
  for (const std::string& s : strings)
    out.push_back(const_cast<char*>(s.c_str()));
  out.push_back(nullptr);
  return out;
}

/// Above 2, so that the dup2 calls in the child cannot overwrite one another's source.
Result<UniqueFd> above_standard(int fd, int flags) {
  UniqueFd null;
  if (fd < 0) {
    null.reset(::open("/dev/null", flags | O_CLOEXEC));
    if (!null)
      return fail_errno("open", "/dev/null");
    fd = null.get();
  }
  UniqueFd out(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
  if (!out)
    return fail_errno("duplicate a descriptor");
  return out;
}

/// The child's stack above a guard page, and the failure record at its very top.
class ChildMemory {
 public:
  ChildMemory() {
    base_ = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    if (valid())
      ::mprotect(base_, 4096, PROT_NONE);
  }
  ChildMemory(const ChildMemory&) = delete;
  ChildMemory& operator=(const ChildMemory&) = delete;
  ~ChildMemory() {
    if (valid())
      ::munmap(base_, size);
  }
  [[nodiscard]] bool valid() const { return base_ != MAP_FAILED; }
  [[nodiscard]] void* stack_top() const { return static_cast<char*>(base_) + size - 64; }
  [[nodiscard]] Failure* failure() const { return static_cast<Failure*>(stack_top()); }

 private:
  static constexpr std::size_t size = 512 << 10;
  static_assert(sizeof(Failure) <= 64);
  void* base_ = MAP_FAILED;
};

} // namespace

Result<Spawned> spawn(const SpawnSpec& spec) {
  if (!spec.program.starts_with('/'))
    return fail(ErrorKind::invalid_input,
                fmt::format("the program to start, \"{}\", is not an absolute path", spec.program),
                "name it with its folder");
  KW_TRY(const UniqueFd in, above_standard(spec.stdin_fd, O_RDONLY));
  KW_TRY(const UniqueFd out, above_standard(spec.stdout_fd, O_WRONLY));
  KW_TRY(const UniqueFd err, above_standard(spec.stderr_fd, O_WRONLY));
  const std::vector<char*> argv = pointers(spec.args, &spec.program);
  const std::vector<char*> envp = pointers(spec.environment, nullptr);
  const ChildMemory memory;
  if (!memory.valid())
    return fail_errno("allocate a stack for the child");

  Plan plan{};
  plan.program = spec.program.c_str();
  plan.argv = argv.data();
  plan.envp = envp.data();
  plan.cwd = spec.cwd.empty() ? nullptr : spec.cwd.c_str();
  plan.standard = {in.get(), out.get(), err.get()};
  plan.inherit = spec.inherit.data();
  plan.inherit_count = spec.inherit.size();
  const auto limit = [&plan](int resource, const std::optional<std::uint64_t>& value) {
    if (value)
      plan.limits[plan.limit_count++] = {resource, static_cast<rlim_t>(*value)};
  };
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, spec.limits.cpu_seconds);
  limit(RLIMIT_FSIZE, spec.limits.file_bytes);
  limit(RLIMIT_AS, spec.limits.address_space_bytes);
  limit(RLIMIT_NOFILE, spec.limits.open_files);
  limit(RLIMIT_STACK, spec.limits.stack_bytes);
  plan.prepare = spec.prepare;
  plan.die_with_parent = spec.die_with_parent;
  plan.parent = ::getpid();
  plan.failure = memory.failure(); // fresh pages are zero: no failure yet

  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &plan.signal_mask);
  int pidfd = -1;
  const pid_t pid = ::clone(child_main, memory.stack_top(),
                            share_memory | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &plan, &pidfd);
  const int clone_error = errno;
  ::pthread_sigmask(SIG_SETMASK, &plan.signal_mask, nullptr);
  if (pid < 0)
    return fail(system_error(clone_error, "start", spec.program));
  Spawned child{pid, UniqueFd(pidfd)};
  if (const Failure failure = *memory.failure(); failure.step != nullptr) {
    (void)wait_child(child);
    const bool about_folder = std::string_view(failure.step).starts_with("enter");
    return fail(system_error(failure.error, failure.step, about_folder ? spec.cwd : spec.program));
  }
  return child;
}

void kill_group(const Spawned& child) {
  if (child.pid > 0 && ::kill(-child.pid, SIGKILL) != 0)
    ::kill(child.pid, SIGKILL); // it has moved to another group
}

Result<ExitInfo> wait_child(const Spawned& child) {
  siginfo_t info{};
  rusage usage{};
  // The raw call: glibc's waitid has no rusage argument.
  while (::syscall(SYS_waitid, P_PID, child.pid, &info, WEXITED, &usage) != 0)
    if (errno != EINTR)
      return fail_errno("wait for a child process");
  const auto ms = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) / 1e3;
  };
  ExitInfo out;
  if (info.si_code == CLD_EXITED)
    out.exit_code = info.si_status;
  else
    out.signal = info.si_status;
  out.user_ms = ms(usage.ru_utime);
  out.system_ms = ms(usage.ru_stime);
  out.max_rss_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) << 10;
  return out;
}

} // namespace kw
