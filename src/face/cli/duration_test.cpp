// SPDX-License-Identifier: Apache-2.0
#include "face/cli/duration.hpp"

#include <gtest/gtest.h>

namespace kw::cli {
namespace {

TEST(Duration, ReadsUnits) {
  EXPECT_EQ(*parse_duration("90"), 90);
  EXPECT_EQ(*parse_duration("1.5m"), 90);
  EXPECT_EQ(*parse_duration("2h"), 7200);
}

TEST(Duration, RefusesNonsense) {
  for (const char* bad : {"", "s", "-5s", "0", "5 m", "1d", "nan"})
    EXPECT_FALSE(parse_duration(bad)) << bad;
}

} // namespace
} // namespace kw::cli
