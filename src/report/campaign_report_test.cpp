// SPDX-License-Identifier: Apache-2.0
#include "report/campaign_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

using testing::HasSubstr;
using testing::Not;

CampaignReport sample() {
  CampaignReport r;
  r.name = "contest", r.command = "kernwright optimize --all-contest";
  CampaignRow promoted;
  promoted.track = "gdn", promoted.definition = "gdn_decode", promoted.state = "promoted";
  promoted.speedup = 1.5, promoted.low = 1.4, promoted.high = 1.6, promoted.score = 1.55;
  promoted.replayed = 27'000, promoted.over_peers = 7, promoted.bound_fraction = 0.8;
  promoted.per_workload = {{.axes = "batch_size=4",
                            .count = 8,
                            .rounds = 21,
                            .median = 41e3,
                            .p95 = 44e3,
                            .min = 40e3,
                            .max = 50e3,
                            .speedup = 1.5,
                            .low = 1.4,
                            .high = 1.6,
                            .bound_fraction = 0.8,
                            .peer = "pytorch",
                            .over_peer = 7}};
  CampaignRow missing;
  missing.track = "gdn", missing.definition = "gdn_prefill", missing.state = "missing";
  CampaignRow other;
  other.track = "dsa", other.definition = "<b>|", other.state = "baseline stands";
  other.score = 1;
  r.rows = {promoted, missing, other};
  return r;
}

TEST(Campaign, AMissingDefinitionCountsZero) {
  EXPECT_DOUBLE_EQ(campaign_score(sample()), (1.55 / 2 + 1) / 2);
  EXPECT_EQ(campaign_score({}), 0);
}

TEST(Campaign, TheTableNeverCallsItOfficial) {
  const std::string text = campaign_table(sample(), false);
  EXPECT_THAT(text, HasSubstr("no official score: 0.887"));
  EXPECT_THAT(text, HasSubstr("0 of 27000 wrong"));
}

TEST(Campaign, ThePageHasEveryWorkload) {
  const std::string text = campaign_markdown(sample());
  EXPECT_THAT(text, HasSubstr("batch\\_size=4 (x8) | 21 | 41.0 us | 44.0 us | 40.0 us | 50.0 us"));
  EXPECT_THAT(text, HasSubstr("7.00x (pytorch)"));
  EXPECT_THAT(text, Not(HasSubstr("<b>|"))) << "names are escaped";
}

} // namespace
} // namespace kw
