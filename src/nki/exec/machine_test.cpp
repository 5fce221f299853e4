// SPDX-License-Identifier: Apache-2.0
#include "nki/exec/machine.hpp"

#include <cmath>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw::nki {
namespace {

using testing::ElementsAre;

/// A program by hand.
struct Kernel {
  Program program;
  Kernel() { program.files = {"kernel.py"}; }

  BufferId buffer(std::vector<std::int64_t> shape, Memory memory = Memory::sbuf,
                  Element element = Element::float32, std::optional<double> fill = {}) {
    Buffer b{.id = static_cast<BufferId>(program.buffers.size()),
             .name = "t" + std::to_string(program.buffers.size()),
             .element = element,
             .memory = memory,
             .shape = std::move(shape),
             .partition_axis = on_chip(memory) ? 0 : -1,
             .fill = fill};
    program.buffers.push_back(b);
    return b.id;
  }
  View all(BufferId b) { return whole(program.buffers[static_cast<std::size_t>(b)]); }
  Instruction& add(Instruction i, std::vector<Node>* to = nullptr) {
    i.place.line = static_cast<std::int32_t>(++lines);
    std::vector<Node>& body = to != nullptr ? *to : program.body;
    body.emplace_back(std::move(i));
    return std::get<Instruction>(body.back());
  }
  Loop& loop(LoopKind kind, std::int64_t count) {
    auto l = std::make_unique<Loop>();
    l->kind = kind, l->count = count, l->variable = static_cast<Variable>(program.variables.size());
    program.variables.push_back("i" + std::to_string(program.variables.size()));
    program.body.emplace_back(std::move(l));
    return *std::get<std::unique_ptr<Loop>>(program.body.back());
  }
  int lines = 0;
};

Instruction compute(View dst, Operand first, std::vector<Step> steps = {}) {
  return {.kind = Kind::compute,
          .engine = Engine::vector,
          .api = "test",
          .dst = std::move(dst),
          .sources = {std::move(first)},
          .steps = std::move(steps)};
}

std::vector<std::byte> bytes_of_floats(const std::vector<float>& x) {
  std::vector<std::byte> out(x.size() * 4);
  std::memcpy(out.data(), x.data(), out.size());
  return out;
}
std::vector<float> floats_of(std::span<const std::byte> bytes) {
  std::vector<float> out(bytes.size() / 4);
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}
std::vector<std::string> codes(const Machine& m) {
  std::vector<std::string> out;
  for (const RunFinding& f : m.findings())
    out.push_back(f.code);
  return out;
}
void add_all(Machine& m, const Kernel& k) {
  for (const Buffer& b : k.program.buffers)
    m.add(b);
}
std::vector<float> ramp(std::size_t n, float step = 1) {
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i)
    x[i] = static_cast<float>(i) * step;
  return x;
}

TEST(Machine, StepsAndReductionOfOneInstruction) {
  Kernel k;
  const BufferId x = k.buffer({2, 4}), y = k.buffer({2, 4}), s = k.buffer({2, 1});
  Instruction i = compute(k.all(y), {k.all(x)},
                          {{Operation::multiply, {2.0}}, {Operation::subtract, {1.0}, true}});
  i.reduce = Operation::maximum;
  i.reduce_dst = k.all(s);
  k.add(std::move(i));
  Machine m({});
  m.add(k.program.buffers[0], bytes_of_floats(ramp(8)));
  m.add(k.program.buffers[1]);
  m.add(k.program.buffers[2]);
  m.run(k.program);
  EXPECT_THAT(floats_of(m.content(y)), ElementsAre(1, -1, -3, -5, -7, -9, -11, -13));
  EXPECT_THAT(floats_of(m.content(s)), ElementsAre(1, -7));
  EXPECT_TRUE(m.findings().empty());
}

TEST(Machine, ColumnOperandsRepeatAlongTheRow) {
  Kernel k;
  const BufferId x = k.buffer({2, 3}), v = k.buffer({2, 1});
  k.add(compute(k.all(x), {k.all(x)}, {{Operation::add, {k.all(v)}}}));
  Machine m({});
  m.add(k.program.buffers[0], bytes_of_floats(ramp(6)));
  m.add(k.program.buffers[1], bytes_of_floats({10, 20}));
  m.run(k.program);
  EXPECT_THAT(floats_of(m.content(x)), ElementsAre(10, 11, 12, 23, 24, 25));
}

TEST(Machine, MasksCutBoxesAndTriangles) {
  Kernel k;
  const BufferId x = k.buffer({3, 3}, Memory::sbuf, Element::float32, 0.0);
  Instruction i = compute(k.all(x), {7.0});
  i.mask.conditions.push_back({.base = {}, .dims = {{3, 1}, {3, -1}}}); // column <= row
  i.mask.conditions.push_back({.base = {.constant = 1}, .dims = {{1, 0}, {3, -1}}}); // column <= 1
  k.add(std::move(i));
  Machine m({});
  add_all(m, k);
  m.run(k.program);
  EXPECT_THAT(floats_of(m.content(x)), ElementsAre(7, 0, 0, 7, 7, 0, 7, 7, 0));
}

TEST(Machine, WhatNobodyWroteIsFoundWhereItReachesHbm) {
  Kernel k;
  const BufferId x = k.buffer({4, 8}), y = k.buffer({4, 8}), sum = k.buffer({4, 1}),
                 out = k.buffer({4, 8}, Memory::shared_hbm);
  Instruction part = compute(k.all(x), {1.0});
  part.mask.conditions.push_back({.base = {.constant = 6}, .dims = {{1, 0}, {8, -1}}});
  k.add(std::move(part));
  k.add(compute(k.all(y), {k.all(x)},
                {{Operation::exp}})); // lanes that are never stored are harmless
  Instruction reduces = compute(k.all(sum), {k.all(y)});
  reduces.reduce = Operation::add;
  k.add(std::move(reduces));
  Instruction stores = compute(k.all(out), {k.all(y)});
  stores.mask.conditions.push_back({.base = {.constant = 6}, .dims = {{1, 0}, {8, -1}}});
  Instruction& store = k.add(std::move(stores));
  {
    Machine m({});
    add_all(m, k);
    m.run(k.program);
    EXPECT_TRUE(m.findings().empty());
  }
  store.mask = {};
  k.add(compute(k.all(out), {k.all(sum)}));
  Machine m({});
  add_all(m, k);
  m.run(k.program);
  ASSERT_THAT(codes(m), ElementsAre("NK-uninitialised-read", "NK-uninitialised-read"));
  EXPECT_THAT(m.findings()[0].message,
              testing::HasSubstr("`t1` is read at [0, 7], which was made of elements of `t0`"));
  EXPECT_EQ(m.findings()[0].place.line, 4);
}

TEST(Machine, UndefinedTermsMakeUndefinedSums) {
  Kernel k;
  const BufferId a = k.buffer({2, 3}, Memory::sbuf, Element::float32, 1.0), b = k.buffer({2, 4}),
                 p = k.buffer({3, 4}, Memory::psum), t = k.buffer({4, 3}),
                 out = k.buffer({4, 3}, Memory::shared_hbm);
  Instruction part = compute(k.all(b), {1.0});
  part.mask.conditions.push_back(
      {.base = {.constant = 2}, .dims = {{1, 0}, {4, -1}}}); // columns 0 to 2
  k.add(std::move(part));
  k.add({.kind = Kind::matmul,
         .engine = Engine::tensor,
         .api = "m",
         .dst = k.all(p),
         .sources = {{k.all(a)}, {k.all(b)}}});
  k.add({.kind = Kind::transpose,
         .engine = Engine::vector,
         .api = "t",
         .dst = k.all(t),
         .sources = {{k.all(p)}}});
  Instruction stores = compute(k.all(out), {k.all(t)});
  stores.mask.conditions.push_back(
      {.base = {.constant = 2}, .dims = {{4, -1}, {1, 0}}}); // rows 0 to 2
  Instruction& store = k.add(std::move(stores));
  {
    Machine m({});
    add_all(m, k);
    m.run(k.program);
    EXPECT_TRUE(m.findings().empty());
  }
  store.mask = {};
  Machine m({});
  add_all(m, k);
  m.run(k.program);
  ASSERT_THAT(codes(m), ElementsAre("NK-uninitialised-read"));
  EXPECT_THAT(m.findings()[0].message, testing::HasSubstr("[3, 0]"));
}

/// t[0, i + shift] = t[0, i] over i, in a loop of the kind.
Kernel shifting(LoopKind kind, std::int64_t shift) {
  Kernel k;
  const BufferId t = k.buffer({1, 16}, Memory::sbuf, Element::float32, 1.0);
  Loop& l = k.loop(kind, 8);
  const auto at = [&](std::int64_t offset) {
    View v{.buffer = t, .offset = {offset, {{l.variable, 1}}}, .dims = {{1, 16}, {1, 1}}};
    v.axes = {constant_index(0), {.base = {offset, {{l.variable, 1}}}, .dims = {}}};
    return v;
  };
  k.add(compute(at(shift), {at(0)}, {{Operation::add, {1.0}}}), &l.body);
  return k;
}

TEST(Machine, ValuesCarriedThroughAnAffineRangeAreARace) {
  for (const auto& [kind, shift, code] :
       {std::tuple(LoopKind::affine, 1, "NK-race-read-after-write"),
        {LoopKind::affine, 0, ""},
        {LoopKind::sequential, 1, ""},
        {LoopKind::affine, 8, ""}}) {
    const Kernel k = shifting(kind, shift);
    Machine m({});
    add_all(m, k);
    m.run(k.program);
    EXPECT_EQ(codes(m),
              code[0] == '\0' ? std::vector<std::string>{} : std::vector<std::string>{code})
        << shift;
  }
  const Kernel back = shifting(LoopKind::affine, 1);
  Machine m({.order = Order::backward});
  add_all(m, back);
  m.run(back.program);
  EXPECT_THAT(codes(m), ElementsAre("NK-race-write-after-read"));
}

TEST(Machine, OneElementWrittenByAllIterationsIsNoted) {
  Kernel k;
  const BufferId t = k.buffer({1, 4});
  Loop& l = k.loop(LoopKind::affine, 4);
  k.add(compute(k.all(t), {1.0}), &l.body);
  Machine m({});
  add_all(m, k);
  m.run(k.program);
  ASSERT_THAT(codes(m), ElementsAre("err_unexpected_output_dependencies"));
  EXPECT_EQ(m.findings()[0].times, 3);
}

TEST(Machine, ATensorOfTheIterationIsNotShared) {
  Kernel k;
  const BufferId t = k.buffer({1, 4});
  Loop& l = k.loop(LoopKind::affine, 4);
  k.add({.kind = Kind::allocate, .dst = k.all(t)}, &l.body);
  k.add(compute(k.all(t), {1.0}), &l.body);
  k.add(compute(k.all(t), {k.all(t)}, {{Operation::add, {1.0}}}), &l.body);
  Machine m({});
  add_all(m, k);
  m.run(k.program);
  EXPECT_TRUE(m.findings().empty());
}

TEST(Machine, ProductsAccumulateInAnyOrder) {
  Kernel k;
  const BufferId a = k.buffer({2, 3}), b = k.buffer({2, 4}),
                 p = k.buffer({3, 4}, Memory::psum, Element::float32, 0.0);
  Loop& l = k.loop(LoopKind::affine, 2);
  k.add({.kind = Kind::matmul,
         .engine = Engine::tensor,
         .api = "nisa.nc_matmul",
         .dst = k.all(p),
         .sources = {{k.all(a)}, {k.all(b)}},
         .accumulate = true},
        &l.body);
  Machine m({});
  m.add(k.program.buffers[0], bytes_of_floats(ramp(6)));
  m.add(k.program.buffers[1], bytes_of_floats(ramp(8)));
  m.add(k.program.buffers[2]);
  m.run(k.program);
  // a^T b twice: element [i, j] = 2 (a[0, i] b[0, j] + a[1, i] b[1, j])
  EXPECT_THAT(floats_of(m.content(p)), ElementsAre(24, 30, 36, 42, 32, 42, 52, 62, 40, 54, 68, 82));
  EXPECT_TRUE(m.findings().empty());
}

TEST(Machine, AccumulatingOnNothingIsFound) {
  Kernel k;
  const BufferId a = k.buffer({2, 3}, Memory::sbuf, Element::float32, 1.0),
                 p = k.buffer({3, 3}, Memory::psum);
  k.add({.kind = Kind::matmul,
         .engine = Engine::tensor,
         .dst = k.all(p),
         .sources = {{k.all(a)}, {k.all(a)}},
         .accumulate = true});
  Machine m({});
  add_all(m, k);
  m.run(k.program);
  EXPECT_THAT(codes(m), ElementsAre("NK-psum-accumulate-uninitialised"));
}

TEST(Machine, IndicesOutsideOfATensorAreFound) {
  Kernel k;
  const BufferId t = k.buffer({1, 10}, Memory::sbuf, Element::float32, 0.0), y = k.buffer({1, 4});
  Loop& l = k.loop(LoopKind::affine, 3);
  const Index column{.base = {0, {{l.variable, 4}}}, .dims = {{1, 0}, {4, 1}}};
  const View v{.buffer = t,
               .offset = {0, {{l.variable, 4}}},
               .dims = {{1, 10}, {4, 1}},
               .axes = {constant_index(0), column}};
  k.add({.kind = Kind::allocate, .dst = k.all(y)}, &l.body);
  Instruction& load = k.add(compute(k.all(y), {v}), &l.body);
  {
    Machine m({});
    add_all(m, k);
    m.run(k.program);
    ASSERT_THAT(codes(m), ElementsAre("err_tensor_access_out_of_bound"));
    EXPECT_THAT(m.findings()[0].message, testing::HasSubstr("8 to 11"));
  }
  load.mask.conditions.push_back(*add(constant_index(9), scale(column, -1)));
  Machine m({});
  add_all(m, k);
  m.run(k.program);
  EXPECT_TRUE(m.findings().empty());
}

TEST(Machine, RowsByIndicesReadAtRunTime) {
  Kernel k;
  const BufferId t = k.buffer({4, 2}, Memory::private_hbm),
                 i = k.buffer({3, 1}, Memory::sbuf, Element::int32), y = k.buffer({3, 2});
  View v{.buffer = t,
         .dims = {{3, 0}, {2, 1}},
         .axes = {constant_index(0), {.base = {}, .dims = {{1, 0}, {2, 1}}}}};
  v.indirect = {.axis = 0, .by = std::make_shared<View>(k.all(i))};
  k.add(compute(k.all(y), {v}));
  std::vector<std::byte> indices(12);
  const std::int32_t rows[] = {3, 0, 2};
  std::memcpy(indices.data(), rows, 12);
  Machine m({});
  m.add(k.program.buffers[0], bytes_of_floats(ramp(8)));
  m.add(k.program.buffers[1], indices);
  m.add(k.program.buffers[2]);
  m.run(k.program);
  EXPECT_THAT(floats_of(m.content(y)), ElementsAre(6, 7, 0, 1, 4, 5));
}

TEST(Machine, ScansGoOnFromWhatTheyBeginWith) {
  Kernel k;
  const BufferId a = k.buffer({2, 3}), b = k.buffer({2, 3}), y = k.buffer({2, 3});
  k.add({.kind = Kind::scan,
         .engine = Engine::vector,
         .dst = k.all(y),
         .sources = {{k.all(a)}, {k.all(b)}, {1.0}},
         .steps = {{Operation::multiply}, {Operation::add}}});
  Machine m({});
  m.add(k.program.buffers[0], bytes_of_floats({2, 2, 2, 0, 1, 2}));
  m.add(k.program.buffers[1], bytes_of_floats({1, 1, 1, 5, 5, 5}));
  m.add(k.program.buffers[2]);
  m.run(k.program);
  EXPECT_THAT(floats_of(m.content(y)), ElementsAre(3, 7, 15, 5, 10, 25));
}

TEST(Machine, TransposesAndBatchMoments) {
  Kernel k;
  const BufferId x = k.buffer({2, 3}), y = k.buffer({3, 2}, Memory::psum), s = k.buffer({2, 6}),
                 v = k.buffer({2, 2});
  k.add({.kind = Kind::transpose,
         .engine = Engine::tensor,
         .dst = k.all(y),
         .sources = {{k.all(x)}}});
  k.add(
      {.kind = Kind::bn_stats, .engine = Engine::vector, .dst = k.all(s), .sources = {{k.all(x)}}});
  k.add(
      {.kind = Kind::bn_aggr, .engine = Engine::vector, .dst = k.all(v), .sources = {{k.all(s)}}});
  Machine m({});
  m.add(k.program.buffers[0], bytes_of_floats({1, 2, 3, 4, 6, 11}));
  for (int b : {1, 2, 3})
    m.add(k.program.buffers[static_cast<std::size_t>(b)]);
  m.run(k.program);
  EXPECT_THAT(floats_of(m.content(y)), ElementsAre(1, 4, 2, 6, 3, 11));
  EXPECT_THAT(floats_of(m.content(s)), ElementsAre(2, 2, 2, 1, 2, 0, 2, 7.5, 24.5, 1, 6, 0));
  EXPECT_THAT(floats_of(m.content(v)), ElementsAre(2, 2.0F / 3, 7, 26.0F / 3));
}

TEST(Machine, EveryOrderOfAParallelLoopGivesTheSameOrIsARace) {
  for (const Order order : {Order::forward, Order::backward, Order::shuffled}) {
    Kernel k;
    const BufferId x = k.buffer({1, 8}), y = k.buffer({1, 8});
    Loop& l = k.loop(LoopKind::affine, 8);
    const auto at = [&](BufferId b) {
      return View{.buffer = b,
                  .offset = {0, {{l.variable, 1}}},
                  .dims = {{1, 8}, {1, 1}},
                  .axes = {constant_index(0), variable_index(l.variable)}};
    };
    k.add(compute(at(y), {at(x)}, {{Operation::square}}), &l.body);
    Machine m({.order = order, .seed = 5});
    m.add(k.program.buffers[0], bytes_of_floats(ramp(8)));
    m.add(k.program.buffers[1]);
    m.run(k.program);
    EXPECT_THAT(floats_of(m.content(y)), ElementsAre(0, 1, 4, 9, 16, 25, 36, 49));
    std::int64_t first = 0;
    EXPECT_EQ(m.unwritten(y, first), 0);
  }
}

TEST(Machine, ProgramsOfALaunchMayNotWriteTheSameElement) {
  Kernel k;
  const BufferId y = k.buffer({4, 2}, Memory::shared_hbm);
  k.program.grid = {2};
  k.program.variables = {"program_id(0)"};
  k.program.results = {y};
  k.add(compute(k.all(y), {1.0}));
  Machine m({});
  add_all(m, k);
  m.run(k.program);
  EXPECT_THAT(codes(m), ElementsAre("err_unexpected_output_dependencies"));
}

} // namespace
} // namespace kw::nki
