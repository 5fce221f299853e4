// SPDX-License-Identifier: Apache-2.0
#include "nki/trace/session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw::nki {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Value integers(std::vector<std::int64_t> of) {
  Values v;
  for (const std::int64_t x : of)
    v.push_back({x});
  return list_of(std::move(v));
}
TensorPtr tensor(const Value& v) {
  return *v.get<TensorPtr>();
}
/// arange(n)[:, None] for axis 0 of 2, [None, :] for axis 1
Index place(std::int64_t n, std::size_t axis) {
  Index i;
  i.dims.resize(2);
  i.dims[axis] = {n, 1};
  return i;
}

struct Kernel {
  std::int32_t line = 0;
  Session session{{}};
  TensorPtr x = session.parameter("x", Element::float32, {128, 64}, false, {});
  TensorPtr out = tensor(call("nl.ndarray", {integers({128, 64}), {Element::float32}},
                              {{"buffer", {Memory::shared_hbm}}}));

  Value call(std::string_view path, Values positional,
             std::vector<std::pair<std::string, Value>> named = {}) {
    session.at({.file = 0, .line = ++line});
    return session.call(path, {std::move(positional), std::move(named)});
  }
  [[nodiscard]] std::vector<std::string> codes() const {
    std::vector<std::string> out_codes;
    for (const Diagnostic& d : session.diagnostics())
      out_codes.push_back(d.code);
    return out_codes;
  }
};

const Instruction& instruction(const Program& p, std::size_t k) {
  return std::get<Instruction>(p.body.at(k));
}

TEST(Session, CallsBecomeInstructions) {
  Kernel k;
  const Value t = k.call("nl.load", {{k.x}});
  const Value e = k.call("nl.exp", {t});
  k.call("nl.store", {{k.out}, e});
  k.session.finish();
  EXPECT_TRUE(k.codes().empty());
  ASSERT_EQ(k.session.program().body.size(), 3U);
  EXPECT_EQ(instruction(k.session.program(), 0).engine, Engine::dma);
  EXPECT_EQ(instruction(k.session.program(), 1).engine, Engine::scalar);
  EXPECT_EQ(instruction(k.session.program(), 1).steps[0].op, Operation::exp);
  EXPECT_EQ(instruction(k.session.program(), 2).place.line, 4);
}

TEST(Session, AssignmentLetsTheInstructionWriteInPlace) {
  Kernel k;
  const TensorPtr y = tensor(k.call("nl.ndarray", {integers({128, 64}), {Element::bfloat16}}));
  const Value t = k.call("nl.load", {{k.x}});
  k.session.assign(y, {Ellipsis{}}, k.call("nl.exp", {t}));
  k.session.finish();
  ASSERT_EQ(k.session.program().body.size(), 2U);
  EXPECT_EQ(instruction(k.session.program(), 1).dst.buffer, y->view.buffer);
}

TEST(Session, ProductsAccumulateOnlyInPsum) {
  Kernel k;
  const TensorPtr p = tensor(
      k.call("nl.zeros", {integers({64, 64}), {Element::float32}}, {{"buffer", {Memory::psum}}}));
  const Value t = k.call("nl.load", {{k.x}});
  k.session.in_place(Operation::add, p, k.call("nisa.nc_matmul", {t, t}));
  k.session.finish();
  const Instruction& i = instruction(k.session.program(), 1);
  EXPECT_EQ(i.kind, Kind::matmul);
  EXPECT_TRUE(i.accumulate);
  EXPECT_EQ(i.dst.buffer, p->view.buffer);
}

TEST(Session, ARefusedCallIsReportedOnceAndTheRestGoesOn) {
  Kernel k;
  const Value wide = k.call("nl.zeros", {integers({256, 64}), {Element::float32}});
  const Value e = k.call("nl.exp", {wide});
  const Value sum = k.call("nl.sum", {e}, {{"axis", integers({1})}});
  k.call("nl.store", {{k.out}, sum});
  EXPECT_THAT(k.codes(), ElementsAre("err_num_partition_exceed_arch_limit"));
  k.call("nl.exp", {{k.x}});
  EXPECT_THAT(k.codes(),
              ElementsAre("err_num_partition_exceed_arch_limit", "err_unsupported_memory"));
  EXPECT_THAT(k.session.diagnostics()[1].edit, HasSubstr("nl.load"));
}

TEST(Session, PromotionOfScalarsIsWeak) {
  Kernel k;
  const Value half = k.call("nl.zeros", {integers({128, 8}), {Element::float16}});
  EXPECT_EQ(tensor(k.call("nl.add", {half, {1.2}}))->element, Element::float32);
  EXPECT_EQ(tensor(k.call("nl.add", {half, {TypedNumber{Element::float16, 1.2}}}))->element,
            Element::float16);
  EXPECT_EQ(tensor(k.call("nl.exp", {half}))->element, Element::float16);
  EXPECT_EQ(tensor(k.call("nl.greater", {half, half}))->element, Element::boolean);
}

TEST(Session, IndicesAreAffine) {
  Kernel k;
  const Variable i = k.session.begin_loop(LoopKind::affine, 0, 1, 4);
  const Value at = k.session.index_arithmetic(
      '+', {place(32, 0)},
      k.session.index_arithmetic('*', {variable_index(i)}, {std::int64_t{32}}));
  const TensorPtr part = tensor(k.session.item(k.x, list_of({at, {place(16, 1)}})));
  EXPECT_THAT(part->view.shape(), ElementsAre(32, 16));
  EXPECT_EQ(part->view.offset.terms.size(), 1U);
  EXPECT_EQ(part->view.offset.terms[0].second, 32 * 64);
  EXPECT_EQ(part->view.dims[0].stride, 64);
  EXPECT_THROW(k.session.index_arithmetic('*', at, at), KernelStopped);
  EXPECT_THAT(k.codes(), ElementsAre("NK-not-affine"));
}

TEST(Session, SlicesOfALoopHaveAConstantLength) {
  Kernel k;
  const Variable i = k.session.begin_loop(LoopKind::affine, 0, 1, 4);
  const Value start = k.session.index_arithmetic('*', {variable_index(i)}, {std::int64_t{16}});
  const Value stop = k.session.index_arithmetic('+', start, {std::int64_t{16}});
  const TensorPtr part = tensor(k.session.item(
      k.x,
      list_of({{Slice{}}, {Slice{.start = *start.get<Index>(), .stop = *stop.get<Index>()}}})));
  EXPECT_THAT(part->view.shape(), ElementsAre(128, 16));
  k.session.item(
      k.x, list_of({{Slice{}}, {Slice{.start = *start.get<Index>(), .stop = constant_index(64)}}}));
  EXPECT_THAT(k.codes(), ElementsAre("NK-slice-length"));
}

TEST(Session, TilesOfALoopEndWithIt) {
  Kernel k;
  const Variable i = k.session.begin_loop(LoopKind::affine, 0, 1, 4);
  const Value t = k.call("nl.load", {{k.x}});
  k.session.end_loop(i);
  k.call("nl.store", {{k.out}, t});
  EXPECT_THAT(k.codes(), ElementsAre("err_local_variable_used_out_of_scope"));
}

TEST(Session, SlipsOfThePenAreGuessed) {
  Kernel k;
  const Value t = k.call("nl.load", {{k.x}});
  EXPECT_THROW(k.call("nl.sum", {t}, {{"axes", integers({1})}}), KernelStopped);
  EXPECT_THAT(k.session.diagnostics()[0].edit, HasSubstr("`axis`"));
  EXPECT_THROW(k.call("nl.sum", {t}), KernelStopped);
  EXPECT_THROW(k.call("nl.leaky_relu", {t}), KernelStopped);
  EXPECT_THROW(k.call("nisa.tensor_copy_dynamic_src", {t}), KernelStopped);
  EXPECT_THAT(k.codes(),
              ElementsAre("NK-arguments", "NK-arguments", "NK-unknown-name", "NK-unsupported"));
}

TEST(Session, EagerKernelsRunAtOnce) {
  Session s({.mode = Mode::eager});
  const TensorPtr t =
      tensor(s.call("nl.full", {{integers({2, 2}), {2.0}, {Element::float32}}, {}}));
  const TensorPtr y = tensor(s.binary(Operation::multiply, {t}, {t}));
  s.finish();
  float value = 0;
  load_floats(Element::float32, s.machine()->content(y->view.buffer).data(), 1, &value, 1);
  EXPECT_EQ(value, 4);
}

} // namespace
} // namespace kw::nki
