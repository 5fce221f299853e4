// SPDX-License-Identifier: Apache-2.0
#include "judge/shape_constraints.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <optional>

namespace kw {
namespace {

std::string without_spaces(std::string_view text) {
  std::string out(text);
  std::erase_if(out, [](char c) { return c == ' ' || c == '\t'; });
  return out;
}

/// Both sides of a text with a single `==`.
std::optional<std::pair<std::string, std::string>> sides(const std::string& text) {
  const std::size_t at = text.find("==");
  if (at == std::string::npos || text.find("==", at + 2) != std::string::npos)
    return std::nullopt;
  return std::pair(text.substr(0, at), text.substr(at + 2));
}

bool kept_by_draw(const Definition& definition, const std::string& text) {
  const auto both = sides(without_spaces(text));
  return both && std::ranges::any_of(definition.ext.inputs, [&](const auto& input) {
           const std::string limit = without_spaces(input.second.limit);
           const std::string last = input.first + "[-1].item()";
           return input.second.kind == "offsets" &&
                  (*both == std::pair(limit, last) || *both == std::pair(last, limit));
         });
}

/// `name.shape[i]` of a tensor is the axis that it is declared with; i < 0 counts from the end.
std::string with_axes(const Definition& definition, std::string text) {
  const auto word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  constexpr std::string_view mark = ".shape[";
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
    std::size_t begin = at;
    while (begin > 0 && word(text[begin - 1]))
      --begin;
    const std::string name = text.substr(begin, at - begin);
    const std::size_t end = text.find(']', at);
    std::int64_t index = 0;
    const char* const digits = text.data() + at + mark.size();
    if (end == std::string::npos ||
        std::from_chars(digits, text.data() + end, index).ptr != text.data() + end)
      continue;
    for (const auto* tensors : {&definition.inputs, &definition.outputs})
      for (const TensorSpec& t : *tensors) {
        if (t.name != name || t.is_scalar())
          continue;
        const auto axes = static_cast<std::int64_t>(t.shape->size());
        const std::int64_t place = index < 0 ? index + axes : index;
        if (place >= 0 && place < axes)
          return with_axes(definition, text.substr(0, begin) +
                                           (*t.shape)[static_cast<std::size_t>(place)] +
                                           text.substr(end + 1));
      }
  }
  return text;
}

std::optional<ShapeConstraints::Equation>
equation(const Definition& definition, const std::string& left, const std::string& right) {
  const Result<Expr> axis = Expr::parse(left);
  Result<Expr> value = Expr::parse(right);
  if (!axis || !value || axis->names().size() != 1 ||
      without_spaces(left) != axis->names().front() ||
      std::ranges::find(value->names(), axis->names().front()) != value->names().end())
    return std::nullopt;
  const Axis* found = definition.axis(axis->names().front());
  if (found == nullptr || !found->is_variable())
    return std::nullopt;
  return ShapeConstraints::Equation{.axis = found->name, .value = std::move(*value)};
}

} // namespace

bool ShapeConstraints::solve(const Bindings& constant_axes,
                             std::vector<std::pair<std::string, std::int64_t>>& axes) const {
  Bindings known = constant_axes;
  for (const auto& [name, value] : axes)
    known[name] = static_cast<double>(value);
  // An equation may use what a later one gives: a chain of n is settled after n rounds.
  for (std::size_t round = 0; round < equations.size(); ++round)
    for (const Equation& e : equations) {
      const Result<double> value = e.value.eval(known);
      if (!value || !(*value >= 1 && *value <= 0x1p53) || *value != std::floor(*value))
        return false;
      known[e.axis] = *value;
    }
  for (auto& [name, value] : axes)
    value = static_cast<std::int64_t>(known[name]);
  return hold(known);
}

bool ShapeConstraints::hold(const Bindings& axes) const {
  return std::ranges::all_of(conditions, [&](const Expr& c) {
    const Result<double> holds = c.eval(axes);
    return holds && *holds != 0;
  });
}

Result<ShapeConstraints> shape_constraints(const Definition& definition) {
  ShapeConstraints out;
  for (const std::string& constraint : definition.constraints) {
    if (kept_by_draw(definition, constraint))
      continue;
    const std::string text = with_axes(definition, constraint);
    Result<Expr> condition = Expr::parse(text);
    if (!condition || std::ranges::any_of(condition->names(), [&](const std::string& name) {
          return definition.axis(name) == nullptr;
        }))
      return fail(ErrorKind::unsupported,
                  fmt::format("constraint `{}` is not one over axes", constraint));
    out.conditions.push_back(std::move(*condition));
    const auto both = sides(text);
    if (!both)
      continue;
    auto found = equation(definition, both->first, both->second);
    if (!found)
      found = equation(definition, both->second, both->first);
    if (found)
      out.equations.push_back(std::move(*found));
  }
  return out;
}

} // namespace kw
