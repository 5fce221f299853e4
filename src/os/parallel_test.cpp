// SPDX-License-Identifier: Apache-2.0
#include "os/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

namespace kw {
namespace {

TEST(ParallelRanges, CoverEveryIndexOnceAndBeginAtMultiplesOfTheGrain) {
  for (const int workers : {0, 1, 2, 3, 7})
    for (const std::int64_t count : {0, 1, 7, 8, 63, 64, 1000}) {
      std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
      parallel_ranges(workers, count, 8, [&](std::int64_t begin, std::int64_t end) {
        EXPECT_EQ(begin % 8, 0);
        for (std::int64_t i = begin; i < end; ++i)
          ++seen[static_cast<std::size_t>(i)];
      });
      for (const std::atomic<int>& times : seen)
        EXPECT_EQ(times, 1) << workers << " workers, " << count;
    }
}

TEST(ParallelRanges, UseSeveralThreadsForLargeCountsOnly) {
  const auto threads = [](std::int64_t count) {
    std::mutex mutex;
    std::set<std::thread::id> ids;
    parallel_ranges(3, count, 100, [&](std::int64_t, std::int64_t) {
      const std::lock_guard lock(mutex);
      ids.insert(std::this_thread::get_id());
    });
    return ids;
  };
  EXPECT_EQ(threads(300).size(), 3U);
  EXPECT_EQ(threads(199), std::set{std::this_thread::get_id()});
}

} // namespace
} // namespace kw
