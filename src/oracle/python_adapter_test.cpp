// SPDX-License-Identifier: Apache-2.0
// The generated text; that it runs is shown end to end.
#include "oracle/python_adapter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string numpy_text = "def run(x, a, w):\n    return x\n";
const std::string torch_text = "import torch\ndef run(x, a, w):\n    return x\n";
const std::vector<std::string> all_torch = {"float64",  "float32",       "float16",
                                            "bfloat16", "float8_e4m3fn", "float8_e5m2",
                                            "int64",    "int32",         "uint8"};

/// x[rows, n] and a scalar a and w[n] to y[rows, n] and norm[rows]; n = 16.
Definition definition(DType x = DType::float32) {
  Definition d;
  d.name = "scale";
  d.axes = {{.name = "rows", .value = {}}, {.name = "n", .value = 16}};
  d.inputs = {{.name = "x", .shape = {{"rows", "n"}}, .dtype = x},
              {.name = "a", .shape = {}, .dtype = DType::float32},
              {.name = "w", .shape = {{"n"}}, .dtype = DType::int32}};
  d.outputs = {{.name = "y", .shape = {{"rows", "n"}}, .dtype = DType::bfloat16},
               {.name = "norm", .shape = {{"rows"}}, .dtype = DType::float32}};
  return d;
}

PythonAdapter adapter_of(const Definition& d, const std::string& text,
                         PythonRole role = PythonRole::reference,
                         const std::vector<std::string>& torch_dtypes = all_torch) {
  Result<PythonAdapter> adapter = make_python_adapter(d, text, "run", role, torch_dtypes);
  EXPECT_TRUE(adapter) << (adapter ? "" : adapter.error().text());
  return adapter ? *adapter : PythonAdapter{};
}

TEST(PythonAdapter, TheFrameworkIsTheOneTheTextImports) {
  EXPECT_FALSE(adapter_of(definition(), numpy_text).torch);
  EXPECT_THAT(adapter_of(definition(), numpy_text).text, HasSubstr("KW_FRAMEWORK = \"numpy\""));
  EXPECT_THAT(adapter_of(definition(), numpy_text).text, Not(HasSubstr("import torch")));
  for (const std::string& text :
       {torch_text, std::string("from torch import nn\ndef run(x, a, w): return x\n")}) {
    EXPECT_TRUE(adapter_of(definition(), text).torch);
    EXPECT_THAT(adapter_of(definition(), text).text, HasSubstr("KW_FRAMEWORK = \"torch\""));
  }
}

TEST(PythonAdapter, ArgumentsAreInputsOutputsAndVariableAxes) {
  const PythonAdapter adapter = adapter_of(definition(), numpy_text);
  EXPECT_EQ(adapter.entry, "_kernwright_entry");
  EXPECT_THAT(adapter.text,
              HasSubstr("def _kernwright_entry(x, a, w, _out_y, _out_norm, rows, ):\n"));
  EXPECT_THAT(adapter.text, HasSubstr("    n = 16\n")) << "constant axes are known inside";
}

TEST(PythonAdapter, ShapesAreTuplesOfAxes) {
  const PythonAdapter adapter = adapter_of(definition(), numpy_text);
  EXPECT_THAT(adapter.text, HasSubstr("x = x.copy().reshape((rows, n))"));
  EXPECT_THAT(adapter.text, HasSubstr("w = w.copy().reshape((n,))")) << "(n) would be a number";
  EXPECT_THAT(adapter.text, Not(HasSubstr("a = a"))) << "scalars stay what they are";
  Definition d = definition();
  d.outputs[1].shape = std::vector<std::string>{};
  EXPECT_THAT(adapter_of(d, numpy_text).text, HasSubstr("_out_norm.reshape(())"));
}

TEST(PythonAdapter, AReferenceWritesFloat64FromCopies) {
  const PythonAdapter adapter = adapter_of(definition(), torch_text);
  EXPECT_THAT(adapter.text,
              HasSubstr("KW_DTYPES = [\"float32\", \"int32\", \"float64\", \"float64\", ]"))
      << "scalars have no buffer";
  EXPECT_THAT(adapter.text, HasSubstr("x = x.clone().reshape("));
  EXPECT_THAT(adapter.text, HasSubstr("_results = _function(x, a, w, )"));
  EXPECT_THAT(adapter.text,
              HasSubstr("_views = (_out_y.reshape((rows, n)), _out_norm.reshape((rows,)), )"));
  EXPECT_THAT(adapter.text, HasSubstr("raise ValueError"))
      << "another number of results than outputs";
}

TEST(PythonAdapter, APeerWritesItsOutputsInPlace) {
  const PythonAdapter adapter = adapter_of(definition(), torch_text, PythonRole::peer);
  EXPECT_THAT(adapter.text,
              HasSubstr("KW_DTYPES = [\"float32\", \"int32\", \"bfloat16\", \"float32\", ]"));
  EXPECT_THAT(adapter.text, HasSubstr("x = x.reshape((rows, n))")) << "no copy is timed";
  EXPECT_THAT(adapter.text, HasSubstr("    _function(x, a, w, _out_y.reshape((rows, n)), "
                                      "_out_norm.reshape((rows,)), rows, )\n"));
  EXPECT_THAT(adapter.text, Not(HasSubstr("_results")));
}

TEST(PythonAdapter, NumPyGetsBfloat16AndFloat8Decoded) {
  for (const DType t : {DType::bfloat16, DType::float8_e4m3fn, DType::float8_e5m2}) {
    const PythonAdapter adapter = adapter_of(definition(t), numpy_text);
    const std::string type{name(t)};
    EXPECT_EQ(adapter.upcast, "x") << type;
    EXPECT_THAT(adapter.text, HasSubstr("KW_DTYPES = [\"" + type + "\""));
    EXPECT_THAT(adapter.text, HasSubstr("x = _decode(x, \"" + type + "\").reshape((rows, n))"));
  }
  EXPECT_EQ(adapter_of(definition(DType::float16), numpy_text).upcast, "");
}

TEST(PythonAdapter, TorchDecodesOnlyWhatItLacks) {
  EXPECT_EQ(adapter_of(definition(DType::float8_e4m3fn), torch_text).upcast, "");
  const PythonAdapter old = adapter_of(definition(DType::float8_e4m3fn), torch_text,
                                       PythonRole::reference, {"float32", "int32"});
  EXPECT_EQ(old.upcast, "x");
  EXPECT_THAT(old.text, HasSubstr("KW_DTYPES = [\"uint8\", \"int32\""));
  EXPECT_THAT(
      old.text,
      HasSubstr("x = torch.from_numpy(_decode(x.numpy(), \"float8_e4m3fn\")).reshape((rows, n))"));
}

TEST(PythonAdapter, EveryUpcastInputIsRecorded) {
  Definition d = definition(DType::bfloat16);
  d.inputs[2].dtype = DType::float8_e5m2;
  EXPECT_EQ(adapter_of(d, numpy_text).upcast, "x, w");
}

TEST(PythonAdapter, Float4IsRefusedWithAWayOut) {
  const Result<PythonAdapter> adapter = make_python_adapter(
      definition(DType::float4_e2m1), numpy_text, "run", PythonRole::reference, all_torch);
  ASSERT_FALSE(adapter);
  EXPECT_EQ(adapter.error().kind, ErrorKind::unsupported);
  EXPECT_THAT(adapter.error().message, HasSubstr("`x` is float4"));
  EXPECT_THAT(adapter.error().remedy, HasSubstr("C++"));
}

TEST(PythonAdapter, TheUsersTextIsOneLiteral) {
  const std::string text =
      "def run(x, a, w):\n    \"\"\"{braces} \\d 'quotes' \xc3\xa9\"\"\"\n\treturn x\n";
  const PythonAdapter adapter = adapter_of(definition(), text);
  EXPECT_THAT(adapter.text, HasSubstr("exec(compile(\"def run(x, a, w):\\n    \\\"\\\"\\\"{braces} "
                                      "\\\\d 'quotes' \xc3\xa9\\\"\\\"\\\"\\n"
                                      "\\treturn x\\n\", \"scale.py\", \"exec\"), _user)"));
  EXPECT_THAT(adapter.text, HasSubstr("_function = _user[\"run\"]"));
}

TEST(PythonAdapter, TextThatIsNotUtf8IsAnError) {
  const Result<PythonAdapter> adapter = make_python_adapter(
      definition(), "# caf\xe9\n" + numpy_text, "run", PythonRole::reference, all_torch);
  ASSERT_FALSE(adapter);
  EXPECT_EQ(adapter.error().kind, ErrorKind::invalid_input);
  EXPECT_THAT(adapter.error().message, HasSubstr("not UTF-8"));
  EXPECT_FALSE(adapter.error().remedy.empty());
}

} // namespace
} // namespace kw
