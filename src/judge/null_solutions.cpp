// SPDX-License-Identifier: Apache-2.0
#include "judge/null_solutions.hpp"

#include "tensor/convert.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace kw {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t chunk = 512; // even: two float4 share a byte

std::int64_t elements_of(const BoundInput& input) {
  std::int64_t n = 1;
  for (const std::int64_t extent : input.draw.shape)
    n *= extent;
  return n;
}

/// Bits of significand, the implicit one included; 0 for integers.
int significand(DType dtype) {
  return is_float(dtype) ? -std::ilogb(unit_roundoff(dtype)) : 0;
}

bool is_index(const BoundInput& input) {
  return input.draw.kind == "indices" || input.draw.kind == "positions" ||
         input.draw.kind == "slots" || input.draw.kind == "block_table";
}

/// Whether all elements of it are `value` by contract, so that replacing them changes nothing.
bool fixed_at(const BoundInput& input, double value) {
  return input.draw.kind == "constant" && round_to(input.draw.dtype, input.draw.value) == value;
}

bool whole_output(NullKind kind) {
  return kind == NullKind::zeros || kind == NullKind::constant || kind == NullKind::trial_mean ||
         kind == NullKind::output_mean || kind == NullKind::copy;
}

} // namespace

double lint_margin(const BoundWorkload& workload) {
  const bool coarse =
      std::any_of(workload.outputs.begin(), workload.outputs.end(), [](const BoundOutput& o) {
        return is_float(o.dtype) && byte_size(o.dtype, 2) <= 2;
      });
  return coarse ? 2 : 10;
}

std::vector<NullSolution> null_solutions(const BoundWorkload& workload) {
  using enum NullKind;
  std::vector<NullSolution> out;
  for (std::size_t o = 0; o < workload.outputs.size(); ++o) {
    const BoundOutput& output = workload.outputs[o];
    if (output.elements == 0)
      continue;
    for (const NullKind kind : {zeros, constant, trial_mean})
      out.push_back({.kind = kind, .output = o});
    if (output.elements > 1)
      out.push_back({.kind = output_mean, .output = o});
    for (std::size_t i = 0; i < workload.inputs.size(); ++i)
      if (elements_of(workload.inputs[i]) == output.elements)
        out.push_back({.kind = copy, .output = o, .input = i});
  }
  for (const BoundInput& input : workload.inputs) {
    const std::optional<int> bits = narrow_bits(input.draw.dtype, workload);
    const NullSolution null{
        .kind = narrow_inputs, .dtype = input.draw.dtype, .bits = bits.value_or(0)};
    if (bits && elements_of(input) > 0 && std::find(out.begin(), out.end(), null) == out.end())
      out.push_back(null);
  }
  for (std::size_t i = 0; i < workload.inputs.size(); ++i) {
    const BoundInput& input = workload.inputs[i];
    if (elements_of(input) == 0)
      continue;
    if (!fixed_at(input, 0))
      out.push_back({.kind = input_of_zeros, .input = i});
    if (!fixed_at(input, 1) && !(is_index(input) && input.draw.limit < 2))
      out.push_back({.kind = input_of_ones, .input = i});
  }
  return out;
}

std::string describe(const NullSolution& null, const BoundWorkload& workload) {
  const std::string output =
      whole_output(null.kind) ? workload.outputs[null.output].name : std::string();
  const auto input = [&] { return workload.inputs[null.input].name; };
  switch (null.kind) {
  case NullKind::zeros:
    return fmt::format("zeros as `{}`", output);
  case NullKind::constant:
    return fmt::format("one constant as `{}`", output);
  case NullKind::trial_mean:
    return fmt::format("the same `{}` in every trial", output);
  case NullKind::output_mean:
    return fmt::format("its mean in every element of `{}`", output);
  case NullKind::copy:
    return fmt::format("a copy of `{}` as `{}`", input(), output);
  case NullKind::narrow_inputs:
    return fmt::format("{} inputs in {} significant bit{}", name(null.dtype), null.bits,
                       null.bits == 1 ? "" : "s");
  case NullKind::input_of_zeros:
    return fmt::format("`{}` taken for zeros", input());
  case NullKind::input_of_ones:
    return fmt::format("`{}` taken for ones", input());
  }
  return {};
}

std::string remedy(const NullSolution& null, const BoundWorkload& workload) {
  const auto output = [&] { return workload.outputs[null.output].name; };
  switch (null.kind) {
  case NullKind::zeros:
    return fmt::format(
        "tighten x_kernwright.tolerance.{}: a bound relative to the answer (eta, rtol) "
        "lets zeros pass for nothing but zeros",
        output());
  case NullKind::constant:
    return fmt::format("let `{}` vary: shorter reductions, inputs of more classes, or a tighter "
                       "tolerance; a mean over much of one sign is nearly a constant",
                       output());
  case NullKind::trial_mean:
    return fmt::format(
        "`{}` must depend on something that is drawn anew: at least one input of type "
        "random, of a kind other than constant",
        output());
  case NullKind::output_mean:
    return fmt::format("declare `{}` with as many elements as it has different answers, or tighten "
                       "its tolerance",
                       output());
  case NullKind::copy:
    return "draw inputs on which the operator does something (x_kernwright.inputs), or tighten the "
           "tolerance";
  case NullKind::narrow_inputs:
    return fmt::format("tighten the tolerance: eta 4 to 16 with magnitudes from a C++ oracle suits "
                       "{} arithmetic; a plain rtol must lie well below 2^-{}",
                       name(null.dtype), null.bits + 1);
  case NullKind::input_of_zeros:
  case NullKind::input_of_ones:
    return fmt::format("take `{0}` out of the contract if no output depends on it; else draw it so "
                       "that it matters (x_kernwright.inputs.{0}), or tighten the tolerance",
                       workload.inputs[null.input].name);
  }
  return {};
}

std::optional<int> narrow_bits(DType input, const BoundWorkload& workload) {
  const int held = significand(input);
  if (held < 8)
    return std::nullopt;
  int shown = 0;
  for (const BoundOutput& output : workload.outputs)
    shown = std::max(shown, is_float(output.dtype) ? significand(output.dtype) : 53);
  const int bits = std::min(held, shown);
  return bits == 53 ? 24 : std::max(bits / 3, 1);
}

double round_significand(double x, int bits) {
  if (!std::isfinite(x) || x == 0)
    return x;
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, bits)), exponent - bits);
}

void narrow(DType dtype, int bits, std::span<std::byte> tensor) {
  std::array<double, chunk> values{};
  const std::size_t size = byte_size(dtype, 1);
  for (std::size_t at = 0; at < tensor.size(); at += chunk * size) {
    const std::span<std::byte> piece =
        tensor.subspan(at, std::min<std::size_t>(chunk * size, tensor.size() - at));
    const std::span<double> now = std::span(values).first(piece.size() / size);
    to_double(dtype, piece, now);
    for (double& v : now)
      v = round_significand(v, bits);
    from_double(dtype, now, piece);
  }
}

void fill(DType dtype, double value, std::span<std::byte> tensor) {
  const std::size_t pair = byte_size(dtype, 2);
  std::array<std::byte, 16> pattern{};
  from_double(dtype, std::array{value, value}, pattern);
  for (std::size_t i = 0; i < tensor.size(); ++i)
    tensor[i] = pattern[i % pair];
}

std::array<double, ConstantRange::widths.size()> ConstantRange::filled(int sign) {
  std::array<double, widths.size()> out{};
  out.fill(sign * infinity);
  return out;
}

/// The bound of tensor/compare.hpp, element by element.
void ConstantRange::add(const Bound& b, DType dtype, std::span<const double> y,
                        std::span<const double> magnitude) {
  const double least = is_float(dtype) ? min_normal(dtype) : 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double floored = std::max(std::fabs(y[i]), least);
    const double s = magnitude.empty() ? 0 : std::fabs(magnitude[i]);
    const double unit = b.u_out * floored + b.u_acc * (std::isfinite(s) ? s : 0);
    note(y[i], b.exact ? 0 : b.eta * unit + b.atol + b.rtol * floored);
  }
}

void ConstantRange::note(double y, double allowed) {
  any_ = true;
  all_nan_ = all_nan_ && std::isnan(y);
  for (std::size_t w = 0; w < widths.size(); ++w) {
    // What is infinite is right as itself only; NaN leaves no number.
    const double reach = std::isfinite(y) ? widths[w] * allowed : 0;
    low_[w] = std::isnan(y) ? infinity : std::max(low_[w], y - reach);
    high_[w] = std::isnan(y) ? -infinity : std::min(high_[w], y + reach);
  }
}

std::optional<std::size_t> ConstantRange::narrowest() const {
  for (std::size_t w = 0; w < widths.size(); ++w)
    if (low_[w] <= high_[w])
      return w;
  return std::nullopt;
}

std::optional<double> ConstantRange::margin() const {
  if (!any_ || all_nan_)
    return widths.front();
  const std::optional<std::size_t> at = narrowest();
  return at ? std::optional(widths[*at]) : std::nullopt;
}

double ConstantRange::constant() const {
  const std::optional<std::size_t> at = narrowest();
  if (!at || all_nan_)
    return std::numeric_limits<double>::quiet_NaN();
  return low_[*at] == high_[*at] ? low_[*at] : low_[*at] / 2 + high_[*at] / 2;
}

} // namespace kw
