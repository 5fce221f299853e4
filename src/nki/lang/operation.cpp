// SPDX-License-Identifier: Apache-2.0
#include "nki/lang/operation.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace kw::nki {
namespace {

using Op = Operation;

constexpr std::array<std::string_view, operation_count> names = {
    "none",
    "invert",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "left_shift",
    "right_shift",
    "add",
    "subtract",
    "multiply",
    "divide",
    "maximum",
    "minimum",
    "power",
    "mod",
    "fmod",
    "equal",
    "not_equal",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "logical_and",
    "logical_or",
    "logical_xor",
    "logical_not",
    "rsqrt",
    "reciprocal",
    "abs",
    "copy",
    "negative",
    "sign",
    "trunc",
    "floor",
    "ceil",
    "square",
    "sqrt",
    "exp",
    "log",
    "sin",
    "cos",
    "tan",
    "tanh",
    "arctan",
    "sigmoid",
    "relu",
    "gelu",
    "gelu_dx",
    "gelu_apprx_tanh",
    "gelu_apprx_sigmoid",
    "gelu_apprx_sigmoid_dx",
    "silu",
    "silu_dx",
    "erf",
    "erf_dx",
    "softplus",
    "mish",
};

constexpr float infinity = std::numeric_limits<float>::infinity();

float sigmoid(float x) {
  return 1 / (1 + std::exp(-x));
}
float softplus(float x) { // log(1 + e^x) without overflow
  return std::max(x, 0.0F) + std::log1p(std::exp(-std::fabs(x)));
}
float normal_cdf(float x) {
  return 0.5F * (1 + std::erf(x * static_cast<float>(1 / std::numbers::sqrt2)));
}
float normal_density(float x) {
  return std::exp(-0.5F * x * x) *
         static_cast<float>(std::numbers::inv_sqrtpi / std::numbers::sqrt2);
}
constexpr float gelu_slope = 1.702F;

float unary(Op op, float x) {
  switch (op) {
  case Op::logical_not:
    return x == 0 ? 1.0F : 0.0F;
  case Op::rsqrt:
    return 1 / std::sqrt(x);
  case Op::reciprocal:
    return 1 / x;
  case Op::abs:
    return std::fabs(x);
  case Op::negative:
    return -x;
  case Op::sign:
    return x > 0 ? 1.0F : x < 0 ? -1.0F : x;
  case Op::trunc:
    return std::trunc(x);
  case Op::floor:
    return std::floor(x);
  case Op::ceil:
    return std::ceil(x);
  case Op::square:
    return x * x;
  case Op::sqrt:
    return std::sqrt(x);
  case Op::exp:
    return std::exp(x);
  case Op::log:
    return std::log(x);
  case Op::sin:
    return std::sin(x);
  case Op::cos:
    return std::cos(x);
  case Op::tan:
    return std::tan(x);
  case Op::tanh:
    return std::tanh(x);
  case Op::arctan:
    return std::atan(x);
  case Op::sigmoid:
    return sigmoid(x);
  case Op::relu:
    return x > 0 ? x : x != x ? x : 0;
  case Op::gelu:
    return x * normal_cdf(x);
  case Op::gelu_dx:
    return normal_cdf(x) + x * normal_density(x);
  case Op::gelu_apprx_tanh:
    return 0.5F * x *
           (1 + std::tanh(static_cast<float>(std::numbers::inv_sqrtpi * std::numbers::sqrt2) *
                          (x + 0.044715F * x * x * x)));
  case Op::gelu_apprx_sigmoid:
    return x * sigmoid(gelu_slope * x);
  case Op::gelu_apprx_sigmoid_dx: {
    const float s = sigmoid(gelu_slope * x);
    return s + gelu_slope * x * s * (1 - s);
  }
  case Op::silu:
    return x * sigmoid(x);
  case Op::silu_dx: {
    const float s = sigmoid(x);
    return s * (1 + x * (1 - s));
  }
  case Op::erf:
    return std::erf(x);
  case Op::erf_dx:
    return static_cast<float>(2 * std::numbers::inv_sqrtpi) * std::exp(-x * x);
  case Op::softplus:
    return softplus(x);
  case Op::mish:
    return x * std::tanh(softplus(x));
  default:
    return x;
  }
}

float truth(bool b) {
  return b ? 1.0F : 0.0F;
}

float binary(Op op, float a, float b) {
  switch (op) {
  case Op::add:
    return a + b;
  case Op::subtract:
    return a - b;
  case Op::multiply:
    return a * b;
  case Op::divide:
    return a / b;
  case Op::maximum: // a NaN stays, as it does in the engine's registers
    return a != a ? a : b != b ? b : a > b ? a : b;
  case Op::minimum:
    return a != a ? a : b != b ? b : a < b ? a : b;
  case Op::power:
    return std::pow(a, b);
  case Op::mod: {
    const float r = std::fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
  }
  case Op::fmod:
    return std::fmod(a, b);
  case Op::equal:
    return truth(a == b);
  case Op::not_equal:
    return truth(a != b);
  case Op::greater:
    return truth(a > b);
  case Op::greater_equal:
    return truth(a >= b);
  case Op::less:
    return truth(a < b);
  case Op::less_equal:
    return truth(a <= b);
  case Op::logical_and:
    return truth(a != 0 && b != 0);
  case Op::logical_or:
    return truth(a != 0 || b != 0);
  case Op::logical_xor:
    return truth((a != 0) != (b != 0));
  default:
    return unary(op, a);
  }
}

} // namespace

std::string_view name(Engine e) {
  switch (e) {
  case Engine::none:
    return "no engine";
  case Engine::tensor:
    return "TensorE";
  case Engine::vector:
    return "VectorE";
  case Engine::scalar:
    return "ScalarE";
  case Engine::gpsimd:
    return "GpSimdE";
  case Engine::dma:
    return "DMA";
  }
  return {};
}

std::string_view name(Operation op) {
  return names[static_cast<std::size_t>(op)];
}

std::optional<Operation> operation_from_name(std::string_view s) {
  for (std::size_t i = 1; i < names.size(); ++i)
    if (names[i] == s)
      return static_cast<Op>(i);
  constexpr std::array<std::pair<std::string_view, Op>, 12> others = {{
      {"max", Op::maximum},
      {"amax", Op::maximum},
      {"min", Op::minimum},
      {"amin", Op::minimum},
      {"sum", Op::add},
      {"prod", Op::multiply},
      {"absolute", Op::abs},
      {"true_divide", Op::divide},
      {"remainder", Op::mod},
      {"all", Op::logical_and},
      {"any", Op::logical_or},
      {"bitwise_invert", Op::invert},
  }};
  for (const auto& [other, op] : others)
    if (other == s)
      return op;
  return std::nullopt;
}

bool is_bitvec(Operation op) {
  return Op::invert <= op && op <= Op::right_shift;
}
bool is_unary(Operation op) {
  return op == Op::invert || op >= Op::logical_not;
}
bool is_comparison(Operation op) {
  return Op::equal <= op && op <= Op::logical_not;
}
bool may_reduce(Operation op) {
  switch (op) {
  case Op::bitwise_and:
  case Op::bitwise_or:
  case Op::bitwise_xor:
  case Op::add:
  case Op::subtract:
  case Op::multiply:
  case Op::maximum:
  case Op::minimum:
  case Op::logical_and:
  case Op::logical_or:
  case Op::logical_xor:
    return true;
  default:
    return false;
  }
}

std::optional<ActivationRange> activation_range(Operation op) {
  constexpr ActivationRange all{-infinity, infinity, false};
  constexpr auto pi = std::numbers::pi_v<float>;
  switch (op) {
  case Op::copy:
  case Op::square:
  case Op::sigmoid:
  case Op::relu:
  case Op::gelu:
  case Op::gelu_dx:
  case Op::gelu_apprx_tanh:
  case Op::gelu_apprx_sigmoid:
  case Op::gelu_apprx_sigmoid_dx:
  case Op::silu:
  case Op::silu_dx:
  case Op::tanh:
  case Op::softplus:
  case Op::mish:
  case Op::erf:
  case Op::erf_dx:
  case Op::exp:
  case Op::sign:
  case Op::abs:
    return all;
  case Op::log:
    return ActivationRange{0x1p-64F, 0x1p64F, false};
  case Op::sin:
    return ActivationRange{-pi, pi, false};
  case Op::arctan:
    return ActivationRange{-pi / 2, pi / 2, false};
  case Op::sqrt:
    return ActivationRange{0x1p-116F, 0x1p118F, false};
  case Op::rsqrt:
    return ActivationRange{0x1p-87F, 0x1p97F, false};
  case Op::reciprocal:
    return ActivationRange{0x1p-42F, 0x1p42F, true};
  default:
    return std::nullopt;
  }
}

bool has(Engine engine, Operation op) {
  switch (engine) {
  case Engine::vector:
    return op != Op::power && op != Op::rsqrt && op != Op::none &&
           (op <= Op::logical_not || op == Op::reciprocal || op == Op::abs);
  case Engine::gpsimd:
    return op == Op::add || op == Op::multiply || op == Op::power || op == Op::rsqrt;
  case Engine::scalar:
    return op == Op::add || op == Op::multiply || op == Op::rsqrt || op == Op::reciprocal ||
           op == Op::abs;
  default:
    return false;
  }
}

float apply(Operation op, float a, float b) {
  return binary(op, a, b);
}

std::int64_t apply_bits(Operation op, std::int64_t a, std::int64_t b, int width) {
  const auto mask = static_cast<std::uint64_t>((1LL << width) - 1);
  const auto ua = static_cast<std::uint64_t>(a) & mask, ub = static_cast<std::uint64_t>(b) & mask;
  std::uint64_t y = 0;
  switch (op) {
  case Op::invert:
    y = ~ua;
    break;
  case Op::bitwise_and:
    y = ua & ub;
    break;
  case Op::bitwise_or:
    y = ua | ub;
    break;
  case Op::bitwise_xor:
    y = ua ^ ub;
    break;
  case Op::left_shift:
    y = ub < 64 ? ua << ub : 0;
    break;
  case Op::right_shift:
    y = ub < 64 ? ua >> ub : 0;
    break;
  default:
    y = ua;
  }
  return static_cast<std::int64_t>(y & mask);
}

float identity(Operation op) {
  switch (op) {
  case Op::multiply:
  case Op::logical_and:
    return 1;
  case Op::maximum:
    return -infinity;
  case Op::minimum:
    return infinity;
  default:
    return 0;
  }
}

void apply(Operation op, const float* a, int step_a, const float* b, int step_b, float* y,
           std::int64_t n) {
  const auto each = [&](auto f) {
    // Two loops that the compiler can vectorise, and one that covers the rest.
    if (step_a == 1 && step_b == 1)
      for (std::int64_t i = 0; i < n; ++i)
        y[i] = f(a[i], b[i]);
    else if (step_a == 1)
      for (std::int64_t i = 0; i < n; ++i)
        y[i] = f(a[i], *b);
    else
      for (std::int64_t i = 0; i < n; ++i)
        y[i] = f(*a, b[i * step_b]);
  };
  switch (op) {
  case Op::add:
    return each([](float x, float z) { return x + z; });
  case Op::subtract:
    return each([](float x, float z) { return x - z; });
  case Op::multiply:
    return each([](float x, float z) { return x * z; });
  case Op::divide:
    return each([](float x, float z) { return x / z; });
  case Op::copy:
    return each([](float x, float) { return x; });
  default:
    return each([op](float x, float z) { return binary(op, x, z); });
  }
}

} // namespace kw::nki
