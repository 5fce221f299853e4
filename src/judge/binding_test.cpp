// SPDX-License-Identifier: Apache-2.0
#include "judge/binding.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

namespace kw {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// y[m, n] = x[m, k] w[k, n] + scale, with a table of row numbers: one argument of every kind.
Definition definition() {
  Definition d;
  d.name = "affine";
  d.axes = {{.name = "m", .value = {}}, {.name = "n", .value = 8}, {.name = "k", .value = 4}};
  d.inputs = {{.name = "x", .shape = {{"m", "k"}}, .dtype = DType::float32},
              {.name = "scale", .shape = {}, .dtype = DType::float32},
              {.name = "rows", .shape = {{"m"}}, .dtype = DType::int32},
              {.name = "count", .shape = {}, .dtype = DType::int64},
              {.name = "shift", .shape = {}, .dtype = DType::float64}};
  d.outputs = {{.name = "y", .shape = {{"m", "n"}}, .dtype = DType::bfloat16}};
  d.ext.flops = "2 * m * n * k";
  return d;
}

Workload workload(std::int64_t m) {
  Workload w;
  w.uuid = "w-1";
  w.axes = {{"m", m}};
  return w;
}

Result<std::vector<std::byte>> no_tensor(const SafetensorsInput&, DType,
                                         std::span<const std::int64_t>) {
  return fail(ErrorKind::not_found, "no tensor is read here");
}

BoundWorkload bound(const Definition& d, const Workload& w) {
  Result<BoundWorkload> result = bind_workload(d, w, no_tensor);
  EXPECT_TRUE(result) << (result ? "" : result.error().text());
  return result ? *result : BoundWorkload{};
}

/// The whole error, remedy included; a workload that binds is a failed test.
std::string error_of(const Definition& d, const Workload& w) {
  const Result<BoundWorkload> result = bind_workload(d, w, no_tensor);
  EXPECT_FALSE(result);
  if (result)
    return {};
  EXPECT_FALSE(result.error().remedy.empty());
  return result.error().text();
}

TEST(Binding, AxesComeFromDefinitionAndWorkload) {
  const BoundWorkload b = bound(definition(), workload(3));
  EXPECT_EQ(b.axes, (Bindings{{"m", 3}, {"n", 8}, {"k", 4}}));
  EXPECT_EQ(b.axes_text, "m=3"); // what tells workloads apart: variable axes only
}

TEST(Binding, AConstantAxisCannotBeRebound) {
  Workload w = workload(3);
  w.axes.emplace_back("n", 9);
  EXPECT_EQ(bound(definition(), w).axes.at("n"), 8);
}

TEST(Binding, SizesAreInBytesOfTheStorageType) {
  const BoundWorkload b = bound(definition(), workload(3));
  ASSERT_EQ(b.inputs.size(), 2U);
  EXPECT_EQ(b.inputs[0].bytes, 3U * 4 * 4);
  EXPECT_EQ(b.inputs[1].bytes, 3U * 4);
  EXPECT_THAT(b.inputs[0].draw.shape, ElementsAre(3, 4));
  ASSERT_EQ(b.outputs.size(), 1U);
  EXPECT_EQ(b.outputs[0].bytes, 3U * 8 * 2);
  EXPECT_EQ(b.outputs[0].elements, 24);
  EXPECT_EQ(b.outputs[0].row, 8);
  EXPECT_THAT(b.outputs[0].shape, ElementsAre(3, 8));
}

TEST(Binding, AZeroDimensionalTensorHasOneElement) {
  Definition d = definition();
  d.inputs[0].shape = std::vector<std::string>{};
  d.outputs[0].shape = std::vector<std::string>{};
  const BoundWorkload b = bound(d, workload(3));
  EXPECT_EQ(b.inputs[0].bytes, 4U);
  EXPECT_EQ(b.outputs[0].elements, 1);
  EXPECT_EQ(b.outputs[0].row, 1);
}

TEST(Binding, ArgumentsAreInputsInPlaceThenOutputsThenVariableAxes) {
  using Kind = Argument::Kind;
  const BoundWorkload b = bound(definition(), workload(3));
  std::vector<Kind> kinds;
  for (const Argument& a : b.arguments)
    kinds.push_back(a.kind);
  EXPECT_THAT(kinds, ElementsAre(Kind::input, Kind::float32, Kind::input, Kind::integer,
                                 Kind::float64, Kind::output, Kind::integer));
  EXPECT_EQ(b.arguments[2].index, 1U) << "the second tensor, although the third input";
  EXPECT_EQ(b.arguments[3].index, 1U) << "the second scalar";
  EXPECT_EQ(b.arguments[4].index, 2U);
  EXPECT_EQ(b.arguments[5].index, 0U);
  EXPECT_EQ(b.arguments[6].integer, 3);
  EXPECT_GE(b.arguments[6].index, b.scalars.size())
      << "an axis must not be taken for a scalar input";
}

TEST(Binding, ScalarsAreFixedByTheWorkloadThenTheRuleThenDrawn) {
  Definition d = definition();
  d.ext.inputs["scale"] = {.low = -2, .high = 2, .value = 1.5};
  d.ext.inputs["count"] = {.low = 1, .high = 9};
  Workload w = workload(3);
  w.inputs.emplace_back("shift", ScalarInput{.value = 0.25});
  BoundWorkload b = bound(d, w);
  ASSERT_EQ(b.scalars.size(), 3U);
  EXPECT_EQ(b.scalars[0].value, 1.5);
  EXPECT_FALSE(b.scalars[1].value.has_value());
  EXPECT_EQ(b.scalars[1].low, 1);
  EXPECT_EQ(b.scalars[1].high, 9);
  EXPECT_EQ(b.scalars[2].value, 0.25);

  w.inputs.emplace_back("scale", ScalarInput{.value = 3});
  b = bound(d, w);
  EXPECT_EQ(b.scalars[0].value, 3);
  EXPECT_EQ(b.scalars[0].low, -2) << "the range stays that of the rule";
}

TEST(Binding, RulesShapeWhatIsDrawn) {
  Definition d = definition();
  d.ext.inputs["rows"] = {.kind = "indices", .limit = "2 * m + 1"};
  d.ext.inputs["x"] = {.scale = 0.5, .classes = {"sparse", "normal"}};
  const BoundWorkload b = bound(d, workload(3));
  EXPECT_EQ(b.inputs[1].draw.kind, "indices");
  EXPECT_EQ(b.inputs[1].draw.limit, 7);
  EXPECT_EQ(b.inputs[0].draw.scale, 0.5);
  EXPECT_THAT(b.inputs[0].classes, ElementsAre(InputClass::normal, InputClass::sparse))
      << "in the order of the enumeration";
}

TEST(Binding, WithoutARuleEveryClassThatAReductionSurvivesIsLegal) {
  const BoundWorkload b = bound(definition(), workload(3));
  EXPECT_EQ(b.inputs[0].classes, applicable_classes(b.inputs[0].draw));
  EXPECT_THAT(b.inputs[0].classes, testing::Not(testing::Contains(InputClass::specials)));
}

TEST(Binding, TrafficIsCountedFromTheTensorsUnlessTheDefinitionSays) {
  Definition d = definition();
  const BoundWorkload counted = bound(d, workload(3));
  EXPECT_EQ(counted.flops, 2 * 3 * 8 * 4);
  EXPECT_EQ(counted.bytes_read, 3 * 4 * 4 + 3 * 4);
  EXPECT_EQ(counted.bytes_written, 3 * 8 * 2);
  d.ext.bytes_read = "m";
  d.ext.bytes_written = "2 * m";
  d.ext.flops.clear();
  const BoundWorkload told = bound(d, workload(3));
  EXPECT_EQ(told.bytes_read, 3);
  EXPECT_EQ(told.bytes_written, 6);
  EXPECT_EQ(told.flops, 0);
}

TEST(Binding, TheDeclaredToleranceWinsOverTheDefault) {
  Definition d = definition();
  EXPECT_EQ(bound(d, workload(3)).outputs[0].tolerance.rtol,
            default_tolerance(DType::bfloat16).rtol);
  EXPECT_EQ(bound(d, workload(3)).outputs[0].reduction, 0);
  d.ext.tolerance["y"] = {.eta = 6, .reduction = "k + 1"};
  const BoundOutput declared = bound(d, workload(3)).outputs[0];
  EXPECT_EQ(declared.tolerance.eta, 6);
  EXPECT_EQ(declared.tolerance.rtol, 0);
  EXPECT_EQ(declared.reduction, 5);
}

TEST(Binding, DefaultTolerancesAreWiderThanTheRoundingAndExactForIntegers) {
  for (const DType t : {DType::float64, DType::float32, DType::float16, DType::bfloat16,
                        DType::float8_e4m3fn, DType::float8_e5m2, DType::float4_e2m1}) {
    const TolerancePolicy p = default_tolerance(t);
    EXPECT_FALSE(p.exact) << name(t);
    EXPECT_GT(p.atol_rms, 0) << name(t);
    EXPECT_GT(p.rtol, unit_roundoff(t)) << name(t) << ": the exact answer, stored, must pass";
  }
  for (const DType t : {DType::int64, DType::int32, DType::int16, DType::int8, DType::boolean})
    EXPECT_TRUE(default_tolerance(t).exact) << name(t);
}

TEST(Binding, SafetensorsInputsAreReadForTheResolvedShape) {
  Workload w = workload(3);
  w.inputs.emplace_back("x", SafetensorsInput{.path = "blob.safetensors", .tensor_key = "in"});
  std::size_t bytes = 3 * 4 * 4;
  std::string asked;
  const TensorReader reader =
      [&](const SafetensorsInput& input, DType t,
          std::span<const std::int64_t> shape) -> Result<std::vector<std::byte>> {
    asked = input.path + ":" + input.tensor_key;
    EXPECT_EQ(t, DType::float32);
    EXPECT_THAT(shape, ElementsAre(3, 4));
    return std::vector<std::byte>(bytes, std::byte{7});
  };
  const Result<BoundWorkload> good = bind_workload(definition(), w, reader);
  ASSERT_TRUE(good) << good.error().text();
  EXPECT_EQ(asked, "blob.safetensors:in");
  EXPECT_EQ(good->inputs[0].fixed.size(), bytes);
  EXPECT_TRUE(good->inputs[1].fixed.empty());

  bytes -= 1;
  const Result<BoundWorkload> cut = bind_workload(definition(), w, reader);
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().kind, ErrorKind::invalid_input);
  EXPECT_THAT(cut.error().message, HasSubstr("`x` has 47 bytes, its shape needs 48"));

  const Result<BoundWorkload> unreadable = bind_workload(definition(), w, no_tensor);
  ASSERT_FALSE(unreadable);
  EXPECT_EQ(unreadable.error().kind, ErrorKind::not_found) << "the reader's own error, unchanged";
}

TEST(Binding, AVariableAxisNeedsAValue) {
  Workload w = workload(3);
  w.axes.front().first = "rows";
  EXPECT_THAT(error_of(definition(), w),
              HasSubstr("workload `w-1` gives no value for axis `m` of `affine`"));
}

TEST(Binding, AShapeNamesDeclaredAxesOnly) {
  Definition d = definition();
  d.outputs[0].shape = {{"m", "q"}};
  EXPECT_THAT(error_of(d, workload(3)), HasSubstr("tensor `y` uses axis `q`"));
  d = definition();
  d.inputs[0].shape = {{"q"}};
  EXPECT_THAT(error_of(d, workload(3)), HasSubstr("tensor `x` uses axis `q`"));
}

TEST(Binding, ShapesThatCannotFitAreRefusedWithoutOverflow) {
  EXPECT_EQ(bound(definition(), workload(std::int64_t{1} << 30)).outputs[0].elements,
            std::int64_t{1} << 33);
  EXPECT_THAT(error_of(definition(), workload((std::int64_t{1} << 30) + 1)),
              HasSubstr("tensor `y` would have more than"));
  EXPECT_THAT(error_of(definition(), workload(std::int64_t{1} << 62)),
              HasSubstr("would have more than"));
  Definition square = definition();
  square.inputs[0].shape = {{"m", "m", "m"}};
  EXPECT_THAT(error_of(square, workload(std::int64_t{1} << 32)),
              HasSubstr("tensor `x` would have more than"));
}

/// The places and values of the k greatest of each row of x.
Definition topk(std::int64_t k = 4) {
  Definition d;
  d.name = "topk";
  d.axes = {{.name = "m", .value = {}}, {.name = "n", .value = 8}, {.name = "k", .value = k}};
  d.inputs = {{.name = "s", .shape = {}, .dtype = DType::float32},
              {.name = "b", .shape = {{"n"}}, .dtype = DType::float32},
              {.name = "x", .shape = {{"m", "n"}}, .dtype = DType::float32}};
  d.outputs = {{.name = "places", .shape = {{"m", "k"}}, .dtype = DType::int32},
               {.name = "values", .shape = {{"m", "k"}}, .dtype = DType::float32}};
  d.ext.tolerance["places"] = {.ranks = "x", .values = "values"};
  d.ext.tolerance["values"] = {.exact = true};
  return d;
}

TEST(Binding, RankingsFindTheirTensors) {
  const BoundWorkload b = bound(topk(), workload(3));
  ASSERT_TRUE(b.outputs[0].ranking);
  EXPECT_EQ(b.outputs[0].ranking->input, 1U) << "scalars are not among the tensors";
  EXPECT_EQ(b.outputs[0].ranking->values, 1U);
  EXPECT_EQ(b.outputs[0].ranking->rows, 3);
  EXPECT_EQ(b.outputs[0].ranking->n, 8);
  EXPECT_FALSE(b.outputs[1].ranking);
}

TEST(Binding, OnlyRankedInputsHaveNearTies) {
  const auto has = [](const BoundInput& in) {
    return std::ranges::find(in.classes, InputClass::near_ties) != in.classes.end();
  };
  Definition d = topk();
  const BoundWorkload b = bound(d, workload(3));
  EXPECT_EQ(b.inputs[1].draw.ranked, 4);
  EXPECT_TRUE(has(b.inputs[1]));
  EXPECT_EQ(b.inputs[0].draw.ranked, 0);
  EXPECT_FALSE(has(b.inputs[0]));
  d.ext.inputs["x"] = {.classes = {"normal"}};
  EXPECT_FALSE(has(bound(d, workload(3)).inputs[1])) << "the contract decides";
}

TEST(Binding, RankingsMustFit) {
  EXPECT_THAT(error_of(topk(9), workload(3)), HasSubstr("9 places in a row, of 8 elements of `x`"));
  EXPECT_TRUE(bound(topk(8), workload(3)).outputs[0].ranking);
  Definition d = topk();
  d.ext.tolerance["places"].ranks = "s";
  EXPECT_THAT(error_of(d, workload(3)), HasSubstr("ranks `s`, which is no tensor"));
  d = topk();
  d.outputs[1].dtype = DType::bfloat16;
  EXPECT_THAT(error_of(d, workload(3)), HasSubstr("names `values` as its values"));
}

/// The k best of the tokens that sequences of `n` have in pages of 4.
Definition selector() {
  Definition d;
  d.name = "selector";
  d.axes = {{.name = "m", .value = {}},    {.name = "pages", .value = 6},
            {.name = "width", .value = 3}, {.name = "tokens", .value = 4},
            {.name = "bytes", .value = 9}, {.name = "k", .value = 8}};
  d.inputs = {{.name = "cache", .shape = {{"pages", "tokens", "bytes"}}, .dtype = DType::int8},
              {.name = "n", .shape = {{"m"}}, .dtype = DType::int32},
              {.name = "table", .shape = {{"m", "width"}}, .dtype = DType::int32}};
  d.outputs = {{.name = "best", .shape = {{"m", "k"}}, .dtype = DType::int32}};
  d.ext.inputs["cache"] = {.kind = "fp8_pages"};
  d.ext.inputs["n"] = {
      .kind = "lengths", .limit = "width * tokens", .page = "tokens", .edges = {"k", "k - 1"}};
  d.ext.inputs["table"] = {.kind = "block_table", .limit = "pages", .lengths = "n"};
  d.ext.tolerance["best"] = {.eta = 4, .selects = "width * tokens"};
  return d;
}

TEST(Binding, BlockTablesKnowTheirSequences) {
  Definition d = selector();
  const BoundWorkload b = bound(d, workload(3));
  const LengthSpec& n = b.inputs[2].draw.lengths.value();
  EXPECT_EQ(n.tensor, 1U);
  EXPECT_EQ(n.limit, 12);
  EXPECT_EQ(n.page, 4);
  EXPECT_THAT(n.edges, ElementsAre(8, 7));
  EXPECT_EQ(b.inputs[2].draw.limit, 6);
  d.ext.inputs["n"].classes = {"mask_edges"};
  EXPECT_THAT(bound(d, workload(3)).inputs[2].classes, ElementsAre(InputClass::mask_edges))
      << "the same class for both, or lengths and pages do not fit";
  d = selector();
  d.axes[4].value = 4;
  EXPECT_THAT(error_of(d, workload(3)), HasSubstr("4 bytes a vector, and four are its scale"));
}

TEST(Binding, SelectionsCountTheirCandidates) {
  const auto near = [](const BoundWorkload& b) {
    const std::vector<InputClass>& all = b.inputs[0].classes;
    return std::ranges::find(all, InputClass::near_ties) != all.end();
  };
  Definition d = selector();
  const BoundWorkload b = bound(d, workload(3));
  ASSERT_TRUE(b.outputs[0].selection);
  EXPECT_EQ(b.outputs[0].selection->rows, 3);
  EXPECT_EQ(b.outputs[0].selection->n, 12);
  EXPECT_TRUE(b.outputs[0].has_many_answers());
  EXPECT_TRUE(is_contested(b));
  EXPECT_TRUE(near(b));
  d.ext.tolerance["best"].selects = "2 * tokens"; // as many as there is room for
  EXPECT_FALSE(is_contested(bound(d, workload(3))));
  EXPECT_FALSE(near(bound(d, workload(3))));
  EXPECT_TRUE(is_contested(bound(definition(), workload(3)))) << "selects nothing";
  d.ext.tolerance["best"].selects = "-1 * tokens";
  EXPECT_THAT(error_of(d, workload(3)), HasSubstr("selects among -4 candidates"));
}

TEST(Binding, ExpressionsThatFailAreErrors) {
  Definition d = definition();
  d.ext.flops = "2 * q";
  EXPECT_FALSE(bind_workload(d, workload(3), no_tensor));
  d = definition();
  d.ext.bytes_read = "m *";
  EXPECT_FALSE(bind_workload(d, workload(3), no_tensor));
  d = definition();
  d.ext.tolerance["y"] = {.reduction = "k / (m - m)"};
  EXPECT_FALSE(bind_workload(d, workload(3), no_tensor));
  d = definition();
  d.ext.inputs["rows"] = {.kind = "indices", .limit = "nothing"};
  EXPECT_FALSE(bind_workload(d, workload(3), no_tensor));
}

} // namespace
} // namespace kw
