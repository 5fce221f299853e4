// SPDX-License-Identifier: Apache-2.0
#include "compile/cache.hpp"

#include "base/hash.hpp"
#include "os/files.hpp"
#include "os/temp_dir.hpp"

#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace kw {
namespace {

class Cache : public ::testing::Test {
 protected:
  Cache() : dir_(std::move(*TempDir::create("kw-cache-test"))) {}
  BuildCache open(std::uint64_t bytes = 1 << 20) {
    return std::move(*BuildCache::open(dir_.path(), bytes));
  }
  TempDir dir_;
  const std::string key_ = sha256_hex("k");
};

TEST_F(Cache, FindsWhatWasPublished) {
  BuildCache cache = open();
  EXPECT_FALSE(cache.find(key_));
  ASSERT_TRUE(cache.publish(key_, "object", "a note\nof two lines"));
  const auto hit = cache.find(key_);
  ASSERT_TRUE(hit);
  EXPECT_EQ(hit->object_hash, sha256_hex("object"));
  EXPECT_EQ(hit->note, "a note\nof two lines");
  EXPECT_EQ(*read_file(hit->object_path), "object");
}

TEST_F(Cache, AnyFlippedByteIsAMissAndTheEntryGoes) {
  for (const char* file : {"object.so", "manifest"}) {
    BuildCache cache = open();
    const auto entry = cache.publish(key_, "object", "note");
    ASSERT_TRUE(entry);
    const std::string path = join_path(parent_path(entry->object_path), file);
    const std::string good = *read_file(path);
    for (std::size_t i = 0; i < good.size(); i += 3) {
      ASSERT_TRUE(cache.publish(key_, "object", "note"));
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ 4);
      ASSERT_TRUE(write_file_atomic(path, bad));
      EXPECT_FALSE(cache.find(key_)) << file << " byte " << i;
      EXPECT_FALSE(is_dir(parent_path(path)));
    }
  }
}

TEST_F(Cache, PublishReplacesADamagedEntry) {
  BuildCache cache = open();
  const auto entry = cache.publish(key_, "object", "");
  ASSERT_TRUE(write_file_atomic(entry->object_path, "evil"));
  ASSERT_TRUE(cache.publish(key_, "object", ""));
  ASSERT_TRUE(cache.find(key_));
}

TEST_F(Cache, LeastRecentlyUsedGoesFirstAndGraceHolds) {
  BuildCache cache = open(20'000);
  for (int i = 0; i < 4; ++i)
    ASSERT_TRUE(cache.publish(sha256_hex(std::to_string(i)), std::string(5000, 'x'), ""));
  ASSERT_TRUE(cache.evict(600));
  for (int i = 0; i < 4; ++i)
    EXPECT_TRUE(cache.find(sha256_hex(std::to_string(i)))); // all are in use
  ASSERT_TRUE(cache.evict(-1));
  int left = 0;
  for (int i = 0; i < 4; ++i)
    left += cache.find(sha256_hex(std::to_string(i))) ? 1 : 0;
  EXPECT_GE(left, 1);
  EXPECT_LT(left, 4);
}

TEST_F(Cache, WritersOfOneKeyDoNotDisturbEachOther) {
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([this] {
      BuildCache cache = open();
      for (int i = 0; i < 50; ++i) {
        ASSERT_TRUE(cache.publish(key_, "object", "note"));
        ASSERT_TRUE(cache.find(key_));
      }
    });
}

TEST_F(Cache, UnusableFolderIsNamed) {
  const auto cache = BuildCache::open("/proc/kernwright-cache", 1);
  ASSERT_FALSE(cache);
  EXPECT_NE(cache.error().message.find("/proc/kernwright-cache"), std::string::npos);
}

} // namespace
} // namespace kw
