// SPDX-License-Identifier: Apache-2.0
// The operator contract. Schema: FlashInfer-Bench Definition, plus the extension key `x_kernwright`
// (docs/formats.md). Plain records; codecs live in formats/.
#pragma once

#include "base/dtype.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kw {

struct Axis {
  std::string name;
  std::optional<std::int64_t> value; ///< set = const axis, empty = variable axis
  std::string description;
  std::string unknown; ///< unknown keys as JSON text, kept for round-trips
  [[nodiscard]] bool is_variable() const { return !value.has_value(); }
};

struct TensorSpec {
  std::string name;
  std::optional<std::vector<std::string>> shape; ///< axis names; nullopt = Python scalar, {} = 0-D
  DType dtype = DType::float32;
  std::string description;
  std::string unknown;
  [[nodiscard]] bool is_scalar() const { return !shape.has_value(); }
};

/// How inputs of one tensor are drawn (x_kernwright.inputs.<name>).
struct InputRule {
  /// "any" (all input classes), "normal", "uniform", "l2_normalized" (last axis), "positive",
  /// "constant" (value), "indices" (0..limit-1), "positions" (0..limit-1, ascending),
  /// "offsets" (0..limit, ascending from 0 to limit: where packed sequences begin),
  /// "slots" (different ones of 0..limit-1, then -1 to the end of the row),
  /// "lengths" (0..limit tokens of a sequence), "block_table" (pages of 0..limit-1 that the
  /// sequences of `lengths` lie in), "fp8_pages" (a cache of float8 vectors with a scale each)
  std::string kind = "any";
  double low = 0, high = 1;         ///< uniform / positive range; slots: share of a row in use
  double scale = 1;                 ///< multiplies the drawn values
  std::optional<double> value;      ///< constant
  std::string limit;                ///< expression over axes for all that count
  std::string page;                 ///< lengths: expression, tokens of a page
  std::vector<std::string> edges;   ///< lengths: expressions, where kernels change their ways
  std::string lengths;              ///< block_table: the input of kind lengths
  std::vector<std::string> classes; ///< restrict to these input classes (empty = all that apply)
  bool hold = false; ///< drawn once, parts of it anew for every trial (judge/held.hpp)
  /// Input of kind slots, indices or block_table, whose `limit` is the number of rows of this one:
  /// only rows that it names are drawn anew for every trial (judge/held.hpp). "" = all are
  std::string reached_by;
  std::string near_ties_entry; ///< function of the C++ oracle that gives it near-ties
};

/// How one output is compared with the fp64 oracle (x_kernwright.tolerance.<name>).
///   bound_i = eta * (u_out |y_i| + u_acc S_i) + atol_rms * RMS(y) + rtol |y_i|
/// S_i is the oracle's magnitude (sum of |terms| whose rounding the contract allows); u_acc the
/// unit roundoff of `accumulate`. An output without magnitudes uses rtol/atol_rms alone.
struct TolerancePolicy {
  double eta = 0;
  double eta_one_signed_sqrt_k = 0; ///< one-signed inputs: threshold 4 + sqrt(K)*this (K below)
  std::string reduction;            ///< expression for K, the reduction length
  DType accumulate = DType::float32;
  double rtol = 0;
  double atol_rms = 0;
  bool exact = false; ///< bit-exact (integers)
  /// The output has, per row, the places of the k greatest elements of this input, in descending
  /// order; where elements are equal any order is right. "" = it has not.
  std::string ranks;
  std::string values; ///< with `ranks`: the output with the elements at these places, may be ""
  /// The output has, per row, a place drawn at random from the softmax of this input's row. "" =
  /// not
  std::string samples;
  double top_p = 1; ///< with `samples`: only of the most probable places that have this mass
  std::string seed; ///< with `samples`: the integer input that all randomness comes from
  /// Expression: the output has, per row, the ids of the greatest among so many candidates, in any
  /// order, then -1. The oracle gives ids, scores and magnitudes of the candidates (docs/abi.md);
  /// an error of a score is at most eta u_acc S. "" = it has not.
  std::string selects;
};

/// The trusted high-precision reference. C++: a source compiled at run time, fp64 outputs.
struct OracleSpec {
  std::string source;      ///< file name relative to the operator folder; empty = Python reference
  std::string source_text; ///< content, filled by the loader
  std::string entry;       ///< extern "C" symbol; outputs and magnitudes as double* (docs/abi.md)
  std::string project_entry; ///< optional: Y*X for random X (Freivalds), see docs/abi.md
  std::string block_entry;   ///< optional: exact sub-block rows x columns; alone: by rows
};

struct BaselineSpec {
  std::string name; ///< e.g. "plain-c++"
  std::string source;
  std::string source_text;
  std::string entry;
};

/// A trusted peer that is timed on the same doorbell but never promotable.
struct PeerSpec {
  std::string name; ///< e.g. "openblas", "pytorch"
  std::string kind; ///< "c++" (compiled with `link`) or "python"
  std::string source;
  std::string source_text;
  std::string entry;
  std::vector<std::string> link; ///< e.g. {"openblas"}
};

/// Everything Kernwright needs beyond the upstream schema.
struct KernwrightExt {
  bool present = false;
  OracleSpec oracle;
  std::optional<BaselineSpec> baseline;
  std::vector<PeerSpec> peers;
  std::map<std::string, InputRule> inputs;
  std::map<std::string, TolerancePolicy> tolerance;
  std::string flops;      ///< expression over axes: floating-point operations of one call
  std::string bytes_read; ///< expression over axes: compulsory bytes read by one call
  std::string bytes_written;
  std::string protocol = "warm"; ///< "warm" or "cold"
  std::string numerics = "any";  ///< which arithmetic the contract allows, prose for people
  int threads = 1;
  std::string min_tier = "T2";
  std::string reference_file; ///< where the reference text comes from when the JSON has none
  std::vector<std::string> templates; ///< paths of *.space.json, relative to the operator folder
  std::string family;                 ///< e.g. "gemm", "row-reduction", "elementwise", "delta-rule"
};

struct Definition {
  std::string name;
  std::string op_type;
  std::vector<Axis> axes;         ///< in file order
  std::vector<TensorSpec> inputs; ///< in file order: the calling convention
  std::vector<TensorSpec> outputs;
  std::string reference; ///< Python text with a top-level `def run`
  std::vector<std::string> tags;
  std::string description;
  std::vector<std::string> constraints;
  KernwrightExt ext;
  std::string unknown;  ///< unknown top-level keys as JSON text
  std::string ext_json; ///< x_kernwright as written, for round-trips
  std::string file;     ///< where it was read from ("" if made in memory)
  std::string folder;   ///< folder of `file`: resolves oracle, baseline, templates

  [[nodiscard]] const Axis* axis(const std::string& axis_name) const {
    for (const Axis& a : axes)
      if (a.name == axis_name)
        return &a;
    return nullptr;
  }
};

} // namespace kw
