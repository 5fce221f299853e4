// SPDX-License-Identifier: Apache-2.0
#include "os/sandbox_seccomp.hpp"

#include "os/system_error.hpp"
#include "os/unique_fd.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <memory>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

namespace kw {
namespace {

using Context = std::unique_ptr<void, void (*)(scmp_filter_ctx)>;

constexpr std::uint64_t namespace_flags = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS |
                                          CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |
                                          CLONE_NEWNET;

// Names rather than numbers: libseccomp skips those an architecture or version does not have.
constexpr std::array compile_denied{
    // networking, and any way around the filter
    "socket",
    "socketpair",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    // other processes
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "pidfd_open",
    "pidfd_getfd",
    "pidfd_send_signal",
    "process_madvise",
    "kcmp",
    "kill",
    "rt_sigqueueinfo",
    // namespaces and mounts
    "unshare",
    "setns",
    "mount",
    "umount",
    "umount2",
    "pivot_root",
    "chroot",
    "open_tree",
    "move_mount",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "mount_setattr",
    "name_to_handle_at",
    "open_by_handle_at",
    "quotactl",
    "quotactl_fd",
    "fanotify_init",
    // kernel interfaces
    "bpf",
    "perf_event_open",
    "userfaultfd",
    "keyctl",
    "add_key",
    "request_key",
    "kexec_load",
    "kexec_file_load",
    "init_module",
    "finit_module",
    "delete_module",
    "iopl",
    "ioperm",
    "modify_ldt",
    "reboot",
    "swapon",
    "swapoff",
    "acct",
    "syslog",
    "lookup_dcookie",
    "vmsplice",
    "settimeofday",
    "clock_settime",
    "clock_adjtime",
    "adjtimex",
    "sethostname",
    "setdomainname",
    "nfsservctl",
    "uselib",
    "vhangup",
    "memfd_secret",
    // System V and POSIX shared objects outlive the process
    "shmget",
    "shmat",
    "shmctl",
    "semget",
    "semop",
    "semctl",
    "msgget",
    "msgsnd",
    "msgrcv",
    "mq_open",
    "mq_unlink",
};

class Builder {
 public:
  explicit Builder(std::uint32_t default_action)
      : context_(seccomp_init(default_action), seccomp_release) {
    if (!context_)
      error_ = -ENOMEM;
  }

  template <class... Compare>
  void rule(std::uint32_t action, const char* name, Compare... compare) {
    const int number = seccomp_syscall_resolve_name(name);
    if (error_ != 0 || number == __NR_SCMP_ERROR)
      return;
    error_ = seccomp_rule_add(context_.get(), action, number, sizeof...(compare), compare...);
  }
  template <class... Compare> void allow(const char* name, Compare... compare) {
    rule(SCMP_ACT_ALLOW, name, compare...);
  }

  Result<SeccompProgram> finish() {
    // A foreign architecture (int 0x80, x32) is killed, whatever the default action is.
    if (error_ == 0)
      error_ = seccomp_attr_set(context_.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    if (error_ != 0)
      return fail(system_error(-error_, "build a seccomp filter"));
    const UniqueFd file{::memfd_create("seccomp", MFD_CLOEXEC)};
    if (!file)
      return fail_errno("create memory for a seccomp filter");
    if (const int error = seccomp_export_bpf(context_.get(), file.get()); error != 0)
      return fail(system_error(-error, "export a seccomp filter"));
    const off_t bytes = ::lseek(file.get(), 0, SEEK_END);
    SeccompProgram program(static_cast<std::size_t>(bytes) / sizeof(sock_filter));
    const std::size_t wanted = program.size() * sizeof(sock_filter);
    if (::pread(file.get(), program.data(), wanted, 0) != static_cast<ssize_t>(wanted))
      return fail_errno("read back a seccomp filter");
    return program;
  }

 private:
  Context context_;
  int error_ = 0;
};

Result<SeccompProgram> compile_program() {
  Builder b{SCMP_ACT_ALLOW};
  for (const char* name : compile_denied)
    b.rule(SCMP_ACT_ERRNO(EPERM), name);
  // clone3 hides its flags behind a pointer: glibc falls back to clone, whose flags are visible.
  b.rule(SCMP_ACT_ERRNO(ENOSYS), "clone3");
  for (std::uint64_t flag = 1; flag != 0 && flag <= namespace_flags; flag <<= 1)
    if ((namespace_flags & flag) != 0)
      b.rule(SCMP_ACT_ERRNO(EPERM), "clone", SCMP_A0(SCMP_CMP_MASKED_EQ, flag, flag));
  return b.finish();
}

void allow_while_called(Builder& b) {
  // Not among them: rt_sigreturn, which would set the signal mask, and exit, after which the
  // process lives on without its first thread. The judge takes threads back by a signal between
  // calls.
  b.allow("futex");
  b.allow("exit_group");
  b.allow("sched_yield");
  // The runner moves guard pages between calls. Where it may, mprotect_only_within says; inside the
  // arenas a candidate gains nothing, because inputs are sealed against writing and the judge
  // checks the slack around outputs itself.
  b.allow("mprotect", SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
}

Result<SeccompProgram> load_program() {
  Builder b{SCMP_ACT_KILL_PROCESS};
  constexpr std::uint64_t writing = O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND | O_TMPFILE;
  b.allow("openat", SCMP_A2(SCMP_CMP_MASKED_EQ, writing & ~std::uint64_t{O_DIRECTORY}, 0));
  for (const char* name : {"read", "pread64", "fstat", "newfstatat", "lseek", "close", "mmap",
                           "munmap", "brk", "madvise", "getpid", "gettid", "getrandom"})
    b.allow(name);
  b.allow("mprotect"); // the dynamic linker's RELRO; executable memory ends with this stage
  for (const char* name : {"futex", "rt_sigreturn", "exit", "exit_group", "sched_yield"})
    b.allow(name);
  // The next, tighter filter.
  b.allow("seccomp", SCMP_A0(SCMP_CMP_EQ, SECCOMP_SET_MODE_FILTER));
  b.allow("prctl", SCMP_A0(SCMP_CMP_EQ, PR_SET_NO_NEW_PRIVS));
  return b.finish();
}

Result<SeccompProgram> kernel_program() {
  Builder b{SCMP_ACT_KILL_PROCESS};
  allow_while_called(b);
  return b.finish();
}

Result<SeccompProgram> side_run_program() {
  Builder b{SCMP_ACT_ERRNO(EPERM)};
  constexpr std::uint64_t writing = O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND | O_TMPFILE;
  constexpr std::uint64_t read_only = writing & ~std::uint64_t{O_DIRECTORY};
  b.allow("open", SCMP_A1(SCMP_CMP_MASKED_EQ, read_only, 0));
  b.allow("openat", SCMP_A2(SCMP_CMP_MASKED_EQ, read_only, 0));
  b.allow("write", SCMP_A0(SCMP_CMP_EQ, STDERR_FILENO));
  b.allow("writev", SCMP_A0(SCMP_CMP_EQ, STDERR_FILENO));
  // Threads only; clone3 hides its flags, so glibc has to fall back to clone.
  b.allow("clone", SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD | CLONE_VM, CLONE_THREAD | CLONE_VM));
  b.rule(SCMP_ACT_ERRNO(ENOSYS), "clone3");
  for (const char* name : {"execve",
                           "read",
                           "pread64",
                           "readv",
                           "fstat",
                           "newfstatat",
                           "stat",
                           "lstat",
                           "statx",
                           "lseek",
                           "close",
                           "access",
                           "faccessat",
                           "faccessat2",
                           "readlink",
                           "readlinkat",
                           "getcwd",
                           "fcntl",
                           "getdents64", // files; execve: the driver, and whatever Landlock leaves
                           "mmap",
                           "munmap",
                           "mprotect",
                           "mremap",
                           "madvise",
                           "brk",
                           "mincore",
                           "msync",
                           "membarrier", // memory
                           "futex",
                           "set_robust_list",
                           "set_tid_address",
                           "rseq",
                           "sched_yield",
                           "sched_getaffinity",
                           "nanosleep",
                           "clock_nanosleep",
                           "clock_gettime",
                           "clock_getres",
                           "gettimeofday",
                           "getrandom",
                           "exit",
                           "exit_group",
                           "restart_syscall", // threads and time
                           "rt_sigaction",
                           "rt_sigprocmask",
                           "rt_sigreturn",
                           "sigaltstack", // its own faults
                           "getpid",
                           "gettid",
                           "getppid",
                           "getuid",
                           "geteuid",
                           "getgid",
                           "getegid",
                           "uname",
                           "sysinfo",
                           "getrlimit",
                           "getrusage",
                           "arch_prctl"})
    b.allow(name);
  b.allow("prlimit64", SCMP_A0(SCMP_CMP_EQ, 0)); // its own: without privileges, only down
  for (const int operation : {PR_SET_NAME, PR_GET_NAME, PR_GET_DUMPABLE, PR_SET_DUMPABLE,
                              PR_SET_VMA, PR_GET_NO_NEW_PRIVS})
    b.allow("prctl", SCMP_A0(SCMP_CMP_EQ, static_cast<scmp_datum_t>(operation)));
  return b.finish();
}

} // namespace

Result<SeccompProgram> make_seccomp_program(SeccompProfile profile) {
  switch (profile) {
  case SeccompProfile::compile:
    return compile_program();
  case SeccompProfile::load:
    return load_program();
  case SeccompProfile::kernel:
    return kernel_program();
  case SeccompProfile::side_run:
    return side_run_program();
  }
  return fail(ErrorKind::unsupported, "no such seccomp profile");
}

std::array<sock_filter, 14> mprotect_only_within(std::uint64_t begin, std::uint64_t end) noexcept {
  const std::uint64_t last = end - 1;
  const auto high = [](std::uint64_t v) { return static_cast<std::uint32_t>(v >> 32); };
  const auto low = [](std::uint64_t v) { return static_cast<std::uint32_t>(v); };
  const auto load = [](std::size_t offset) {
    return sock_filter{BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<std::uint32_t>(offset)};
  };
  // Jumps count the instructions to skip when the comparison holds and when it does not.
  const auto jump = [](unsigned test, std::uint32_t value, std::uint8_t holds, std::uint8_t fails) {
    return sock_filter{static_cast<std::uint16_t>(BPF_JMP | test | BPF_K), holds, fails, value};
  };
  constexpr std::size_t low_half = offsetof(seccomp_data, args), high_half = low_half + 4; // x86
  constexpr std::uint16_t answer = BPF_RET | BPF_K;
  return {{
      load(offsetof(seccomp_data, nr)),
      jump(BPF_JEQ, SYS_mprotect, 0, 10), // -> allow
      load(high_half),
      jump(BPF_JGT, high(begin), 3, 0), // above the lower bound already
      jump(BPF_JEQ, high(begin), 0, 8), // -> kill
      load(low_half),
      jump(BPF_JGE, low(begin), 0, 6), // -> kill
      load(high_half),
      jump(BPF_JGT, high(last), 4, 0), // -> kill
      jump(BPF_JEQ, high(last), 0, 2), // -> allow
      load(low_half),
      jump(BPF_JGT, low(last), 1, 0), // -> kill
      sock_filter{answer, 0, 0, SECCOMP_RET_ALLOW},
      sock_filter{answer, 0, 0, SECCOMP_RET_KILL_PROCESS},
  }};
}

int install_seccomp(std::span<const sock_filter> program, bool all_threads) noexcept {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return errno;
  sock_fprog filter{};
  filter.len = static_cast<unsigned short>(program.size());
  filter.filter = const_cast<sock_filter*>(program.data()); // the kernel only reads it
  const unsigned flags = all_threads ? SECCOMP_FILTER_FLAG_TSYNC : 0U;
  const long result = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter);
  if (result < 0)
    return errno;
  return result == 0 ? 0 : ESRCH; // TSYNC names the thread that could not be synchronised
}

} // namespace kw
