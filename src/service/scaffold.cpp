// SPDX-License-Identifier: Apache-2.0
// The scaffold is a complete, working operator (y = a x + b): it passes `check` and judges its own
// baseline before a line of it is edited, so that every later failure is the user's latest edit.
#include "service/scaffold.hpp"

#include "os/files.hpp"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>

namespace kw {
namespace {

constexpr const char* definition_text = R"json({{
  "name": "{name}",
  "op_type": "{name}",
  "description": "y = a * x + b, element by element. Replace it by your operator.",
  "axes": {{
    "rows": {{"type": "var", "description": "independent rows"}},
    "n": {{"type": "const", "value": 1024}}
  }},
  "inputs": {{
    "x": {{"shape": ["rows", "n"], "dtype": "float32"}},
    "b": {{"shape": ["n"], "dtype": "float32"}},
    "a": {{"shape": null, "dtype": "float32"}}
  }},
  "outputs": {{"y": {{"shape": ["rows", "n"], "dtype": "float32"}}}},
  "x_kernwright": {{
    "version": 1,
    "family": "elementwise",
    "threads": 1,
    "protocol": "warm",
    "min_tier": "T2",
    "flops": "2 * rows * n",
    "bytes_read": "4 * (rows * n + n)",
    "bytes_written": "4 * rows * n",
    "reference_file": "reference.py",{oracle}
    "baseline": {{"name": "plain-c++", "source": "baseline.cpp", "entry": "baseline"}},
    "tolerance": {{"y": {tolerance}}},
    "templates": []
  }}
}}
)json";

constexpr const char* workloads_text =
    R"({{"definition": "{name}", "workload": {{"uuid": "{name}-1", "axes": {{"rows": 1}}, "inputs": {{"x": {{"type": "random"}}, "b": {{"type": "random"}}, "a": {{"type": "scalar", "value": 1.5}}}}, "x_kernwright": {{"weight": 1}}}}, "solution": null, "evaluation": null}}
{{"definition": "{name}", "workload": {{"uuid": "{name}-64", "axes": {{"rows": 64}}, "inputs": {{"x": {{"type": "random"}}, "b": {{"type": "random"}}, "a": {{"type": "scalar", "value": 0.75}}}}, "x_kernwright": {{"weight": 2}}}}, "solution": null, "evaluation": null}}
)";

constexpr const char* reference_text = R"(import torch


def run(x, b, a):
    return a * x + b
)";

constexpr const char* numpy_reference_text =
    R"(# Called with NumPy arrays (or torch tensors when this file imports torch); returns the outputs.
import numpy as np


def run(x, b, a):
    return np.float64(a) * x.astype(np.float64) + b.astype(np.float64)
)";

constexpr const char* oracle_text =
    R"(// The trusted reference, in float64. Outputs come in pairs: the value y and the magnitude S, the sum
// of the absolute values of the terms whose rounding the contract allows. The judge accepts
// |got - y| <= eta * (u_out |y| + u_acc S); see docs/numerics.md.
#include <cmath>
#include <cstdint>

extern "C" int oracle(const float* x, const float* b, float a, double* y, double* s, std::int64_t rows) {
  constexpr std::int64_t n = KW_AXIS_n;
  for (std::int64_t i = 0; i < rows * n; ++i) {
    const double product = static_cast<double>(a) * static_cast<double>(x[i]);
    const double offset = static_cast<double>(b[i % n]);
    y[i] = product + offset;
    s[i] = std::fabs(product) + std::fabs(offset);
  }
  return 0;
}
)";

constexpr const char* baseline_text =
    R"(// The plain kernel that candidates must beat: inputs in definition order (scalars by value), outputs,
// variable axes. Returns 0 when done.
#include <cstdint>

extern "C" int baseline(const float* x, const float* b, float a, float* y, std::int64_t rows) {
  constexpr std::int64_t n = KW_AXIS_n;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t i = 0; i < n; ++i)
      y[r * n + i] = a * x[r * n + i] + b[i];
  return 0;
}
)";

bool is_identifier(const std::string& name) {
  return !name.empty() && name.size() <= 120 &&
         std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

} // namespace

Result<std::vector<std::string>> scaffold_operator(const std::string& folder,
                                                   const std::string& name,
                                                   const std::string& reference) {
  if (!is_identifier(name))
    return fail(ErrorKind::invalid_input, fmt::format("`{}` cannot name an operator", name),
                "use letters, digits and underscores, not starting with a digit");
  if (is_dir(folder) || is_file(folder))
    return fail(ErrorKind::refused, "the folder exists already",
                "choose another with --dir; nothing was changed", folder);
  const bool cpp = reference == "c++";
  KW_CHECK(make_dirs(folder));
  std::vector<std::string> written;
  const auto write = [&](const std::string& file, const std::string& text) -> Status {
    const std::string path = join_path(folder, file);
    KW_CHECK(write_file_atomic(path, text));
    written.push_back(path);
    return {};
  };
  const std::string oracle =
      cpp ? "\n    \"oracle\": {\"source\": \"oracle.cpp\", \"entry\": \"oracle\"}," : "";
  const std::string tolerance =
      cpp ? R"({"eta": 4, "accumulate": "float32"})" : R"({"rtol": 1e-6, "atol_rms": 1e-6})";
  KW_CHECK(write(name + ".definition.json",
                 fmt::format(fmt::runtime(definition_text), fmt::arg("name", name),
                             fmt::arg("oracle", oracle), fmt::arg("tolerance", tolerance))));
  KW_CHECK(write(name + ".workloads.jsonl",
                 fmt::format(fmt::runtime(workloads_text), fmt::arg("name", name))));
  KW_CHECK(write("reference.py", cpp ? reference_text : numpy_reference_text));
  if (cpp)
    KW_CHECK(write("oracle.cpp", oracle_text));
  KW_CHECK(write("baseline.cpp", baseline_text));
  return written;
}

} // namespace kw
