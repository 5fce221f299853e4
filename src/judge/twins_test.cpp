// SPDX-License-Identifier: Apache-2.0
#include "judge/binding.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

BoundWorkload workload(const std::string& uuid, double m, double weight) {
  BoundWorkload out;
  out.workload.uuid = uuid;
  out.workload.weight = weight;
  out.axes = {{"m", m}, {"k", 64}};
  out.inputs.resize(1);
  return out;
}

TEST(Twins, TheFirstOfEqualShapesIsTimedForAll) {
  std::vector<BoundWorkload> all{workload("a", 1, 2), workload("b", 4, 1), workload("c", 1, 3),
                                 workload("d", 1, 4)};
  join_twins(all);
  EXPECT_TRUE(all[0].timed);
  EXPECT_THAT(all[0].twins, ElementsAre("c", "d"));
  EXPECT_EQ(all[0].timing_weight, 9);
  EXPECT_TRUE(all[1].timed);
  EXPECT_THAT(all[1].twins, IsEmpty());
  EXPECT_EQ(all[1].timing_weight, 1);
  EXPECT_FALSE(all[2].timed);
  EXPECT_FALSE(all[3].timed);
}

TEST(Twins, FixedInputsAndScalarsTellWorkloadsApart) {
  std::vector<BoundWorkload> all(4, workload("a", 1, 1));
  all[1].inputs[0].fixed.resize(8);
  all[2].scalars = {{.name = "eps", .dtype = DType::float32, .value = 1e-5}};
  all[3].scalars = {{.name = "eps", .dtype = DType::float32, .value = 1e-6}};
  join_twins(all);
  for (const BoundWorkload& w : all)
    EXPECT_TRUE(w.timed);
}

} // namespace
} // namespace kw
