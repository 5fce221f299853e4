// SPDX-License-Identifier: Apache-2.0
#include "formats/profile_import.hpp"

#include "formats/formats_testing.hpp"
#include "formats/gpu_reading.hpp"
#include "os/files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

double figure(const Profile& p, const std::string& name) {
  const ProfileFigure* f = p.figure(name);
  return f == nullptr ? -1 : f->value;
}
std::string sample(const char* name) {
  return read_file(golden(std::string("profiles/") + name)).value_or("");
}

TEST(ProfileImport, NumbersAndUnitsAsToolsPrintThem) {
  EXPECT_EQ(printed_number("1,234,567.5"), 1234567.5);
  EXPECT_EQ(printed_number("1.234,5"), 1234.5);
  EXPECT_EQ(printed_number("1,234"), 1234);
  EXPECT_EQ(printed_number("12,5"), 12.5);
  EXPECT_EQ(printed_number("1 234"), 1234);
  for (const char* none : {"", "n/a", "(!) nan", "inf", "1e999", "1,23,4.5", "0x10", "-"})
    EXPECT_FALSE(printed_number(none)) << none;
  EXPECT_EQ(nanoseconds_in("usecond"), 1e3);
  EXPECT_EQ(bytes_in("Kbyte/block"), 1e3);
  EXPECT_EQ(bytes_in("KiB"), 1024);
  EXPECT_EQ(bytes_in("%"), 0);
}

TEST(ProfileImport, SamplesOfEveryFormat) {
  const auto raw = read_profile_export(sample("ncu_raw.csv"), "raw");
  ASSERT_TRUE(raw) << raw.error().text();
  EXPECT_EQ(raw->solution, "rows(float *, int)");
  EXPECT_NEAR(figure(*raw, "kernel_time"), 1200500, 1e-6);
  EXPECT_NEAR(figure(*raw, "shared_memory"), 1024 + 32770, 1e-6);
  EXPECT_NEAR(figure(*raw, "stall_long_scoreboard"), 0.75, 1e-9) << "without `selected`";
  const auto details = read_profile_export(sample("ncu_details.csv"), "details");
  ASSERT_TRUE(details) << details.error().text();
  EXPECT_NEAR(figure(*details, "memory_share"), 0.885, 1e-9);
  const auto text = read_profile_export(sample("ncu_details.txt"), "text");
  ASSERT_TRUE(text) << text.error().text();
  EXPECT_EQ(text->solution, "rows(float *, int)");
  EXPECT_NEAR(figure(*text, "waves_per_sm"), 0.48, 1e-9);
  EXPECT_NEAR(figure(*text, "kernel_time"), 1012500, 1e-6);
  const auto trace = read_profile_export(sample("nsys.csv"), "nsys");
  ASSERT_TRUE(trace) << trace.error().text();
  EXPECT_NEAR(figure(*trace, "idle_share"), 16.0 / 20, 1e-9);
  EXPECT_EQ(figure(*trace, "launches"), 2);
  const auto sum = read_profile_export(sample("nsys_sum.csv"), "sum");
  ASSERT_TRUE(sum) << sum.error().text();
  EXPECT_NEAR(figure(*sum, "kernel_share"), 0.75, 1e-9);
  EXPECT_NEAR(figure(*sum, "kernel_time"), 500000, 1e-6);
  const auto torch = read_profile_export(sample("torch.json"), "torch");
  ASSERT_TRUE(torch) << torch.error().text();
  EXPECT_EQ(figure(*torch, "blocks_per_sm"), 0.5);
  EXPECT_NEAR(figure(*torch, "achieved_occupancy"), 0.12, 1e-9);
}

/// Every prefix of every sample: a profile or an error that says where and what to do.
TEST(ProfileImport, CutFilesAreErrorsOrProfiles) {
  for (const char* name : {"ncu_raw.csv", "ncu_details.csv", "ncu_details.txt", "nsys.csv",
                           "nsys_sum.csv", "torch.json"}) {
    const std::string whole = sample(name);
    for (std::size_t n = 0; n < whole.size(); ++n)
      if (const auto p = read_profile_export(whole.substr(0, n), name); !p) {
        EXPECT_THAT(p.error().where, testing::StartsWith(name)) << n;
        EXPECT_FALSE(p.error().message.empty());
      }
  }
  const auto cut = read_profile_export(sample("nsys.csv").substr(0, 400), "nsys.csv");
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().where, "nsys.csv:5");
  EXPECT_FALSE(cut.error().remedy.empty());
}

} // namespace
} // namespace kw
