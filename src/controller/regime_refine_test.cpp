// SPDX-License-Identifier: Apache-2.0
#include "controller/regime_refine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

using testing::ElementsAre;

BoundWorkload call(std::int64_t m, std::int64_t heads = 0) {
  BoundWorkload w;
  w.workload.axes = {{"m", m}};
  w.axes = {{"m", static_cast<double>(m)}};
  if (heads > 0) {
    w.workload.axes.emplace_back("h", heads);
    w.axes["h"] = static_cast<double>(heads);
  }
  w.flops = 1000.0 * static_cast<double>(m);
  return w;
}

/// One regime over all of them, as find_regimes leaves it where there is one axis.
Regime whole(const std::vector<BoundWorkload>& workloads, const std::string& axis = "m") {
  Regime r;
  r.name = "all";
  r.axis = axis;
  for (std::size_t i = 0; i < workloads.size(); ++i)
    r.workloads.push_back(i);
  return r;
}

std::vector<std::string> names(const std::vector<Regime>& regimes) {
  std::vector<std::string> out;
  for (const Regime& r : regimes)
    out.push_back(r.name);
  return out;
}

TEST(Refine, ADominantCallIsARegimeOfItsOwn) {
  const std::vector<BoundWorkload> w = {call(1), call(2), call(100), call(4), call(300)};
  // Time follows the work, so there is no change point; m = 300 takes 300 of 407.
  const std::vector<double> ns = {1, 2, 100, 4, 300};
  const auto found = refine_regimes({whole(w)}, w, ns);
  EXPECT_THAT(names(found), ElementsAre("m <= 173", "m >= 300"));
  EXPECT_EQ(found[0].border, 173); // sqrt(100 * 300)
  EXPECT_THAT(found[1].workloads, ElementsAre(4U));
  EXPECT_EQ(found[0].weight + found[1].weight, 5);

  const std::vector<double> middle = {1, 2, 300, 4, 100};
  EXPECT_THAT(names(refine_regimes({whole(w)}, w, middle)),
              ElementsAre("m <= 20", "m <= 173", "m >= 300"));
}

TEST(Refine, TimePerWorkThatJumpsIsABorder) {
  const std::vector<BoundWorkload> w = {call(10), call(11), call(12), call(13), call(14), call(15)};
  // From 13 on a unit of work takes three times as long (it has left a cache).
  const std::vector<double> ns = {10, 11, 12, 39, 42, 45};
  EXPECT_THAT(names(refine_regimes({whole(w)}, w, ns)), ElementsAre("m <= 12", "m >= 13"));
  const std::vector<double> mild = {10, 11, 12, 16, 17, 18}; // 1.25x
  EXPECT_THAT(names(refine_regimes({whole(w)}, w, mild)), ElementsAre("all"));
  const std::vector<double> noise = {10, 22, 12, 30, 14, 33}; // changes, but at no point
  EXPECT_THAT(names(refine_regimes({whole(w)}, w, noise)), ElementsAre("all"));
}

TEST(Refine, SeveralAxesAreSplitAlongTheOneThatTimeFollows) {
  const std::vector<BoundWorkload> w = {call(1, 4), call(2, 2), call(4, 8), call(8, 1),
                                        call(1000, 2)};
  const std::vector<double> ns = {1, 2, 4, 8, 1000};
  EXPECT_EQ(leading_axis(w, ns), "m");
  EXPECT_THAT(names(refine_regimes({whole(w, "")}, w, ns)), ElementsAre("m <= 89", "m >= 1000"));
  const std::vector<double> neither = {8, 1, 1000, 2, 4};
  EXPECT_EQ(leading_axis(w, neither), "");
  EXPECT_THAT(names(refine_regimes({whole(w, "")}, w, neither)), ElementsAre("all"));
}

TEST(Refine, RegimesOfTemplatesStayAsTheyAre) {
  const std::vector<BoundWorkload> w = {call(1), call(1000)};
  Regime a = whole(w, ""), b = whole(w, "");
  a.workloads = {0}, b.workloads = {1};
  a.name = "m <= 2", b.name = "all";
  EXPECT_THAT(names(refine_regimes({a, b}, w, {1, 1000})), ElementsAre("m <= 2", "all"));
}

TEST(Refine, NeverMoreThanAFew) {
  std::vector<BoundWorkload> w;
  std::vector<double> ns;
  std::vector<Regime> row;
  for (int i = 0; i < 12; ++i) {
    w.push_back(call(1 + 10 * i));
    ns.push_back(i % 2 == 0 ? 1e6 : 1);
  }
  const auto found = refine_regimes({whole(w)}, w, ns);
  EXPECT_LE(found.size(), refinement::most_regimes);
  std::size_t all = 0;
  for (const Regime& r : found)
    all += r.workloads.size();
  EXPECT_EQ(all, w.size());
  EXPECT_EQ(found.back().condition, "");
}

TEST(Refine, TwinsCountForThemselves) {
  std::vector<BoundWorkload> w = {call(1), call(2), call(3)};
  w[0].twins = {"a", "b", "c", "d"};
  EXPECT_THAT(names(refine_regimes({whole(w)}, w, {1, 2, 3})),
              ElementsAre("m <= 1", "m >= 2")); // 5 of 10; 3 of 10 is less than a third
}

} // namespace
} // namespace kw
