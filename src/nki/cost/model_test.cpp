// SPDX-License-Identifier: Apache-2.0
#include "nki/cost/model.hpp"

#include <gtest/gtest.h>

namespace kw::nki {
namespace {

struct Kernel {
  Program program;

  View tensor(std::vector<std::int64_t> shape, Memory memory = Memory::sbuf,
              Element element = Element::float32) {
    Buffer b{.id = static_cast<BufferId>(program.buffers.size()),
             .element = element,
             .memory = memory,
             .shape = std::move(shape),
             .partition_axis = on_chip(memory) ? 0 : -1};
    program.buffers.push_back(b);
    return whole(b);
  }
  void add(Instruction i) { program.body.emplace_back(std::move(i)); }
  CostReport cost(CostConstants constants = {.dma_latency_ns = 0,
                                             .dma_half_bytes = 0,
                                             .semaphore_cycles = 0,
                                             .issue_cycles = 0}) const {
    return cost_of(program, {.constants = constants});
  }
};

// The instruction costs are those of the nki.isa reference.
TEST(Cost, CyclesAreThoseOfTheReference) {
  Kernel k;
  const View a = k.tensor({128, 512}), b = k.tensor({128, 512}),
             p = k.tensor({128, 512}, Memory::psum), c = k.tensor({128, 1}),
             h = k.tensor({128, 512}, Memory::sbuf, Element::bfloat16);
  const auto cycles = [&](Instruction i) { return cycles_of(i, k.program); };
  EXPECT_EQ(cycles({.kind = Kind::compute,
                    .engine = Engine::vector,
                    .dst = a,
                    .sources = {{a}},
                    .steps = {{Operation::add, {b}}}}),
            1024);
  EXPECT_EQ(cycles({.kind = Kind::compute,
                    .engine = Engine::vector,
                    .dst = a,
                    .sources = {{a}},
                    .steps = {{Operation::add, {p}}}}),
            512);
  EXPECT_EQ(cycles({.kind = Kind::compute,
                    .engine = Engine::vector,
                    .dst = h,
                    .sources = {{h}},
                    .steps = {{Operation::add, {h}}}}),
            512);
  EXPECT_EQ(cycles({.kind = Kind::compute,
                    .engine = Engine::vector,
                    .dst = a,
                    .sources = {{a}},
                    .steps = {{Operation::add, {c}}}}),
            512);
  EXPECT_EQ(cycles({.kind = Kind::compute,
                    .engine = Engine::vector,
                    .dst = c,
                    .sources = {{c}},
                    .steps = {{Operation::add, {c}}}}),
            64);
  EXPECT_EQ(cycles({.kind = Kind::compute,
                    .engine = Engine::vector,
                    .dst = a,
                    .sources = {{a}},
                    .steps = {{Operation::reciprocal, {}}}}),
            4096);
  EXPECT_EQ(cycles({.kind = Kind::compute,
                    .engine = Engine::scalar,
                    .dst = a,
                    .sources = {{a}},
                    .steps = {{Operation::exp, {}}},
                    .reduce = Operation::add,
                    .reduce_dst = c}),
            576);
  EXPECT_EQ(cycles({.kind = Kind::scan, .engine = Engine::vector, .dst = a, .sources = {{a}, {b}}}),
            1024);
  const View s = k.tensor({128, 128}), sh = k.tensor({128, 128}, Memory::sbuf, Element::bfloat16);
  EXPECT_EQ(
      cycles({.kind = Kind::matmul, .engine = Engine::tensor, .dst = p, .sources = {{s}, {a}}}),
      2048);
  EXPECT_EQ(
      cycles({.kind = Kind::matmul, .engine = Engine::tensor, .dst = p, .sources = {{sh}, {h}}}),
      512);
  EXPECT_EQ(cycles({.kind = Kind::iota, .engine = Engine::gpsimd, .dst = a}), 662);
}

TEST(Cost, EnginesOverlapUnlessTheyWaitForEachOther) {
  Kernel k;
  const View a = k.tensor({128, 512}), b = k.tensor({128, 512}), c = k.tensor({128, 512}),
             d = k.tensor({128, 512});
  const Instruction on_vector{.kind = Kind::compute,
                              .engine = Engine::vector,
                              .dst = b,
                              .sources = {{a}},
                              .steps = {{Operation::add, {1.0}}}};
  k.add(on_vector);
  k.add({.kind = Kind::compute,
         .engine = Engine::scalar,
         .dst = d,
         .sources = {{c}},
         .steps = {{Operation::exp, {}}}});
  const double apart = k.cost().latency_ns;
  EXPECT_NEAR(apart, 512 / 1.12, 1e-6);
  k.program.body.clear();
  k.add(on_vector);
  k.add({.kind = Kind::compute,
         .engine = Engine::scalar,
         .dst = d,
         .sources = {{b}},
         .steps = {{Operation::exp, {}}}});
  EXPECT_NEAR(k.cost().latency_ns, 512 / 1.12 + 512 / 1.4, 1e-6);
  EXPECT_EQ(k.cost().bound, Engine::vector);
}

TEST(Cost, TransfersTakeTheirBytes) {
  Kernel k;
  const View x = k.tensor({128, 4096}, Memory::shared_hbm), t = k.tensor({128, 4096});
  k.program.buffers[0].parameter = true;
  k.add({.kind = Kind::compute, .engine = Engine::dma, .dst = t, .sources = {{x}}});
  const CostReport r = k.cost();
  EXPECT_NEAR(r.latency_ns, 128 * 4096 * 4 / 272.0, 1e-6);
  EXPECT_EQ(r.hbm_read_bytes, 128 * 4096 * 4);
  EXPECT_EQ(r.sbuf_write_bytes, 128 * 4096 * 4);
  EXPECT_EQ(r.waste(), 1);
  EXPECT_GT(k.cost({.dma_latency_ns = 2000}).latency_ns, r.latency_ns + 1999);
}

} // namespace
} // namespace kw::nki
