// SPDX-License-Identifier: Apache-2.0
#include "target/cpu/pipeline_estimate.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

constexpr std::string_view chain = R"(Iterations:        100
Instructions:      600
Total Cycles:      409
Total uOps:        700

Dispatch Width:    6
uOps Per Cycle:    1.71
IPC:               1.47
Block RThroughput: 1.2


Cycles with backend pressure increase [ 20.78% ]
Throughput Bottlenecks: 
  Resource Pressure       [ 0.00% ]
  Data Dependencies:      [ 20.78% ]
  - Register Dependencies [ 20.78% ]
  - Memory Dependencies   [ 0.00% ]

Critical sequence based on the simulation:
)";

constexpr std::string_view ports = R"(Iterations:        100
Total Cycles:      1610
Block RThroughput: 16.0

Cycles with backend pressure increase [ 92.00% ]
Throughput Bottlenecks: 
  Resource Pressure       [ 92.00% ]
  - SKXPort0  [ 92.00% ]
  - SKXPort1  [ 3.10% ]
  - SKXPort5  [ 92.00% ]
  Data Dependencies:      [ 0.50% ]
)";

TEST(PipelineEstimateText, ChainsAndPorts) {
  Result<PipelineEstimate> e = read_pipeline_estimate(chain);
  ASSERT_TRUE(e) << e.error().text();
  EXPECT_DOUBLE_EQ(e->cycles, 4.09);
  EXPECT_DOUBLE_EQ(e->throughput, 1.2);
  EXPECT_DOUBLE_EQ(e->ports, 0);
  EXPECT_DOUBLE_EQ(e->dependency, 0.2078);
  EXPECT_EQ(e->port, "");
  e = read_pipeline_estimate(ports);
  ASSERT_TRUE(e) << e.error().text();
  EXPECT_DOUBLE_EQ(e->cycles, 16.1);
  EXPECT_DOUBLE_EQ(e->ports, 0.92);
  EXPECT_EQ(e->port, "SKXPort0");
  EXPECT_DOUBLE_EQ(e->dependency, 0.005);
}

TEST(PipelineEstimateText, WhatIsCutOffOrAbsurdIsAnError) {
  for (std::size_t n = 0; n < chain.size(); ++n)
    EXPECT_EQ(read_pipeline_estimate(chain.substr(0, n)).has_value(),
              n >= chain.find("Block RThroughput: 1") + 20)
        << n;
  EXPECT_FALSE(read_pipeline_estimate("Iterations: 0\nTotal Cycles: 4\nBlock RThroughput: 1\n"));
  EXPECT_FALSE(read_pipeline_estimate("Iterations: 1\nTotal Cycles: nan\nBlock RThroughput: 1\n"));
  EXPECT_FALSE(
      read_pipeline_estimate("Iterations: 1\nTotal Cycles: 1e300\nBlock RThroughput: 1\n"));
  EXPECT_FALSE(read_pipeline_estimate("Iterations: 1\nTotal Cycles: -4\nBlock RThroughput: 1\n"));
  const auto e = read_pipeline_estimate("Iterations: 1\nTotal Cycles: 4\nBlock RThroughput: 1\n"
                                        "Resource Pressure [ 900% ]\n- \x1b[31m [ 5% ]\n");
  ASSERT_TRUE(e);
  EXPECT_EQ(e->ports, 0);
  EXPECT_EQ(e->port, "");
}

} // namespace
} // namespace kw
