// SPDX-License-Identifier: Apache-2.0
#include "os/process.hpp"

#include "os/system_error.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kw {
namespace {

using Steady = std::chrono::steady_clock;

struct Pipe {
  UniqueFd read, write;
};

Result<Pipe> make_pipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0)
    return fail_errno("create a pipe");
  return Pipe{UniqueFd(fds[0]), UniqueFd(fds[1])};
}

void set_nonblocking(int fd) {
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
}

/// Keeps the first and the last half of a stream: causes come first, summaries last.
class Capture {
 public:
  explicit Capture(std::size_t limit) : half_(limit / 2) {}

  void add(std::string_view bytes) {
    const std::size_t first = std::min(bytes.size(), half_ - std::min(half_, head_.size()));
    head_ += bytes.substr(0, first);
    tail_ += bytes.substr(first);
    if (tail_.size() > 2 * half_ + (64 << 10)) // cut rarely, not at every read
      cut();
  }
  std::string take(bool& truncated) {
    cut();
    truncated = dropped_ > 0;
    if (truncated)
      head_ += fmt::format("\n... {} bytes left out ...\n", dropped_);
    return std::move(head_) + tail_;
  }

 private:
  void cut() {
    if (tail_.size() > half_) {
      dropped_ += tail_.size() - half_;
      tail_.erase(0, tail_.size() - half_);
    }
  }
  std::size_t half_;
  std::string head_, tail_;
  std::size_t dropped_ = 0;
};

/// Reads what is there; resets `fd` at the end of the stream. Bounded, so that a child that never
/// stops writing cannot keep us from looking at the clock; 1 MiB is more than a pipe holds.
void drain(UniqueFd& fd, Capture& capture) {
  std::array<char, 65536> buffer;
  for (int i = 0; i < 16 && fd; ++i) {
    const ssize_t n = ::read(fd.get(), buffer.data(), buffer.size());
    if (n > 0)
      capture.add({buffer.data(), static_cast<std::size_t>(n)});
    else if (n < 0 && errno == EINTR)
      continue;
    else if (n < 0 && errno == EAGAIN)
      return;
    else
      fd.reset();
  }
}

/// Writes as much as fits; resets `fd` when all is written or nobody reads any more.
void feed(UniqueFd& fd, std::string_view& rest) {
  while (fd && !rest.empty()) {
    const ssize_t n = ::write(fd.get(), rest.data(), rest.size());
    if (n > 0)
      rest.remove_prefix(static_cast<std::size_t>(n));
    else if (n < 0 && errno == EINTR)
      continue;
    else if (n < 0 && errno == EAGAIN)
      return;
    else
      break;
  }
  fd.reset();
}

/// A child that closes its standard input must not kill us: SIGPIPE is blocked in this thread while
/// we write, and one that came of it is taken away again.
class SigpipeBlocked {
 public:
  SigpipeBlocked() {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  SigpipeBlocked(const SigpipeBlocked&) = delete;
  SigpipeBlocked& operator=(const SigpipeBlocked&) = delete;
  ~SigpipeBlocked() {
    const timespec now{};
    if (!was_pending_)
      while (::sigtimedwait(&pipe_, nullptr, &now) > 0) {
      }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_{}, before_{};
  bool was_pending_ = false;
};

} // namespace

Result<ChildReport> run_child(const ChildSpec& spec) {
  KW_TRY(Pipe out, make_pipe());
  KW_TRY(Pipe err, make_pipe());
  Pipe in;
  if (!spec.stdin_data.empty()) {
    KW_TRY(in, make_pipe());
    set_nonblocking(in.write.get());
  }
  set_nonblocking(out.read.get());
  set_nonblocking(err.read.get());

  SpawnSpec start;
  start.program = spec.program;
  start.args = spec.args;
  start.environment = spec.environment;
  start.cwd = spec.cwd;
  start.stdin_fd = in.read.get();
  start.stdout_fd = out.write.get();
  start.stderr_fd = err.write.get();
  start.inherit = spec.inherit;
  start.limits = spec.limits;
  start.prepare = spec.prepare;
  const auto began = Steady::now();
  KW_TRY(const Spawned child, spawn(start));
  in.read.reset();
  out.write.reset();
  err.write.reset();

  const SigpipeBlocked no_sigpipe;
  Capture out_text(spec.max_output), err_text(spec.max_output);
  std::string_view input = spec.stdin_data;
  ChildReport report;
  const auto deadline = began + spec.timeout;
  while (true) {
    const auto now = Steady::now();
    if (spec.cancel != nullptr && spec.cancel->load())
      report.cancelled = true;
    else if (now >= deadline)
      report.timed_out = true;
    if (report.cancelled || report.timed_out) {
      kill_group(child);
      break;
    }
    auto wait = std::chrono::ceil<std::chrono::milliseconds>(deadline - now);
    if (spec.cancel != nullptr)
      wait = std::min(wait, std::chrono::milliseconds{50});
    wait = std::min(wait, std::chrono::milliseconds{60'000});
    std::array<pollfd, 4> fds{{{child.pidfd.get(), POLLIN, 0},
                               {out.read.get(), POLLIN, 0},
                               {err.read.get(), POLLIN, 0},
                               {in.write.get(), POLLOUT, 0}}}; // negative ones are ignored
    if (::poll(fds.data(), fds.size(), static_cast<int>(wait.count())) < 0 && errno != EINTR) {
      Error error = system_error(errno, "wait for", spec.program);
      kill_group(child);
      (void)wait_child(child);
      return fail(std::move(error));
    }
    drain(out.read, out_text);
    drain(err.read, err_text);
    if (fds[3].revents != 0)
      feed(in.write, input);
    if (fds[0].revents != 0)
      break;
  }
  // The leader has ended or been killed but is not reaped, so its group number is still ours: end
  // whatever it left behind, then read what is buffered.
  kill_group(child);
  KW_TRY(const ExitInfo exit, wait_child(child));
  drain(out.read, out_text);
  drain(err.read, err_text);
  report.exit_code = exit.exit_code;
  report.signal = exit.signal;
  report.user_ms = exit.user_ms;
  report.system_ms = exit.system_ms;
  report.max_rss_bytes = exit.max_rss_bytes;
  report.wall_ms = std::chrono::duration<double, std::milli>(Steady::now() - began).count();
  report.out = out_text.take(report.out_truncated);
  report.err = err_text.take(report.err_truncated);
  return report;
}

std::string ChildReport::ending() const {
  if (cancelled)
    return "stopped on request";
  if (timed_out)
    return fmt::format("stopped after {:.0f} ms", wall_ms);
  if (signal != 0)
    return "killed by " + signal_name(signal);
  return fmt::format("exit code {}", exit_code);
}

std::string find_program(const std::string& name) {
  const auto runnable = [](const std::string& path) {
    struct stat info{};
    return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
           ::access(path.c_str(), X_OK) == 0;
  };
  if (name.find('/') != std::string::npos) {
    char* absolute = ::realpath(name.c_str(), nullptr);
    std::string path = absolute == nullptr ? "" : absolute;
    std::free(absolute);
    return runnable(path) ? path : std::string{};
  }
  const char* variable = std::getenv("PATH"); // NOLINT(concurrency-mt-unsafe): never set by us
  std::string_view rest = variable == nullptr ? "/usr/local/bin:/usr/bin:/bin" : variable;
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    std::string path = fmt::format("{}/{}", folder, name);
    // Relative PATH entries would make the answer depend on the working folder.
    if (folder.starts_with('/') && runnable(path))
      return path;
  }
  return {};
}

std::string signal_name(int signal) {
  const char* abbreviation = ::sigabbrev_np(signal);
  return abbreviation == nullptr ? fmt::format("signal {}", signal)
                                 : fmt::format("SIG{}", abbreviation);
}

} // namespace kw
