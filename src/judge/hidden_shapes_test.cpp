// SPDX-License-Identifier: Apache-2.0
#include "judge/hidden_shapes.hpp"

#include <gtest/gtest.h>
#include <set>

namespace kw {
namespace {

Definition definition() {
  Definition d;
  d.name = "rows";
  d.axes = {{"m", std::nullopt, "", ""}, {"n", std::nullopt, "", ""}};
  d.inputs = {{"x", std::vector<std::string>{"m", "n"}, DType::float32, "", ""}};
  d.outputs = {{"y", std::vector<std::string>{"m", "n"}, DType::float32, "", ""}};
  return d;
}

BoundWorkload listed(const Definition& d, std::int64_t m, std::int64_t n) {
  Workload w;
  w.uuid = "w" + std::to_string(m) + "x" + std::to_string(n);
  w.axes = {{"m", m}, {"n", n}};
  return *bind_workload(d, w, {});
}

std::uint64_t coin(std::uint64_t i) { // SplitMix64
  std::uint64_t z = (i + 1) * 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

TEST(HiddenShapes, AreNewDifferentAndNoLargerThanTheListedOnes) {
  const Definition d = definition();
  const std::vector<BoundWorkload> all{listed(d, 64, 128), listed(d, 1, 1000)};
  const HiddenShapes hidden = hidden_shapes(d, all, 200, coin); // so many that some would not fit
  ASSERT_EQ(hidden.workloads.size(), 200U);
  EXPECT_EQ(hidden.why_fewer, "");
  std::set<std::string> names{"hidden:m=64,n=128", "hidden:m=1,n=1000"};
  for (const BoundWorkload& w : hidden.workloads) {
    EXPECT_TRUE(names.insert(w.workload.uuid).second) << w.workload.uuid;
    EXPECT_LE(w.inputs[0].bytes, std::size_t{64 * 128 * 4}) << w.workload.uuid;
    for (const auto& [axis, value] : w.workload.axes)
      EXPECT_GE(value, 1) << axis;
  }
}

TEST(HiddenShapes, DrawScalarsThatHaveARange) {
  Definition d = definition();
  d.inputs.push_back({"offset", std::nullopt, DType::int32, "", ""});
  d.inputs.push_back({"factor", std::nullopt, DType::float32, "", ""});
  d.ext.inputs["offset"] = {.kind = "uniform", .low = 0, .high = 225};
  d.ext.inputs["factor"] = {.kind = "constant", .value = 2.5};
  Workload w{.uuid = "w", .axes = {{"m", 9}, {"n", 40}}};
  w.inputs = {{"offset", ScalarInput{96}}, {"factor", ScalarInput{1.5}}};
  const BoundWorkload given = *bind_workload(d, w, {});
  EXPECT_EQ(given.scalars[0].value, 96);
  const HiddenShapes hidden = hidden_shapes(d, {given}, 4, coin);
  ASSERT_EQ(hidden.workloads.size(), 4U);
  for (const BoundWorkload& shape : hidden.workloads) {
    EXPECT_FALSE(shape.scalars[0].value) << "drawn for every trial";
    EXPECT_EQ(shape.scalars[0].high, 225);
    EXPECT_EQ(shape.scalars[1].value, 1.5);
  }
}

TEST(HiddenShapes, AreNoDearerThanTheCheapestQuarterOfTheWorkloads) {
  Definition d = definition();
  d.ext.flops = "m * 100000000";
  d.ext.bytes_read = d.ext.bytes_written = "0";
  std::vector<BoundWorkload> all;
  for (const std::int64_t m : {1, 30, 40, 50, 60, 70, 80, 90})
    all.push_back(listed(d, m, 16));
  bool more_than_eight = false;
  for (const BoundWorkload& w : hidden_shapes(d, all, 100, coin).workloads) {
    EXPECT_LE(w.workload.axes[0].second, 30) << w.workload.uuid;
    more_than_eight = more_than_eight || w.workload.axes[0].second > 8;
  }
  EXPECT_TRUE(more_than_eight) << "eight times the cheapest is not all";
}

TEST(HiddenShapes, KeepTheConstraints) {
  Definition d = definition();
  d.constraints = {"n % 8 == 0"};
  const HiddenShapes hidden = hidden_shapes(d, {listed(d, 64, 128)}, 8, coin);
  ASSERT_FALSE(hidden.workloads.empty());
  for (const BoundWorkload& w : hidden.workloads)
    EXPECT_EQ(w.workload.axes[1].second % 8, 0) << w.workload.uuid;
}

TEST(HiddenShapes, SolveForAnAxisThatTheOthersGive) {
  Definition d = definition();
  d.axes.push_back({"ends", std::nullopt, "", ""});
  d.inputs.push_back({"cu", std::vector<std::string>{"ends"}, DType::int64, "", ""});
  d.ext.inputs["cu"] = {.kind = "offsets", .limit = "n"};
  d.constraints = {"ends == m + 1", "n == cu[-1].item()"};
  Workload w;
  w.uuid = "w";
  w.axes = {{"m", 9}, {"n", 128}, {"ends", 10}};
  const HiddenShapes hidden = hidden_shapes(d, {*bind_workload(d, w, {})}, 8, coin);
  ASSERT_EQ(hidden.workloads.size(), 8U) << hidden.why_fewer;
  for (const BoundWorkload& h : hidden.workloads) {
    EXPECT_EQ(h.workload.axes[2].second, h.workload.axes[0].second + 1) << h.workload.uuid;
    EXPECT_NE(h.workload.uuid.find("ends=" + std::to_string(h.workload.axes[2].second)),
              std::string::npos);
  }
  d.constraints.emplace_back("m == 3");
  for (const BoundWorkload& h : hidden_shapes(d, {*bind_workload(d, w, {})}, 8, coin).workloads)
    EXPECT_EQ(h.workload.axes[2].second, 4) << h.workload.uuid;
  d.ext.inputs["cu"].kind = "any"; // nothing keeps the last offset at n any more
  EXPECT_NE(hidden_shapes(d, {*bind_workload(d, w, {})}, 8, coin).why_fewer, "");
}

TEST(HiddenShapes, ReadTheShapesOfTensorsAsAxes) {
  Definition d = definition();
  d.constraints = {"x.shape[0] == m", "y.shape[-1] == 2 * x.shape[0]"};
  const HiddenShapes hidden = hidden_shapes(d, {listed(d, 64, 128)}, 8, coin);
  ASSERT_EQ(hidden.workloads.size(), 8U) << hidden.why_fewer;
  for (const BoundWorkload& w : hidden.workloads)
    EXPECT_EQ(w.workload.axes[1].second, 2 * w.workload.axes[0].second) << w.workload.uuid;
  for (const char* unknown : {"z.shape[0] == m", "x.shape[2] == n", "x.shape[m] == n"}) {
    d.constraints = {unknown};
    EXPECT_NE(hidden_shapes(d, {listed(d, 64, 128)}, 8, coin).why_fewer.find(unknown),
              std::string::npos);
  }
}

TEST(HiddenShapes, SayWhyThereAreNone) {
  Definition d = definition();
  EXPECT_NE(hidden_shapes(d, {listed(d, 1, 1)}, 8, coin).why_fewer, "");
  d.constraints = {"x.max() < n"};
  const HiddenShapes unreadable = hidden_shapes(d, {listed(d, 4, 4)}, 8, coin);
  EXPECT_TRUE(unreadable.workloads.empty());
  EXPECT_NE(unreadable.why_fewer.find("x.max() < n"), std::string::npos);
}

TEST(HiddenShapes, FollowTheCoin) {
  const Definition d = definition();
  const std::vector<BoundWorkload> all{listed(d, 64, 128)};
  const auto other = [](std::uint64_t i) { return coin(i + 1'000'000); };
  const HiddenShapes a = hidden_shapes(d, all, 8, coin), b = hidden_shapes(d, all, 8, coin),
                     c = hidden_shapes(d, all, 8, other);
  const auto names = [](const HiddenShapes& h) {
    std::vector<std::string> out;
    for (const BoundWorkload& w : h.workloads)
      out.push_back(w.workload.uuid);
    return out;
  };
  EXPECT_EQ(names(a), names(b));
  EXPECT_NE(names(a), names(c));
}

} // namespace
} // namespace kw
