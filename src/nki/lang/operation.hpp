// SPDX-License-Identifier: Apache-2.0
// The operators that NKI instructions take (`op=`): what they compute and which engines have them.
// Source: NKI API Common Fields, "Supported Math Operators" and "Supported Activation Functions",
// Neuron SDK 2.24.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kw::nki {

enum class Operation : std::uint8_t {
  none,
  // bitvec: integers as bit patterns
  invert,
  bitwise_and,
  bitwise_or,
  bitwise_xor,
  left_shift,
  right_shift, ///< logical
  // arithmetic, in float32
  add,
  subtract,
  multiply,
  divide,
  maximum,
  minimum,
  power,
  mod,  ///< sign of the divisor
  fmod, ///< sign of the dividend
  equal,
  not_equal,
  greater,
  greater_equal,
  less,
  less_equal,
  logical_and,
  logical_or,
  logical_xor,
  // one operand
  logical_not,
  rsqrt,
  reciprocal,
  abs,
  copy,
  negative,
  sign,
  trunc,
  floor,
  ceil,
  square,
  sqrt,
  exp,
  log,
  sin,
  cos,
  tan,
  tanh,
  arctan,
  sigmoid,
  relu,
  gelu,
  gelu_dx,
  gelu_apprx_tanh,
  gelu_apprx_sigmoid,
  gelu_apprx_sigmoid_dx,
  silu,
  silu_dx,
  erf,
  erf_dx,
  softplus,
  mish,
};
inline constexpr int operation_count = static_cast<int>(Operation::mish) + 1;

enum class Engine : std::uint8_t { none, tensor, vector, scalar, gpsimd, dma };
[[nodiscard]] std::string_view name(Engine e); ///< "VectorE"

[[nodiscard]] std::string_view name(Operation op); ///< as in nki.language
/// Names of nki.language and of NumPy ("amax", "max" as an operator is maximum).
[[nodiscard]] std::optional<Operation> operation_from_name(std::string_view s);
[[nodiscard]] bool is_bitvec(Operation op);
[[nodiscard]] bool is_unary(Operation op);
[[nodiscard]] bool is_comparison(Operation op); ///< and logical ones: the result is a truth value
/// May stand in `reduce_op` and tensor_reduce.
[[nodiscard]] bool may_reduce(Operation op);
/// Whether nisa.activation takes it, and for which inputs it is right: outside [low, high] the
/// ScalarEngine gives garbage.
struct ActivationRange {
  float low, high;
  bool both_signs; ///< the range holds for |x|
};
[[nodiscard]] std::optional<ActivationRange> activation_range(Operation op);
/// Whether the engine has it as an operator of tensor_tensor or tensor_scalar.
[[nodiscard]] bool has(Engine engine, Operation op);

/// float32 in, float32 out; unary operators look at `a` alone.
[[nodiscard]] float apply(Operation op, float a, float b);
/// Bit patterns, for bitvec operators.
[[nodiscard]] std::int64_t apply_bits(Operation op, std::int64_t a, std::int64_t b, int width);
/// What a reduction begins with.
[[nodiscard]] float identity(Operation op);

/// y[i] = op(a[i * step_a], b[i * step_b]), steps 0 or 1; y may be a or b.
void apply(Operation op, const float* a, int step_a, const float* b, int step_b, float* y,
           std::int64_t n);

} // namespace kw::nki
