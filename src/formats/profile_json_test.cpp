// SPDX-License-Identifier: Apache-2.0
#include "formats/formats_testing.hpp"
#include "formats/verdict_json.hpp"
#include "os/files.hpp"

#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kw {
namespace {

/// Every field away from its default, so that a field left out of the encoding is seen.
Profile full_profile() {
  Profile p;
  p.definition = "softmax_f32";
  p.solution = "mine";
  p.axes = "rows=128 cols=512";
  p.figures = {{"call", 270450.5, "ns", "judge", 0.9},
               {"flop_share", 0.0625, "", "judge, ceilings", 0.8}};
  p.remarks = {{"k.cpp", 12, false, "reduction_order", "cannot reorder \"+\"", "clang 19.1.7"},
               {"k.cpp", 20, true, "vectorized", "vectorized loop", "clang 19.1.7"}};
  p.loops = {{.function = "softmax",
              .file = "k.cpp",
              .line = 12,
              .depth = 2,
              .instructions = 31,
              .vector_bits = 512,
              .packed = 3,
              .scalar = 4,
              .fma = 5,
              .accumulators = 6,
              .loads = 7,
              .stores = 8,
              .spills = 9,
              .gathers = 10,
              .divides = 11,
              .calls = 1,
              .share = 0.75,
              .hot = true,
              .confidence = 0.5}};
  p.missing = {"where the time goes: not allowed"};
  p.state = {.word = "vectorisation",
             .confidence = 0.675,
             .headroom = 16,
             .evidence = {"k.cpp:12 calls a function in every turn"},
             .next = {"write the function as a polynomial in vectors"}};
  return p;
}

TEST(ProfileJson, MatchesItsGoldenFile) {
  const std::string now = profile_to_json(full_profile()).dump(1) + "\n";
  const std::string path = golden("records/profile.json");
  if (std::getenv("KW_UPDATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(write_file_atomic(path, now));
  }
  EXPECT_EQ(now, read_file(path).value_or("no golden file"));
}

TEST(ProfileJson, AnEmptyProfileHasEveryKeyAndSaysUnknown) {
  const auto full = profile_to_json(full_profile()), empty = profile_to_json({});
  for (const auto& [key, value] : full.items())
    EXPECT_TRUE(empty.contains(key)) << key;
  EXPECT_EQ(empty["schema"], "kernwright.profile/1");
  EXPECT_EQ(empty["state"]["word"], "unknown");
  EXPECT_TRUE(empty["figures"].is_array() && empty["figures"].empty());
}

TEST(ProfileJson, NonFiniteFiguresAreStrings) {
  Profile p;
  p.figures = {{"call", NAN, "ns", "judge", 1}};
  p.state.headroom = INFINITY;
  const auto json = profile_to_json(p);
  EXPECT_EQ(json["figures"][0]["value"], "NaN");
  EXPECT_EQ(json["state"]["headroom"], "Infinity");
}

} // namespace
} // namespace kw
