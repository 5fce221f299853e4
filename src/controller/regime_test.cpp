// SPDX-License-Identifier: Apache-2.0
#include "controller/regime.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace kw {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

const Bindings facts = {{"vector_bytes", 64}, {"threads", 1}};

Space space(const std::string& name, const std::string& applies) {
  Space s;
  s.name = name;
  if (!applies.empty())
    s.applies = *Expr::parse(applies);
  return s;
}

/// A workload with one variable axis. Its cost is flops + 8 * bytes.
BoundWorkload at(std::int64_t m, double flops, double bytes, double weight = 1) {
  BoundWorkload w;
  w.workload.uuid = fmt::format("m{}", m);
  w.workload.axes = {{"m", m}};
  w.workload.weight = weight;
  w.axes = {{"m", static_cast<double>(m)}, {"n", 64}};
  w.axes_text = fmt::format("m={}", m);
  w.flops = flops;
  w.bytes_read = bytes / 2;
  w.bytes_written = bytes / 2;
  return w;
}

/// Same intensity, footprint proportional to m: only the footprint splits.
BoundWorkload streaming(std::int64_t m, double weight = 1) {
  return at(m, static_cast<double>(m), static_cast<double>(m), weight);
}

std::vector<Regime> regimes(const std::vector<BoundWorkload>& workloads,
                            const std::vector<Space>& spaces) {
  Result<std::vector<Regime>> found = find_regimes(workloads, spaces, facts);
  EXPECT_TRUE(found) << (found ? "" : found.error().text());
  return found ? *found : std::vector<Regime>{};
}

const std::vector<Space> one_space = {space("any", "")};

TEST(Regime, AlikeWorkloadsAreOneRegimeThatTakesEverything) {
  const auto found = regimes({streaming(16), streaming(4), streaming(8)}, one_space);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].name, "all");
  EXPECT_EQ(found[0].condition, "");
  EXPECT_THAT(found[0].workloads, UnorderedElementsAre(0, 1, 2));
  EXPECT_THAT(found[0].spaces, ElementsAre(0));
  EXPECT_EQ(found[0].weight, 3);
}

TEST(Regime, AFootprintBeyond32TimesTheFirstOpensTheNext) {
  EXPECT_EQ(regimes({streaming(4), streaming(128)}, one_space).size(), 1U)
      << "32 times is still the same";
  const auto found =
      regimes({streaming(4), streaming(64), streaming(129), streaming(2000)}, one_space);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_THAT(found[0].workloads, ElementsAre(0, 1))
      << "measured from the first workload, not from the neighbour";
  EXPECT_THAT(found[1].workloads, ElementsAre(2, 3));
}

/// rows x n, both variable; y is [rows, n].
BoundWorkload table(std::int64_t rows, std::int64_t n) {
  BoundWorkload w = streaming(rows * n);
  w.workload.axes = {{"rows", rows}, {"n", n}};
  w.axes = {{"rows", static_cast<double>(rows)}, {"n", static_cast<double>(n)}};
  w.outputs.resize(1);
  w.outputs[0].row = n;
  return w;
}

TEST(Regime, WithSeveralAxesTheRowLengthSplits) {
  const auto found =
      regimes({table(128, 512), table(1, 32000), table(512, 1024), table(4, 1024), table(8, 4096)},
              one_space);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].condition, "n <= 2048");
  EXPECT_THAT(found[0].workloads, ElementsAre(0, 2, 3));
  EXPECT_EQ(found[1].condition, "n <= 11448");
  EXPECT_THAT(found[2].workloads, ElementsAre(1));
}

TEST(Regime, ARepresentativeCanBeTimed) {
  const std::vector<BoundWorkload> workloads{streaming(4, 10), streaming(8, 1), streaming(16, 2),
                                             streaming(32, 1)};
  std::vector<Regime> found = regimes(workloads, one_space);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].representative, 0U);
  choose_representative(found[0], workloads, [](std::size_t i) { return i > 0; });
  EXPECT_EQ(found[0].representative, 2U) << "the weighted median of the others";
  EXPECT_EQ(found[0].smallest, 0U) << "verified all the same";
}

TEST(Regime, IntensityBeyondThreeTimesTheFirstOpensTheNext) {
  EXPECT_EQ(regimes({at(1, 100, 100), at(2, 300, 100)}, one_space).size(), 1U);
  EXPECT_EQ(regimes({at(1, 100, 100), at(2, 301, 100)}, one_space).size(), 2U);
  EXPECT_EQ(regimes({at(1, 100, 100), at(2, 300, 100), at(3, 800, 100)}, one_space).size(), 2U)
      << "from the first, not the neighbour";
}

TEST(Regime, TheBorderIsTheGeometricMeanOfTheNeighbours) {
  const auto found = regimes({streaming(1), streaming(100), streaming(10'000)}, one_space);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].condition, "m <= 10");
  EXPECT_EQ(found[1].condition, "m <= 1000");
  EXPECT_EQ(found[2].condition, "");
  EXPECT_EQ(found[0].name, "m <= 10");
  EXPECT_EQ(found[2].name, "m >= 10000");
}

TEST(Regime, TestingConditionsInOrderTakesEveryCallOnce) {
  // Neighbours as close as they can be, in any file order.
  const std::vector<BoundWorkload> workloads = {at(3, 900, 1), at(1, 1, 1), at(2, 30, 1),
                                                at(4096, 1e5, 1), at(4, 901, 1)};
  const auto found = regimes(workloads, one_space);
  ASSERT_GE(found.size(), 3U);
  for (std::size_t w = 0; w < workloads.size(); ++w)
    for (const Regime& r : found) {
      const bool takes =
          r.condition.empty() || *Expr::parse(r.condition)->eval(workloads[w].axes) != 0;
      if (!takes)
        continue;
      EXPECT_THAT(r.workloads, testing::Contains(w))
          << workloads[w].axes_text << " went to " << r.name;
      break;
    }
  EXPECT_EQ(found.back().condition, "") << "the last takes what is left";
}

TEST(Regime, WorkloadsWithOtherSpacesAreOtherRegimes) {
  const std::vector<Space> spaces = {space("vector", "m <= 2"), space("matrix", "m >= 64"),
                                     space("plain", "")};
  const auto found = regimes({streaming(1), streaming(2), streaming(30), streaming(64)}, spaces);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_THAT(found[0].spaces, ElementsAre(0, 2));
  EXPECT_THAT(found[1].spaces, ElementsAre(2));
  EXPECT_THAT(found[2].spaces, ElementsAre(1, 2));
  EXPECT_EQ(found[0].condition, "m <= 7");  // sqrt(2 * 30)
  EXPECT_EQ(found[1].condition, "m <= 43"); // sqrt(30 * 64)
}

TEST(Regime, ASpaceThatAppliesOnBothSidesOfAGapMakesTwoRegimes) {
  const std::vector<Space> spaces = {space("ends", "m < 4 or m > 8"),
                                     space("middle", "m >= 4 and m <= 8")};
  const auto found = regimes({streaming(2), streaming(6), streaming(12)}, spaces);
  ASSERT_EQ(found.size(), 3U) << "one range of the axis each";
  EXPECT_THAT(found[0].spaces, ElementsAre(0));
  EXPECT_THAT(found[1].spaces, ElementsAre(1));
  EXPECT_THAT(found[2].spaces, ElementsAre(0));
}

TEST(Regime, SeveralVariableAxesAreNotSplitFurther) {
  std::vector<BoundWorkload> workloads = {streaming(1), streaming(4096)};
  for (BoundWorkload& w : workloads) {
    w.workload.axes.emplace_back("k", 2);
    w.axes["k"] = 2;
  }
  const auto found = regimes(workloads, one_space);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].name, "all");
  const auto grouped = regimes(
      workloads, {space("small", "m < 8 and vector_bytes == 64"), space("large", "m >= 8")});
  ASSERT_EQ(grouped.size(), 2U);
  EXPECT_EQ(grouped[0].name, "m < 8 and 64 == 64");
  EXPECT_EQ(grouped[1].name, "m >= 8");
}

TEST(Regime, TheRepresentativeIsTheWeightedMedianByCost) {
  const auto chosen = [](std::vector<double> weights) {
    const auto found =
        regimes({streaming(30, weights[0]), streaming(10, weights[1]), streaming(20, weights[2])},
                one_space);
    EXPECT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].smallest, 1U) << "the cheapest, whatever it weighs";
    return found[0].representative;
  };
  EXPECT_EQ(chosen({1, 1, 1}), 2U);
  EXPECT_EQ(chosen({1, 8, 1}), 1U);
  EXPECT_EQ(chosen({8, 1, 1}), 0U);
  EXPECT_EQ(chosen({1, 1, 0}), 1U) << "half is enough";
}

TEST(Regime, TrafficCountsEightTimesInTheCost) {
  // 90 + 8 * 10 = 170 against 100 + 8 * 4 = 132.
  const auto found = regimes({at(1, 90, 10), at(2, 100, 4)}, {space("any", "")});
  for (const Regime& r : found)
    if (r.workloads.size() == 2) {
      EXPECT_EQ(r.smallest, 1U);
    }
  ASSERT_EQ(found.size(), 1U);
}

TEST(Regime, AWorkloadWithoutASpaceIsNamed) {
  const auto found =
      find_regimes({streaming(1), streaming(100)}, {space("vector", "m <= 2")}, facts);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, ErrorKind::invalid_input);
  EXPECT_THAT(found.error().message,
              HasSubstr("no schedule space applies to workload m100 (m=100)"));
  EXPECT_THAT(found.error().remedy, HasSubstr("space.json"));
  const auto bare = find_regimes({streaming(1), streaming(2)}, {}, facts);
  ASSERT_TRUE(bare) << "without any space the axes alone split";
  EXPECT_EQ(bare->size(), 1U);
}

TEST(Regime, ASpaceThatNeedsAnUnknownNameIsAnError) {
  EXPECT_FALSE(find_regimes({streaming(1)}, {space("odd", "q > 2")}, facts));
}

TEST(AxisCondition, FactsBecomeNumbersAndAxesStay) {
  EXPECT_EQ(axis_condition(space("s", "m >= 64 and vector_bytes == 64"), facts),
            "m >= 64 and 64 == 64");
  EXPECT_EQ(axis_condition(space("s", "min(m, 8) * threads < n_rows"), facts),
            "min(m, 8) * 1 < n_rows");
  EXPECT_EQ(axis_condition(space("s", "m > vector_bytes"), facts), "m > 64");
}

TEST(AxisCondition, WithoutAnAxisItAlwaysHolds) {
  EXPECT_EQ(axis_condition(space("s", ""), facts), "");
  EXPECT_EQ(axis_condition(space("s", "vector_bytes >= 32"), facts), "");
  EXPECT_EQ(axis_condition(space("s", "not (threads > 1 or max(vector_bytes, 2) < 16)"), facts),
            "");
}

TEST(AxisCondition, TheResultIsTrueWhereTheSpaceApplies) {
  const Space s = space("s", "m >= vector_bytes // 4 and m % 2 == 0 or threads > 1");
  const Expr condition = *Expr::parse(axis_condition(s, facts));
  for (const double m : {1.0, 15.0, 16.0, 17.0, 64.0}) {
    Bindings all = facts;
    all["m"] = m;
    EXPECT_EQ(*condition.eval({{"m", m}}), *s.applies->eval(all)) << m;
  }
}

TEST(MachineFacts, AreTheNamesThatSpacesMayUse) {
  const Bindings here = machine_facts(3);
  std::set<std::string> names;
  for (const auto& [name, value] : here)
    names.insert(name);
  EXPECT_THAT(names, UnorderedElementsAre("vector_bytes", "vector_registers", "threads", "l1_bytes",
                                          "l2_bytes", "l3_bytes"));
  EXPECT_EQ(here.at("threads"), 3);
  EXPECT_EQ(here.at("vector_registers"), here.at("vector_bytes") == 64 ? 32 : 16);
}

} // namespace
} // namespace kw
