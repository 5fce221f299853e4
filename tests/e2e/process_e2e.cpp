// SPDX-License-Identifier: Apache-2.0
// Children: endings, capture, deadlines, groups, limits, hooks.
#include "os/process.hpp"

#include "os/files.hpp"
#include "os/temp_dir.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

namespace kw {
namespace {

ChildSpec shell(const std::string& script) {
  ChildSpec spec;
  spec.program = "/bin/sh";
  spec.args = {"-c", script};
  spec.environment = {"PATH=/usr/bin:/bin"};
  return spec;
}

ChildReport run(const ChildSpec& spec) {
  Result<ChildReport> report = run_child(spec);
  EXPECT_TRUE(report) << report.error().text();
  return report ? *report : ChildReport{};
}

TEST(Process, ReportsExitCodesSignalsAndOutput) {
  ChildReport r = run(shell("echo out; echo err >&2; exit 3"));
  EXPECT_EQ(r.exit_code, 3);
  EXPECT_EQ(r.out, "out\n");
  EXPECT_EQ(r.err, "err\n");
  EXPECT_FALSE(r.ok());
  r = run(shell("kill -SEGV $$"));
  EXPECT_EQ(r.signal, SIGSEGV);
  EXPECT_EQ(r.ending(), "killed by SIGSEGV");
  EXPECT_TRUE(run(shell("exit 0")).ok());
}

TEST(Process, PassesStandardInputEvenIfNobodyReadsIt) {
  ChildSpec spec = shell("wc -c");
  spec.stdin_data = std::string(1 << 20, 'x'); // more than a pipe holds
  EXPECT_EQ(std::stoi(run(spec).out), 1 << 20);
  spec = shell("exec <&-; exit 0");
  spec.stdin_data = std::string(1 << 20, 'x');
  EXPECT_TRUE(run(spec).ok());
}

TEST(Process, EnvironmentAndFolderAreExactlyWhatWasGiven) {
  ::setenv("KW_SECRET", "1", 1);
  ChildSpec spec = shell("/usr/bin/env; pwd");
  spec.environment = {"A=b"};
  spec.cwd = "/";
  const std::string out = run(spec).out;
  EXPECT_EQ(out.find("KW_SECRET"), std::string::npos);
  EXPECT_NE(out.find("A=b"), std::string::npos);
  EXPECT_TRUE(out.ends_with("/\n"));
}

TEST(Process, KeepsHeadAndTailOfLongOutput) {
  ChildSpec spec = shell("echo first; seq 1 100000; echo last");
  spec.max_output = 1000;
  const ChildReport r = run(spec);
  EXPECT_TRUE(r.out_truncated);
  EXPECT_TRUE(r.out.starts_with("first\n"));
  EXPECT_TRUE(r.out.ends_with("last\n"));
  EXPECT_LT(r.out.size(), 1200U);
}

TEST(Process, TimeoutKillsTheWholeGroup) {
  const Result<TempDir> dir = TempDir::create();
  ASSERT_TRUE(dir);
  ChildSpec spec = shell("(sleep 0.6; touch " + dir->file("survived") + ") & yes");
  spec.timeout = std::chrono::milliseconds{100};
  const ChildReport r = run(spec);
  EXPECT_TRUE(r.timed_out);
  EXPECT_LT(r.wall_ms, 500);
  std::this_thread::sleep_for(std::chrono::milliseconds{900});
  EXPECT_FALSE(is_file(dir->file("survived")));
}

TEST(Process, LeftoversOfAFinishedChildAreKilledToo) {
  const ChildReport r = run(shell("sleep 100 & exit 0"));
  EXPECT_TRUE(r.ok());
  EXPECT_LT(r.wall_ms, 5000); // did not wait for the sleeper's end of the pipe
}

TEST(Process, CancelStopsTheChild) {
  std::atomic<bool> cancel{false};
  ChildSpec spec = shell("sleep 100");
  spec.cancel = &cancel;
  std::jthread stop([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
    cancel = true;
  });
  const ChildReport r = run(spec);
  EXPECT_TRUE(r.cancelled);
  EXPECT_LT(r.wall_ms, 5000);
}

TEST(Process, LimitsHold) {
  const Result<TempDir> dir = TempDir::create();
  ASSERT_TRUE(dir);
  ChildSpec spec = shell("head -c 100000 /dev/zero > " + dir->file("big"));
  spec.limits.file_bytes = 4096;
  EXPECT_FALSE(run(spec).ok());
  spec = shell("while :; do :; done");
  spec.limits.cpu_seconds = 1;
  const ChildReport r = run(spec);
  EXPECT_TRUE(r.signal == SIGKILL || r.signal == SIGXCPU) << r.ending();
  EXPECT_GT(r.user_ms + r.system_ms, 500);
}

TEST(Process, NoDescriptorLeaksUnlessNamed) {
  int fds[2];
  ASSERT_EQ(::pipe(fds), 0); // on purpose without O_CLOEXEC
  ChildSpec spec = shell("ls /proc/self/fd | wc -l");
  EXPECT_EQ(std::stoi(run(spec).out), 4); // 0 1 2 and ls's own
  spec = shell("echo hello >&" + std::to_string(fds[1]));
  spec.inherit = {fds[1]};
  EXPECT_TRUE(run(spec).ok());
  char buffer[6] = {};
  EXPECT_EQ(::read(fds[0], buffer, 5), 5);
  EXPECT_STREQ(buffer, "hello");
  ::close(fds[0]);
  ::close(fds[1]);
}

TEST(Process, PrepareHookRunsInTheChildAndItsFailureIsReported) {
  ChildSpec spec = shell("/bin/pwd");
  spec.prepare = {[](void* folder) { return ::chdir(static_cast<const char*>(folder)); },
                  const_cast<char*>("/usr")};
  EXPECT_EQ(run(spec).out, "/usr\n");
  spec.prepare = {[](void*) { return EPERM; }, nullptr};
  const Result<ChildReport> refused = run_child(spec);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("close the sandbox"), std::string::npos);
}

TEST(Process, MissingProgramAndFolderAreNamed) {
  ChildSpec spec = shell("exit 0");
  spec.cwd = "/no/such/folder";
  EXPECT_NE(run_child(spec).error().message.find("/no/such/folder"), std::string::npos);
  spec.cwd.clear();
  spec.program = "/no/such/program";
  EXPECT_EQ(run_child(spec).error().kind, ErrorKind::not_found);
  spec.program = "sh";
  EXPECT_EQ(run_child(spec).error().kind, ErrorKind::invalid_input);
}

TEST(Process, ManyAtOnceFromManyThreads) {
  std::atomic<int> good{0};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10; ++i) {
        const std::string word = std::to_string(t * 100 + i);
        good += run(shell("echo " + word)).out == word + "\n" ? 1 : 0;
      }
    });
  threads.clear();
  EXPECT_EQ(good.load(), 40);
}

} // namespace
} // namespace kw
