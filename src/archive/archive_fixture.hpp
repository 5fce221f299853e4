// SPDX-License-Identifier: Apache-2.0
// What the tests of this folder share.
#pragma once

#include "archive/archive.hpp"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

namespace kw {

/// A folder of its own that vanishes with the test.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "kw-archive-XXXXXX").string();
    KW_ASSERT(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// The value, or a failed test and an empty value.
template <class T> T must(Result<T> result) {
  if (!result) {
    ADD_FAILURE() << result.error().text();
    return T{};
  }
  return std::move(*result);
}

inline Probe sample_probe(std::string id) {
  Probe probe;
  probe.id = std::move(id);
  probe.run = "0001";
  probe.definition = "gemm";
  probe.definition_hash = "d0";
  probe.solution.name = "candidate";
  probe.solution_hash = "s0";
  probe.proposer = "tuner";
  probe.hypothesis = "tile=8 unroll=4";
  probe.decision = "reject";
  probe.reason = "wrong in trial 41";
  probe.started_at = "2026-01-02T03:04:05Z";
  probe.wall_ms = 12.5;
  probe.verdict.word = "REJECTED";
  probe.verdict.finding = Finding::wrong;
  TimingEvidence times;
  times.gate.emplace_back();
  times.speedup = 1.25;
  times.low = 1.2;
  times.high = 1.3;
  probe.verdict.times = times;
  return probe;
}

inline Record sample_record(std::string probe) {
  Record record;
  record.probe = std::move(probe);
  record.definition = "gemm";
  record.solution_name = "candidate";
  record.speedup = 1.25;
  record.low = 1.2;
  record.high = 1.3;
  record.baseline = "plain-c++";
  record.sealed_at = "2026-01-02T03:05:00Z";
  return record;
}

/// `n` probes p1..pn with a blob each; every second one is sealed.
inline void fill(Archive& archive, int n) {
  for (int i = 1; i <= n; ++i) {
    const std::string id = fmt::format("p{}", i);
    const std::string samples = must(archive.put_blob("samples of " + id));
    const std::vector<BlobRef> blobs = {{"samples", samples}};
    const Status put =
        archive.put_probe(sample_probe(id), fmt::format("{{\"probe\":{}}}", i), blobs);
    ASSERT_TRUE(put) << put.error().text();
    if (i % 2 == 0) {
      const Result<Record> sealed = archive.seal(sample_record(id));
      ASSERT_TRUE(sealed) << sealed.error().text();
    }
  }
}

} // namespace kw
