// SPDX-License-Identifier: Apache-2.0
// The archive under kill -9, two writers at once, a full disk and a read-only folder. A writer
// process (this program again) prints each id only after the archive has acknowledged it; whatever
// was printed must be found afterwards.
//
//   archive_kill_e2e [--kills=N] [--seed=S]     20 kills without an argument
#include "archive/archive.hpp"
#include "archive/sqlite_archive.hpp"
#include "base/hash.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <sched.h>
#include <string>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace kw {
namespace {

int kills = 20;
std::uint64_t seed = 0;

constexpr unsigned nobody = 65534; // the usual unprivileged user

std::string blob_of(const std::string& writer, int i) {
  // Every seventh blob is large, so that kills land inside a write.
  std::string bytes = fmt::format("samples {} {}\n", writer, i);
  std::minstd_rand noise(static_cast<unsigned>(i) + 1);
  while (i % 7 == 0 && bytes.size() < 300'000)
    bytes += static_cast<char>(noise());
  return bytes;
}

Probe probe_of(const std::string& writer, int i) {
  Probe probe;
  probe.id = sha256_hex(fmt::format("{} {}", writer, i));
  probe.definition = "gemm";
  probe.definition_hash = "d";
  probe.solution.name = writer;
  probe.solution_hash = fmt::format("s{}", i);
  probe.decision = i % 3 == 0 ? "promote" : "reject";
  probe.verdict.word = "CORRECT";
  return probe;
}

std::string json_of(const std::string& writer, int i) {
  return fmt::format(R"({{"writer":"{}","number":{},"text":"{}"}})", writer, i,
                     std::string(static_cast<std::size_t>(i % 50) * 100, 'j'));
}

/// One line, written at once: a reader sees whole lines, or a torn last one after a kill.
void acknowledge(int out, const std::string& line) {
  const std::string text = line + "\n";
  if (write(out, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    _exit(3);
}

/// Blob, probe and every third time a record, until `count` are done or somebody kills us.
/// Exit codes: 0 done, 4 an error (its text goes to `out`).
[[noreturn]] void write_forever(const std::string& folder, const std::string& writer, int out,
                                int count) {
  const auto stop = [&](const Error& error) {
    acknowledge(out, "error " + error.message + " | " + error.remedy);
    _exit(4);
  };
  Result<std::unique_ptr<Archive>> archive = open_sqlite_archive(folder);
  if (!archive)
    stop(archive.error());
  for (int i = 1; i <= count; ++i) {
    const Result<std::string> blob = (*archive)->put_blob(blob_of(writer, i));
    if (!blob)
      stop(blob.error());
    const std::vector<BlobRef> blobs = {{"samples", *blob}};
    const Probe probe = probe_of(writer, i);
    if (const Status put = (*archive)->put_probe(probe, json_of(writer, i), blobs); !put)
      stop(put.error());
    acknowledge(out, fmt::format("probe {}", i));
    if (i % 3 != 0)
      continue;
    Record record;
    record.probe = probe.id;
    record.definition = "gemm";
    record.solution_name = writer;
    const Result<Record> sealed = (*archive)->seal(record);
    if (!sealed)
      stop(sealed.error());
    acknowledge(out, "record " + sealed->id);
  }
  archive->reset();
  _exit(0);
}

struct Writer {
  pid_t pid = -1;
  int out = -1; ///< read end
};

Writer spawn(const std::function<void(int out)>& body) {
  int ends[2];
  KW_ASSERT(pipe2(ends, O_CLOEXEC) == 0);
  const pid_t pid = fork();
  KW_ASSERT(pid >= 0);
  if (pid == 0) {
    close(ends[0]);
    body(ends[1]);
    _exit(0);
  }
  close(ends[1]);
  return {pid, ends[0]};
}

Writer spawn_writer(const std::string& folder, const std::string& name, int count) {
  return spawn([&](int out) { write_forever(folder, name, out, count); });
}

struct Outcome {
  std::vector<int> probes;
  std::vector<std::string> records;
  std::string error;
  int status = 0;
};

/// Reads acknowledgements to the end; kills the writer `delay` after its first one.
Outcome collect(const Writer& writer, std::chrono::microseconds delay) {
  std::string text;
  char buffer[4096];
  bool killed = delay.count() < 0;
  for (ssize_t n = 0; (n = read(writer.out, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(n));
    if (!killed) {
      usleep(static_cast<useconds_t>(delay.count()));
      kill(writer.pid, SIGKILL);
      killed = true;
    }
  }
  close(writer.out);
  Outcome outcome;
  waitpid(writer.pid, &outcome.status, 0);
  for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos;
       at = end + 1) {
    const std::string line = text.substr(at, end - at);
    if (line.starts_with("probe "))
      outcome.probes.push_back(std::stoi(line.substr(6)));
    else if (line.starts_with("record "))
      outcome.records.push_back(line.substr(7));
    else if (line.starts_with("error "))
      outcome.error = line.substr(6);
  }
  return outcome;
}

/// Everything acknowledged is there, byte for byte, and the chain holds.
void expect_kept(Archive& archive, const std::string& writer, const Outcome& outcome) {
  for (const int i : outcome.probes) {
    const Result<ArchivedProbe> probe = archive.get_probe(probe_of(writer, i).id);
    ASSERT_TRUE(probe) << writer << " " << i << ": " << probe.error().text();
    EXPECT_EQ(probe->json, json_of(writer, i));
    ASSERT_EQ(probe->blobs.size(), 1u);
    const Result<std::string> blob = archive.get_blob(probe->blobs[0].sha256);
    ASSERT_TRUE(blob) << blob.error().text();
    EXPECT_EQ(*blob, blob_of(writer, i));
  }
  for (const std::string& id : outcome.records)
    EXPECT_TRUE(archive.find_record(id)) << id;
  const Result<ChainReport> report = archive.verify_chain();
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_TRUE(report->intact()) << report->broken->message;
}

class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "kw-kill-XXXXXX").string();
    KW_ASSERT(mkdtemp(pattern.data()) != nullptr);
    path = pattern;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string path;
};

TEST(ArchiveKill, NoAcknowledgedProbeIsLost) {
  std::mt19937_64 random(seed);
  constexpr int kills_per_archive = 20;
  std::size_t acknowledged = 0;
  for (int done = 0; done < kills;) {
    const ScratchFolder folder;
    for (int k = 0; k < kills_per_archive && done < kills; ++k, ++done) {
      const std::string name = fmt::format("w{}", done);
      const std::chrono::microseconds delay(random() % 25'000);
      const Outcome outcome = collect(spawn_writer(folder.path, name, 1'000'000), delay);
      ASSERT_TRUE(WIFSIGNALED(outcome.status)) << outcome.error;
      ASSERT_FALSE(outcome.probes.empty());
      acknowledged += outcome.probes.size();
      Result<std::unique_ptr<Archive>> archive = open_sqlite_archive(folder.path);
      ASSERT_TRUE(archive) << archive.error().text();
      expect_kept(**archive, name, outcome);
      if (HasFatalFailure())
        return;
    }
    // A writer can go on where the killed ones stopped.
    const Outcome last =
        collect(spawn_writer(folder.path, "last", 4), std::chrono::microseconds(-1));
    EXPECT_EQ(last.status, 0) << last.error;
    EXPECT_EQ(last.probes.size(), 4u);
    Result<std::unique_ptr<Archive>> archive = open_sqlite_archive(folder.path);
    ASSERT_TRUE(archive);
    expect_kept(**archive, "last", last);
  }
  fmt::print("{} kills, {} acknowledged probes, none lost\n", kills, acknowledged);
}

TEST(ArchiveKill, KilledWhileTheFileIsBeingMade) {
  std::mt19937_64 random(seed + 1);
  for (int i = 0; i < kills; ++i) {
    const ScratchFolder folder;
    const Writer writer = spawn_writer(folder.path, "w", 1'000'000);
    usleep(static_cast<useconds_t>(random() % 8'000));
    kill(writer.pid, SIGKILL);
    const Outcome outcome = collect(writer, std::chrono::microseconds(-1));
    Result<std::unique_ptr<Archive>> archive = open_sqlite_archive(folder.path);
    ASSERT_TRUE(archive) << archive.error().text();
    expect_kept(**archive, "w", outcome);
  }
}

TEST(ArchiveConcurrency, SimultaneousWritersTakeTurnsAndLoseNothing) {
  const ScratchFolder folder;
  std::vector<Writer> writers;
  for (int w = 0; w < 4; ++w) // all four race to create the file as well
    writers.push_back(spawn_writer(folder.path, fmt::format("w{}", w), 40));
  std::vector<Outcome> outcomes;
  for (const Writer& writer : writers)
    outcomes.push_back(collect(writer, std::chrono::microseconds(-1)));
  Result<std::unique_ptr<Archive>> archive = open_sqlite_archive(folder.path);
  ASSERT_TRUE(archive) << archive.error().text();
  for (std::size_t w = 0; w < outcomes.size(); ++w) {
    if (outcomes[w].status == 0)
      EXPECT_EQ(outcomes[w].probes.size(), 40u);
    else
      EXPECT_THAT(outcomes[w].error, testing::HasSubstr("another process is writing"));
    expect_kept(**archive, fmt::format("w{}", w), outcomes[w]);
  }
}

TEST(ArchiveConcurrency, AKilledWriterDoesNotBlockTheOther) {
  const ScratchFolder folder;
  const Writer steady = spawn_writer(folder.path, "steady", 60);
  const Outcome victim =
      collect(spawn_writer(folder.path, "victim", 1'000'000), std::chrono::milliseconds(15));
  const Outcome rest = collect(steady, std::chrono::microseconds(-1));
  EXPECT_EQ(rest.status, 0) << rest.error;
  EXPECT_EQ(rest.probes.size(), 60u);
  Result<std::unique_ptr<Archive>> archive = open_sqlite_archive(folder.path);
  ASSERT_TRUE(archive);
  expect_kept(**archive, "victim", victim);
  expect_kept(**archive, "steady", rest);
}

TEST(ArchiveDisk, FullDiskIsNamedAndFinishedProbesAreKept) {
  const ScratchFolder folder;
  // A 1 MiB file system of its own, seen by the child only; it also checks, since nobody else can.
  const Writer child = spawn([&](int out) {
    const bool root = geteuid() == 0;
    if (unshare(CLONE_NEWNS | (root ? 0 : CLONE_NEWUSER)) != 0 ||
        mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", folder.path.c_str(), "tmpfs", 0, "size=1m") != 0) {
      acknowledge(out, "error skip: no private mount here: " + std::string(strerror(errno)));
      _exit(0);
    }
    const Writer writer = spawn_writer(folder.path, "w", 1'000'000);
    const Outcome outcome = collect(writer, std::chrono::microseconds(-1));
    Result<std::unique_ptr<Archive>> archive =
        open_sqlite_archive(folder.path, {.read_only = true});
    if (!archive) {
      acknowledge(out, "error reopening: " + archive.error().message);
      _exit(1);
    }
    expect_kept(**archive, "w", outcome);
    for (const int i : outcome.probes)
      acknowledge(out, fmt::format("probe {}", i));
    acknowledge(out, "error " + outcome.error);
    _exit(testing::Test::HasFailure() ? 1 : 0);
  });
  const Outcome outcome = collect(child, std::chrono::microseconds(-1));
  if (outcome.error.starts_with("skip"))
    GTEST_SKIP() << outcome.error;
  EXPECT_EQ(outcome.status, 0);
  EXPECT_FALSE(outcome.probes.empty());
  EXPECT_THAT(outcome.error, testing::AnyOf(testing::HasSubstr("disk is full"),
                                            testing::HasSubstr("No space left")));
  EXPECT_THAT(outcome.error, testing::HasSubstr("free some"));
}

TEST(ArchiveDisk, ReadOnlyFolderIsNamedButCanBeRead) {
  const ScratchFolder folder;
  ASSERT_EQ(collect(spawn_writer(folder.path, "w", 4), std::chrono::microseconds(-1)).status, 0);
  ASSERT_EQ(chmod(folder.path.c_str(), 0555), 0);
  const Writer child = spawn([&](int out) {
    if (geteuid() == 0 && setuid(nobody) != 0)
      _exit(2);
    Result<std::unique_ptr<Archive>> reader = open_sqlite_archive(folder.path, {.read_only = true});
    if (!reader)
      acknowledge(out, "error reading: " + reader.error().text());
    else if (const auto rows = (*reader)->list_probes({}); rows)
      acknowledge(out, fmt::format("probe {}", rows->size()));
    write_forever(folder.path, "w2", out, 1);
  });
  const Outcome outcome = collect(child, std::chrono::microseconds(-1));
  chmod(folder.path.c_str(), 0755);
  EXPECT_THAT(outcome.probes, testing::ElementsAre(4)) << outcome.error;
  EXPECT_THAT(outcome.error, testing::AnyOf(testing::HasSubstr("read-only"),
                                            testing::HasSubstr("cannot open the archive")));
  EXPECT_THAT(outcome.error, testing::HasSubstr("--state DIR"));
}

} // namespace
} // namespace kw

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  kw::seed = std::random_device{}();
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("--kills="))
      kw::kills = std::atoi(argv[i] + 8);
    else if (argument.starts_with("--seed="))
      kw::seed = std::strtoull(argv[i] + 7, nullptr, 10);
  }
  fmt::print("kills={} seed={}\n", kw::kills, kw::seed);
  return RUN_ALL_TESTS();
}
