// SPDX-License-Identifier: Apache-2.0
#include "nki/check/capacity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw::nki {
namespace {

struct Kernel {
  Program program;

  BufferId buffer(std::vector<std::int64_t> shape, int partition_axis = 0,
                  Memory memory = Memory::sbuf, std::int32_t scope = 0) {
    Buffer b{.id = static_cast<BufferId>(program.buffers.size()),
             .memory = memory,
             .shape = std::move(shape),
             .partition_axis = partition_axis,
             .scope = scope};
    program.buffers.push_back(b);
    return b.id;
  }
  View at(BufferId b, std::vector<Index> blocks = {}) {
    View v = whole(program.buffers[static_cast<std::size_t>(b)]);
    for (std::size_t k = 0; k < blocks.size(); ++k)
      v.axes[k] = blocks[k];
    return v;
  }
  static Instruction copy(View to, std::optional<View> from = {}) {
    Instruction i{.kind = Kind::compute, .engine = Engine::vector, .dst = std::move(to)};
    i.sources.push_back(from ? Operand{*from} : Operand{1.0});
    return i;
  }
  Loop& loop(std::vector<Node>& in, std::int64_t count) {
    auto l = std::make_unique<Loop>();
    l->count = count, l->variable = static_cast<Variable>(program.variables.size());
    program.variables.push_back("i");
    in.emplace_back(std::move(l));
    return *std::get<std::unique_ptr<Loop>>(in.back());
  }
};

TEST(Capacity, TensorsThatFollowEachOtherShareMemory) {
  Kernel k;
  const BufferId a = k.buffer({128, 100}), b = k.buffer({128, 200}), c = k.buffer({128, 400});
  k.program.body.emplace_back(Kernel::copy(k.at(a)));
  k.program.body.emplace_back(Kernel::copy(k.at(b), k.at(a)));
  k.program.body.emplace_back(Kernel::copy(k.at(c), k.at(b)));
  const Capacity use = capacity_of(k.program, core(Generation::gen2));
  EXPECT_EQ(use.sbuf.most, 4 * 600);
  ASSERT_EQ(use.sbuf.tensors.size(), 2U);
  EXPECT_EQ(use.sbuf.tensors[0].buffer, c);
  EXPECT_TRUE(use.sbuf.fits());
}

TEST(Capacity, ABlockAxisOfTheLoopAroundAllUsesCountsOneTile) {
  Kernel k;
  const BufferId a = k.buffer({12, 128, 100}, 1), b = k.buffer({128, 10});
  Loop& outer = k.loop(k.program.body, 12);
  outer.body.emplace_back(Kernel::copy(k.at(a, {variable_index(outer.variable)})));
  outer.body.emplace_back(Kernel::copy(k.at(b), k.at(a, {variable_index(outer.variable)})));
  EXPECT_EQ(capacity_of(k.program, core(Generation::gen2)).sbuf.most, 4 * 110);
}

TEST(Capacity, ABlockAxisThatAnotherLoopReadsCountsAllTiles) {
  Kernel k;
  const BufferId a = k.buffer({12, 128, 100}, 1), b = k.buffer({128, 10});
  Loop& fills = k.loop(k.program.body, 12);
  fills.body.emplace_back(Kernel::copy(k.at(a, {variable_index(fills.variable)})));
  Loop& reads = k.loop(k.program.body, 12);
  reads.body.emplace_back(Kernel::copy(k.at(b), k.at(a, {variable_index(reads.variable)})));
  EXPECT_EQ(capacity_of(k.program, core(Generation::gen2)).sbuf.most, 4 * (12 * 100 + 10));
}

TEST(Capacity, WhatALoopSharesLivesAsLongAsTheLoop) {
  Kernel k;
  const BufferId a = k.buffer({128, 100}), t = k.buffer({128, 50}, 0, Memory::sbuf, 1),
                 u = k.buffer({128, 70}, 0, Memory::sbuf, 1);
  k.program.body.emplace_back(Kernel::copy(k.at(a)));
  Loop& l = k.loop(k.program.body, 4);
  l.body.emplace_back(Kernel::copy(k.at(t), k.at(a)));
  l.body.emplace_back(Kernel::copy(k.at(u)));
  EXPECT_EQ(capacity_of(k.program, core(Generation::gen2)).sbuf.most,
            4 * 170); // a and u; t is over
}

TEST(Capacity, PsumGoesByBanks) {
  Kernel k;
  const BufferId p = k.buffer({9, 128, 10}, 1, Memory::psum), s = k.buffer({128, 10});
  Loop& fills = k.loop(k.program.body, 9);
  fills.body.emplace_back(Kernel::copy(k.at(p, {variable_index(fills.variable)})));
  Loop& reads = k.loop(k.program.body, 9);
  reads.body.emplace_back(Kernel::copy(k.at(s), k.at(p, {variable_index(reads.variable)})));
  const Capacity use = capacity_of(k.program, core(Generation::gen2));
  EXPECT_EQ(use.psum.most, 9 * 2048);
  EXPECT_FALSE(use.psum.fits());
}

} // namespace
} // namespace kw::nki
