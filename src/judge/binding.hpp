// SPDX-License-Identifier: Apache-2.0
// A Definition met with one Workload: every shape a number, every argument in its register order.
#pragma once

#include "base/expr.hpp"
#include "base/result.hpp"
#include "model/definition.hpp"
#include "model/workload.hpp"
#include "runner/session.hpp"
#include "tensor/compare.hpp"
#include "tensor/generate.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kw {

/// Rows of an input that another one names.
struct BoundReach {
  std::size_t input = 0;          ///< with the indices
  std::int64_t rows = 1, row = 1; ///< how many there are, and elements of each
};

struct BoundInput {
  std::string name;
  DrawSpec draw;
  std::size_t bytes = 0;
  std::vector<std::byte> fixed;    ///< content of a safetensors input; empty = drawn per trial
  std::vector<InputClass> classes; ///< input classes that are legal for it; empty = kind-fixed
  bool hold = false;               ///< as InputRule::hold
  std::optional<BoundReach> reach; ///< as InputRule::reached_by
};

struct BoundScalar {
  std::string name;
  DType dtype = DType::float32;
  std::optional<double> value; ///< empty = drawn per trial from [low, high)
  double low = 0, high = 1;
};

/// An output of places, see TolerancePolicy::ranks.
struct BoundRanking {
  std::size_t input = 0;             ///< that is ranked
  std::optional<std::size_t> values; ///< output with the elements at the places
  std::int64_t rows = 1, n = 1;      ///< of the input; k is the output's row
};

/// An output of places drawn at random, see TolerancePolicy::samples.
struct BoundSampling {
  std::size_t input = 0; ///< with the logits
  std::size_t seed = 0;  ///< input that all randomness comes from
  std::int64_t rows = 1, n = 1;
};

/// An output of ids, see TolerancePolicy::selects.
struct BoundSelection {
  std::int64_t rows = 1, n = 1; ///< candidates of a row; k is the output's row
};

struct BoundOutput {
  std::string name;
  DType dtype = DType::float32;
  std::vector<std::int64_t> shape;
  std::int64_t elements = 1;
  std::int64_t row = 1; ///< length of the last axis
  std::size_t bytes = 0;
  TolerancePolicy tolerance;
  double reduction = 0; ///< K, the reduction length (0 = none declared)
  std::optional<BoundRanking> ranking;
  std::optional<BoundSampling> sampling;
  std::optional<BoundSelection> selection;
  /// Several answers are right: it is held against an input or the oracle's scores, not against
  /// values.
  [[nodiscard]] bool has_many_answers() const { return ranking || sampling || selection; }
};

struct BoundWorkload {
  Workload workload;
  Bindings axes; ///< const and variable axes
  std::vector<BoundInput> inputs;
  std::vector<BoundScalar> scalars;
  std::vector<BoundOutput> outputs;
  /// Template argument list: inputs (scalars in place), outputs, variable axes. Scalars carry their
  /// index into `scalars` in Argument::index until a trial fills the value.
  std::vector<Argument> arguments;
  double flops = 0, bytes_read = 0, bytes_written = 0;
  std::string axes_text; ///< "m=16"
  /// Workloads whose calls cannot be told apart (equal shapes, everything drawn): the first of them
  /// is timed for all, with the weight of all. `twins`: uuids of the others.
  std::vector<std::string> twins;
  double timing_weight = 1;
  bool timed = true; ///< false: a twin of an earlier workload
};

/// `read_input` resolves a safetensors input to the tensor's bytes.
using TensorReader = std::function<Result<std::vector<std::byte>>(const SafetensorsInput&, DType,
                                                                  std::span<const std::int64_t>)>;

/// Tolerances for an output whose definition states none, by dtype (torch.testing-like relative
/// part, absolute part tied to the output's RMS so that all-zero outputs cannot pass).
TolerancePolicy default_tolerance(DType dtype);

/// Errors: an axis without a value, a shape that does not fit memory, an expression that fails.
Result<BoundWorkload> bind_workload(const Definition& definition, const Workload& workload,
                                    const TensorReader& read_input);

/// For ordering by effort: floating-point operations, and 8 for every byte.
double cost(const BoundWorkload& w);
/// Whether some output selects among more candidates than it has room for, or none selects at all:
/// otherwise nothing of what the scores depend on matters.
bool is_contested(const BoundWorkload& w);
/// Whether no input is a tensor that the workload brings.
bool all_drawn(const BoundWorkload& w);

/// Fills twins, timing_weight and timed.
void join_twins(std::vector<BoundWorkload>& workloads);

} // namespace kw
