// SPDX-License-Identifier: Apache-2.0
// One instruction at work.
#pragma once

#include "nki/exec/access.hpp"

#include <string>
#include <vector>

namespace kw::nki {

struct Work {
  Work(Machine& m, const Instruction& i) : machine(m), instruction(i) {}

  void run();

 private:
  Machine& machine;
  const Instruction& instruction;
  // compute.cpp
  void compute();
  void copy_bits(const Region& region);
  void compute_bits(const Region& region);
  void select();
  void copy_where();
  void partition_reduce();
  void scan();
  void iota();
  void affine_select();
  void range_select();
  // matrix.cpp
  void matmul();
  void transpose();
  // special.cpp
  void bn_stats();
  void bn_aggr();
  void max8();
  void find_index8();
  void match_replace8();
  void local_gather();
  void gather();
  void shuffle();
  void random();
  void dma_accumulate();
  void loop_reduce();

  [[nodiscard]] Region region(const std::vector<std::int64_t>& sizes) const;
  /// Rows of all free elements of `view`, one a partition.
  [[nodiscard]] std::vector<std::vector<float>> partitions(const View& view);
  std::vector<char> undefined_; ///< partitions that were read with undefined elements
  std::string origin_;          ///< what these come from

  void store_partitions(const View& view, const std::vector<std::vector<float>>& rows);
  void round_via(float* x, std::int64_t n) const;
  void check_range(Operation op, const float* x, std::int64_t n, int step);
};

} // namespace kw::nki
