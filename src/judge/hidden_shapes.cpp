// SPDX-License-Identifier: Apache-2.0
#include "judge/hidden_shapes.hpp"

#include "judge/shape_constraints.hpp"
#include "judge/trial.hpp"
#include "model/verdict.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>

namespace kw {
namespace {

constexpr double cheap = 4e7; ///< as cost() counts: a few milliseconds
constexpr int tries_per_shape = 40;

std::int64_t prime_up_to(std::int64_t n) {
  const auto is_prime = [](std::int64_t p) {
    for (std::int64_t d = 2; d * d <= p; ++d)
      if (p % d == 0)
        return false;
    return p > 1;
  };
  while (n > 2 && !is_prime(n))
    --n;
  return n;
}

/// `word` is random; `listed` are the values that workloads have.
std::int64_t drawn_value(std::uint64_t word, const std::vector<std::int64_t>& listed) {
  const std::int64_t most = *std::max_element(listed.begin(), listed.end());
  const auto below = [&](std::uint64_t n) {
    const std::uint64_t v = (word >> 8) % std::max<std::uint64_t>(n, 1);
    return static_cast<std::int64_t>(v);
  };
  // Logarithmically even: small sizes have as many corners as large ones.
  const double fraction = static_cast<double>(word >> 11) * 0x1p-53;
  const auto any = static_cast<std::int64_t>(std::exp(fraction * std::log(double(most) + 1)));
  const auto power = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(any)));
  std::int64_t value = any;
  switch (word % 8) {
  case 0:
    value = 1;
    break;
  case 1:
  case 2:
    value = listed[static_cast<std::size_t>(below(listed.size()))] + 1 -
            static_cast<std::int64_t>(word >> 60) % 3;
    break;
  case 3:
  case 4:
    value = power - 1 + static_cast<std::int64_t>(word >> 60) % 3;
    break;
  case 5:
    value = prime_up_to(any);
    break;
  default:
    break;
  }
  return std::clamp<std::int64_t>(value, 1, most);
}

/// Every buffer fits where the largest of the listed ones does.
bool fits(const BoundWorkload& shape, const std::vector<BoundWorkload>& listed) {
  return std::any_of(listed.begin(), listed.end(), [&](const BoundWorkload& w) {
    if (w.flops > full_oracle_flops) // its oracle writes samples only
      return false;
    for (std::size_t i = 0; i < w.inputs.size(); ++i)
      if (shape.inputs[i].bytes > w.inputs[i].bytes)
        return false;
    for (std::size_t i = 0; i < w.outputs.size(); ++i)
      if (shape.outputs[i].bytes > w.outputs[i].bytes)
        return false;
    return true;
  });
}

/// A scalar with a range of values: workloads list some, a hidden shape takes any.
bool is_drawn(const Definition& definition, const std::string& input) {
  const auto spec = std::ranges::find(definition.inputs, input, &TensorSpec::name);
  const auto rule = definition.ext.inputs.find(input);
  return spec != definition.inputs.end() && spec->is_scalar() &&
         rule != definition.ext.inputs.end() && rule->second.kind == "uniform";
}

} // namespace

HiddenShapes hidden_shapes(const Definition& definition, const std::vector<BoundWorkload>& listed,
                           std::size_t count,
                           const std::function<std::uint64_t(std::uint64_t)>& coin) {
  HiddenShapes out;
  const auto lender = std::find_if(listed.begin(), listed.end(), all_drawn);
  const Result<ShapeConstraints> constraints = shape_constraints(definition);
  if (!constraints) {
    out.why_fewer = constraints.error().message;
    return out;
  }
  if (lender == listed.end() || lender->workload.axes.empty()) {
    out.why_fewer = lender == listed.end() ? "every workload brings tensors of its own"
                                           : "all axes are constant";
    return out;
  }
  const auto known = [&](const std::vector<std::pair<std::string, std::int64_t>>& axes) {
    const auto same = [&](const BoundWorkload& w) { return w.workload.axes == axes; };
    return std::any_of(listed.begin(), listed.end(), same) ||
           std::any_of(out.workloads.begin(), out.workloads.end(), same);
  };
  std::vector<double> costs;
  for (const BoundWorkload& w : listed)
    costs.push_back(cost(w));
  std::ranges::sort(costs);
  const double most_cost = std::max({cheap, 8 * costs.front(), costs[(costs.size() - 1) / 4]});
  Bindings constant;
  for (const Axis& axis : definition.axes)
    if (!axis.is_variable())
      constant[axis.name] = static_cast<double>(*axis.value);
  std::uint64_t draw = 0;
  for (std::size_t t = 0; t < count * tries_per_shape && out.workloads.size() < count; ++t) {
    Workload shape = lender->workload;
    shape.weight = 0;
    shape.where.clear();
    shape.uuid = hidden_shape_prefix;
    std::erase_if(shape.inputs,
                  [&](const auto& given) { return is_drawn(definition, given.first); });
    for (auto& [axis, value] : shape.axes) {
      std::vector<std::int64_t> values;
      for (const BoundWorkload& w : listed)
        for (const auto& [name, v] : w.workload.axes)
          if (name == axis)
            values.push_back(v);
      value = drawn_value(coin(draw++), values);
    }
    if (!constraints->solve(constant, shape.axes) || known(shape.axes))
      continue;
    for (const auto& [axis, value] : shape.axes)
      shape.uuid +=
          fmt::format("{}{}={}", &axis == &shape.axes.front().first ? "" : ",", axis, value);
    Result<BoundWorkload> bound = bind_workload(definition, shape, {});
    if (!bound || cost(*bound) > most_cost || !fits(*bound, listed))
      continue;
    out.workloads.push_back(std::move(*bound));
  }
  if (out.workloads.size() < count)
    out.why_fewer = "there are no more legal shapes within the sizes of the workloads";
  return out;
}

} // namespace kw
