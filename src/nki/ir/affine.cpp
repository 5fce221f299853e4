// SPDX-License-Identifier: Apache-2.0
#include "nki/ir/affine.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace kw::nki {

std::int64_t Affine::at(std::span<const std::int64_t> values) const {
  std::int64_t sum = constant;
  for (const auto& [variable, coefficient] : terms)
    sum += coefficient * values[static_cast<std::size_t>(variable)];
  return sum;
}

Affine operator+(const Affine& a, const Affine& b) {
  Affine sum{.constant = a.constant + b.constant, .terms = {}};
  auto i = a.terms.begin();
  auto j = b.terms.begin();
  while (i != a.terms.end() || j != b.terms.end()) {
    if (j == b.terms.end() || (i != a.terms.end() && i->first < j->first)) {
      sum.terms.push_back(*i++);
    } else if (i == a.terms.end() || j->first < i->first) {
      sum.terms.push_back(*j++);
    } else {
      if (i->second + j->second != 0)
        sum.terms.emplace_back(i->first, i->second + j->second);
      ++i, ++j;
    }
  }
  return sum;
}

Affine operator*(const Affine& a, std::int64_t factor) {
  if (factor == 0)
    return {};
  Affine scaled = a;
  scaled.constant *= factor;
  for (auto& [variable, coefficient] : scaled.terms)
    coefficient *= factor;
  return scaled;
}

std::optional<std::int64_t> Index::constant() const {
  if (!dims.empty() || !base.is_constant())
    return std::nullopt;
  return base.constant;
}

Index constant_index(std::int64_t value) {
  return {.base = {.constant = value, .terms = {}}, .dims = {}};
}
Index variable_index(Variable v) {
  return {.base = {.constant = 0, .terms = {{v, 1}}}, .dims = {}};
}

std::optional<std::vector<std::int64_t>> broadcast(std::span<const std::int64_t> a,
                                                   std::span<const std::int64_t> b) {
  std::vector<std::int64_t> out(std::max(a.size(), b.size()), 1);
  for (std::size_t k = 0; k < out.size(); ++k) {
    const std::int64_t x = k < a.size() ? a[a.size() - 1 - k] : 1,
                       y = k < b.size() ? b[b.size() - 1 - k] : 1;
    if (x != y && x != 1 && y != 1)
      return std::nullopt;
    out[out.size() - 1 - k] = x == 1 ? y : x;
  }
  return out;
}

Index with_rank(Index a, std::size_t rank) {
  if (a.dims.size() < rank)
    a.dims.insert(a.dims.begin(), rank - a.dims.size(), Index::Dim{});
  return a;
}

std::optional<Index> add(const Index& a, const Index& b) {
  const std::size_t rank = std::max(a.dims.size(), b.dims.size());
  const Index x = with_rank(a, rank), y = with_rank(b, rank);
  Index sum{.base = x.base + y.base, .dims = {}};
  for (std::size_t j = 0; j < rank; ++j) {
    const Index::Dim &p = x.dims[j], &q = y.dims[j];
    if (p.size != q.size && p.size != 1 && q.size != 1)
      return std::nullopt;
    const std::int64_t size = p.size == 1 ? q.size : p.size;
    sum.dims.push_back(
        {size, (p.size == 1 ? 0 : p.coefficient) + (q.size == 1 ? 0 : q.coefficient)});
  }
  return sum;
}

Index scale(const Index& a, std::int64_t factor) {
  Index scaled{.base = a.base * factor, .dims = a.dims};
  for (Index::Dim& d : scaled.dims)
    d.coefficient *= factor;
  return scaled;
}

std::string to_text(const Index& index, std::span<const std::string> names) {
  std::string text;
  const auto term = [&](std::int64_t coefficient, const std::string& what) {
    if (coefficient == 0)
      return;
    const bool negative = coefficient < 0;
    text += text.empty() ? (negative ? "-" : "") : (negative ? " - " : " + ");
    const std::int64_t size = negative ? -coefficient : coefficient;
    text += size == 1 ? what : fmt::format("{}*{}", size, what);
  };
  for (const auto& [variable, coefficient] : index.base.terms)
    term(coefficient, static_cast<std::size_t>(variable) < names.size()
                          ? names[static_cast<std::size_t>(variable)]
                          : fmt::format("v{}", variable));
  for (std::size_t j = 0; j < index.dims.size(); ++j)
    term(index.dims[j].size == 1 ? 0 : index.dims[j].coefficient, fmt::format("e{}", j));
  const std::int64_t c = index.base.constant;
  if (text.empty())
    return fmt::format("{}", c);
  return c == 0 ? text : fmt::format("{} {} {}", text, c < 0 ? "-" : "+", c < 0 ? -c : c);
}

} // namespace kw::nki
