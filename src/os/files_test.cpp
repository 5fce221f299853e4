// SPDX-License-Identifier: Apache-2.0
#include "os/files.hpp"

#include "os/file_lock.hpp"
#include "os/temp_dir.hpp"

#include <csignal>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace kw {
namespace {

TempDir scratch() {
  Result<TempDir> dir = TempDir::create("kw-files-test");
  EXPECT_TRUE(dir) << dir.error().text();
  return std::move(*dir);
}

/// Lets no file of this process grow beyond `bytes`, as a full disk would.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST(Files, RoundTripAndReplace) {
  const TempDir dir = scratch();
  const std::string path = dir.file("a");
  ASSERT_TRUE(write_file_atomic(path, "one"));
  ASSERT_TRUE(write_file_atomic(path, std::string("t\0o", 3)));
  EXPECT_EQ(*read_file(path), std::string("t\0o", 3));
  EXPECT_EQ(list_tree(dir.path())->size(), 1U); // no temporary left
}

TEST(Files, ReadRefusesLargeMissingAndIrregularFiles) {
  const TempDir dir = scratch();
  ASSERT_TRUE(write_file_atomic(dir.file("a"), "12345"));
  EXPECT_EQ(*read_file(dir.file("a"), 5), "12345");
  EXPECT_EQ(read_file(dir.file("a"), 4).error().kind, ErrorKind::invalid_input);
  EXPECT_EQ(read_file(dir.file("none")).error().kind, ErrorKind::not_found);
  EXPECT_EQ(read_file("/dev/zero").error().kind, ErrorKind::invalid_input);
  EXPECT_EQ(read_file(dir.path()).error().kind, ErrorKind::invalid_input);
  ASSERT_EQ(::mkfifo(dir.file("fifo").c_str(), 0600), 0);
  EXPECT_EQ(read_file(dir.file("fifo")).error().kind, ErrorKind::invalid_input);
  EXPECT_FALSE(read_file("/proc/self/status")->empty()); // says 0 bytes, holds more
}

TEST(Files, FailedAtomicWriteLeavesOldContentAndNoTemporary) {
  const TempDir dir = scratch();
  const std::string path = dir.file("a");
  ASSERT_TRUE(write_file_atomic(path, "old"));
  Status status;
  {
    const FileSizeLimit full(16);
    status = write_file_atomic(path, std::string(1000, 'x'));
  }
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find(path), std::string::npos);
  EXPECT_FALSE(status.error().remedy.empty());
  EXPECT_EQ(*read_file(path), "old");
  EXPECT_EQ(list_tree(dir.path())->size(), 1U);
}

TEST(Files, FullDeviceSaysSoWithARemedy) {
  const int fd = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  const Status status = write_all(fd, "x", "/dev/full");
  ::close(fd);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("No space left"), std::string::npos);
  EXPECT_NE(status.error().remedy.find("free some disk space"), std::string::npos);
}

TEST(Files, ReadOnlyFolderSaysSoWithARemedy) {
  // /proc refuses new files for every user, root included.
  const Status status = write_file_atomic("/proc/kernwright-test", "x");
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("/proc/kernwright-test"), std::string::npos);
}

TEST(Files, AppendClosesATornLine) {
  const TempDir dir = scratch();
  const std::string path = dir.file("log");
  ASSERT_TRUE(append_line_durable(path, "one"));
  ASSERT_TRUE(write_file_atomic(path, "one\ntw")); // a crash in the middle of a write
  ASSERT_TRUE(append_line_durable(path, "three"));
  EXPECT_EQ(*read_file(path), "one\ntw\nthree\n");
}

TEST(Files, FailedAppendIsCutOff) {
  const TempDir dir = scratch();
  const std::string path = dir.file("log");
  ASSERT_TRUE(append_line_durable(path, "one"));
  {
    const FileSizeLimit full(10);
    EXPECT_FALSE(append_line_durable(path, std::string(100, 'x')));
  }
  EXPECT_EQ(*read_file(path), "one\n");
}

TEST(Files, ConcurrentAppendsKeepWholeLines) {
  const TempDir dir = scratch();
  const std::string path = dir.file("log");
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 25; ++i)
        ASSERT_TRUE(append_line_durable(path, std::string(50, static_cast<char>('a' + t))));
    });
  threads.clear();
  const std::string text = *read_file(path);
  EXPECT_EQ(text.size(), 4U * 25 * 51);
  for (std::size_t i = 0; i < text.size(); i += 51)
    EXPECT_EQ(text.substr(i, 51), std::string(50, text[i]) + "\n");
}

TEST(Files, ListTreeIsSortedAndSkipsLinks) {
  const TempDir dir = scratch();
  ASSERT_TRUE(make_dirs(dir.file("b/c")));
  ASSERT_TRUE(write_file_atomic(dir.file("b/c/x"), "12"));
  ASSERT_TRUE(write_file_atomic(dir.file("a"), ""));
  ASSERT_EQ(::symlink("/etc", dir.file("link").c_str()), 0);
  const std::vector<TreeEntry> tree = *list_tree(dir.path());
  ASSERT_EQ(tree.size(), 2U);
  EXPECT_EQ(tree[0].path, "a");
  EXPECT_EQ(tree[1].path, "b/c/x");
  EXPECT_EQ(tree[1].bytes, 2U);
  EXPECT_FALSE(list_tree(dir.path(), 1));
  EXPECT_EQ(list_tree(dir.file("none")).error().kind, ErrorKind::not_found);
}

TEST(Files, Paths) {
  EXPECT_EQ(join_path("a", "b"), "a/b");
  EXPECT_EQ(join_path("a/", "b"), "a/b");
  EXPECT_EQ(join_path("", "b"), "b");
  EXPECT_EQ(join_path("a", "/b"), "/b");
  EXPECT_EQ(parent_path("a"), ".");
  EXPECT_EQ(parent_path("/a/b"), "/a");
  EXPECT_EQ(base_name("/a/b"), "b");
}

TEST(TempDir, RemovesItselfUnlessKept) {
  std::string path;
  {
    TempDir dir = scratch();
    path = dir.path();
    ASSERT_TRUE(write_file_atomic(dir.file("a"), "x"));
    TempDir moved = std::move(dir);
    EXPECT_TRUE(is_dir(path));
  }
  EXPECT_FALSE(is_dir(path));
  EXPECT_FALSE(TempDir::create("x", "/nonexistent"));
}

TEST(FileLock, SecondHolderIsToldWhoHasIt) {
  const TempDir dir = scratch();
  const std::string path = dir.file("lock");
  {
    Result<FileLock> first = FileLock::acquire(path, "archive migration");
    ASSERT_TRUE(first);
    Result<FileLock> second = FileLock::acquire(path, "x", std::chrono::milliseconds{20});
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().kind, ErrorKind::timeout);
    EXPECT_NE(second.error().message.find("archive migration"), std::string::npos);
    EXPECT_FALSE(FileLock::acquire(path, "x", {}, FileLock::Mode::shared));
  }
  Result<FileLock> reader = FileLock::acquire(path, "x", {}, FileLock::Mode::shared);
  EXPECT_TRUE(reader);
  EXPECT_TRUE(FileLock::acquire(path, "x", {}, FileLock::Mode::shared));
}

} // namespace
} // namespace kw
