// SPDX-License-Identifier: Apache-2.0
// Indices of a kernel become views: basic ones (numbers, slices) or advanced ones (nl.arange and
// nl.mgrid with affine arithmetic), not both at once.
#include "nki/trace/session.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kw::nki {
namespace {

/// `index` in places of old dimensions, with each of them replaced by its own index.
Index substituted(const Index& index, const std::vector<Index>& by, std::size_t new_rank) {
  Index out{.base = index.base, .dims = {}};
  const std::size_t rank = index.dims.size();
  out = with_rank(out, new_rank);
  for (std::size_t j = 0; j < rank; ++j) {
    const Index::Dim& d = index.dims[j];
    if (d.size == 1 || d.coefficient == 0)
      continue;
    const Index part = scale(with_rank(by[j + by.size() - rank], new_rank), d.coefficient);
    out.base = out.base + part.base;
    for (std::size_t k = 0; k < new_rank; ++k) {
      if (part.dims[k].size == 1)
        continue;
      out.dims[k].size = part.dims[k].size;
      out.dims[k].coefficient += part.dims[k].coefficient;
    }
  }
  return out;
}

/// The view of a view: dimension j of `v` is indexed by `by[j]`, in places of new dimensions.
View composed(const View& v, const std::vector<Index>& by, const std::vector<std::int64_t>& sizes) {
  View out{.buffer = v.buffer, .offset = v.offset};
  out.dims.resize(sizes.size());
  for (std::size_t k = 0; k < sizes.size(); ++k)
    out.dims[k] = {sizes[k], 0};
  for (std::size_t j = 0; j < v.dims.size(); ++j) {
    const Index aligned = with_rank(by[j], sizes.size());
    out.offset = out.offset + aligned.base * v.dims[j].stride;
    for (std::size_t k = 0; k < sizes.size(); ++k)
      if (aligned.dims[k].size > 1)
        out.dims[k].stride += aligned.dims[k].coefficient * v.dims[j].stride;
  }
  for (const Index& axis : v.axes)
    out.axes.push_back(substituted(axis, by, sizes.size()));
  out.extents = v.extents;
  out.indirect = v.indirect;
  return out;
}

} // namespace

View Session::key_view(const TensorPtr& t, const Value& key, bool& failed) {
  const View& v = t->view;
  const Buffer& b = buffer(*t);
  failed = false;
  Values keys;
  if (const Values* many = key.list())
    keys = *many;
  else
    keys = {key};

  const auto refuse = [&](std::string code, std::string message, std::string edit) {
    failed = true;
    report({.code = std::move(code),
            .message = std::move(message),
            .edit = std::move(edit),
            .operands = {{"tensor", t}}});
    return v;
  };

  if (keys.size() == 1 && keys[0].get<Mask>() != nullptr) { // lhs[i < 64] of a matrix product
    View masked = v;
    masked.operand_mask = *keys[0].get<Mask>();
    return masked;
  }

  // `...` stands for what is missing; None adds an axis.
  std::size_t given = 0;
  std::ptrdiff_t dots = -1;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].get<Ellipsis>() != nullptr)
      dots = static_cast<std::ptrdiff_t>(i);
    else if (!keys[i].is_none())
      ++given;
  }
  const std::size_t rank = v.dims.size();
  if (given > rank)
    return refuse("NK-too-many-indices",
                  fmt::format("`{}` has {} axes and is indexed by {}", b.name, rank, given),
                  "leave out the indices that are too many");
  const Values fill(rank - given, Value{Slice{}});
  if (dots >= 0) {
    keys.erase(keys.begin() + dots);
    keys.insert(keys.begin() + dots, fill.begin(), fill.end());
  }
  const bool advanced = std::ranges::any_of(keys, [](const Value& k) {
    const Index* i = k.get<Index>();
    return (i != nullptr && !i->is_scalar()) || k.get<TensorPtr>() != nullptr;
  });
  if (dots < 0)
    keys.insert(keys.end(), fill.begin(), fill.end());

  const auto size_of = [&](std::size_t axis) { return v.dims[axis].size; };
  const auto number = [&](const Value& k) -> std::optional<Index> {
    auto i = index_of(k);
    return i && i->is_scalar() ? i : std::nullopt;
  };

  if (advanced) {
    std::vector<std::int64_t> sizes;
    std::vector<Index> by;
    std::optional<View::Indirect> indirect;
    std::size_t axis = 0;
    for (const Value& k : keys) {
      if (k.is_none())
        return refuse("err_unsupported_mixing_basic_advanced_tensor_indexing",
                      "None stands beside indices made with nl.arange",
                      "put the axis into nl.arange(...)[:, None]");
      if (k.get<Slice>() != nullptr || k.get<DynamicSlice>() != nullptr) {
        const Slice* s = k.get<Slice>();
        const bool all = s != nullptr && !s->start && !s->stop && s->step == 1;
        if (all && dots >= 0 && rank - given > 0)
          return refuse("err_unsupported_mixing_basic_advanced_tensor_indexing",
                        "`...` stands beside indices made with nl.arange",
                        "index every axis with nl.arange or a number");
        return refuse("err_unsupported_mixing_basic_advanced_tensor_indexing",
                      fmt::format("`{}` is indexed by slices and by nl.arange at once", b.name),
                      "use nl.arange for all axes, or slices for all");
      }
      if (const auto* tensor = k.get<TensorPtr>()) {
        if (indirect)
          return refuse("err_indirect_indices_free_dim",
                        fmt::format("`{}` is indexed by two tensors", b.name),
                        "index one axis by a tensor and the others by nl.arange");
        indirect = View::Indirect{.axis = static_cast<int>(axis),
                                  .by = std::make_shared<View>((*tensor)->view)};
        flush();
        by.push_back(constant_index(0));
        const std::vector<std::int64_t> shape = (*tensor)->view.shape();
        const auto joined = broadcast(sizes, shape);
        if (!joined)
          return refuse("NK-index-shapes", "the indices of the axes do not fit each other",
                        "give them shapes that broadcast");
        sizes = *joined;
        ++axis;
        continue;
      }
      const auto i = index_of(k);
      if (!i)
        return refuse("NK-bad-index",
                      fmt::format("`{}` cannot be indexed by {}", b.name, kind_of(k)),
                      "use integers, slices, nl.arange or nl.ds");
      if (i->dims.size() == 1)
        return refuse("err_1d_arange_not_supported",
                      fmt::format("`{}` is indexed by nl.arange with one axis", b.name),
                      "give it a second one: nl.arange(n)[:, None] or nl.arange(n)[None, :]");
      std::vector<std::int64_t> shape;
      for (const Index::Dim& d : i->dims)
        shape.push_back(d.size);
      const auto joined = broadcast(sizes, shape);
      if (!joined)
        return refuse(
            "NK-index-shapes",
            fmt::format(
                "the indices of `{}` have shapes [{}] and [{}], which do not fit each other",
                b.name, fmt::join(sizes, ", "), fmt::join(shape, ", ")),
            "give them shapes that broadcast");
      sizes = *joined;
      by.push_back(*i);
      ++axis;
    }
    View out = composed(v, by, sizes);
    if (indirect) {
      // Only rows may be chosen at run time: of HBM any axis but the last ones that lie in a row.
      const Buffer& index_buffer = buffer(indirect->by->buffer);
      for (std::size_t j = 1; j < indirect->by->dims.size(); ++j)
        if (indirect->by->dims[j].size > 1)
          return refuse(
              "err_indirect_indices_free_dim",
              fmt::format("`{}` indexes a free dimension of `{}`: only partitions and blocks may "
                          "be chosen at run time",
                          index_buffer.name, b.name),
              "index one row per partition: idx[i_p, 0] with i_p = nl.arange(n)[:, None]");
      if (on_chip(b.memory) && indirect->axis != 0)
        return refuse("err_copy_dynamic_indirect_indices_not_natively_supported",
                      fmt::format("`{}` on chip is indexed by a tensor", b.name),
                      "use nisa.tensor_copy_dynamic_src or nl.gather_flattened");
      out.indirect = indirect;
    }
    return out;
  }

  // Basic: every slice makes a dimension, numbers make none.
  struct Made {
    std::int64_t size;
    std::ptrdiff_t axis; ///< of the view, -1 = a new one
    bool number;
  };
  std::vector<Made> made;
  std::vector<Index> starts(rank);
  std::vector<std::int64_t> steps(rank, 1);
  std::size_t axis = 0;
  for (const Value& k : keys) {
    if (k.is_none()) {
      made.push_back({1, -1, false});
      continue;
    }
    const std::int64_t size = size_of(axis);
    if (const auto* ds = k.get<DynamicSlice>()) {
      starts[axis] = ds->start;
      made.push_back({ds->size, static_cast<std::ptrdiff_t>(axis), false});
    } else if (const auto* s = k.get<Slice>()) {
      Index start = s->start.value_or(constant_index(0)),
            stop = s->stop.value_or(constant_index(size));
      if (!start.is_scalar() || !stop.is_scalar())
        return refuse("err_unsupported_mixing_basic_advanced_tensor_indexing",
                      fmt::format("a slice of `{}` has nl.arange in its bounds", b.name),
                      "use nl.arange itself as the index");
      if (const auto c = start.constant(); c && *c < 0)
        start = constant_index(*c + size);
      if (const auto c = stop.constant(); c && *c < 0)
        stop = constant_index(*c + size);
      const Affine length = stop.base + start.base * -1;
      if (!length.is_constant())
        return refuse("NK-slice-length",
                      fmt::format("the length of a slice of `{}` depends on a loop: {}", b.name,
                                  to_text({.base = length}, program_.variables)),
                      "make stop - start a constant, and mask what is too much");
      if (s->step <= 0)
        return refuse("NK-slice-step",
                      fmt::format("a slice of `{}` has the step {}", b.name, s->step),
                      "use a positive step");
      starts[axis] = start, steps[axis] = s->step;
      made.push_back({std::max<std::int64_t>(0, (length.constant + s->step - 1) / s->step),
                      static_cast<std::ptrdiff_t>(axis), false});
    } else if (auto i = number(k)) {
      if (const auto c = i->constant(); c && *c < 0)
        i = constant_index(*c + size);
      starts[axis] = *i;
      made.push_back({1, static_cast<std::ptrdiff_t>(axis), true});
    } else {
      return refuse("NK-bad-index", fmt::format("`{}` cannot be indexed by {}", b.name, kind_of(k)),
                    "use integers, slices, nl.arange or nl.ds");
    }
    ++axis;
  }
  // On chip a tile keeps two dimensions: blocks go, partitions and the last numbers stay.
  const bool chip = on_chip(b.memory);
  std::vector<Made> kept;
  std::size_t numbers = 0;
  for (const Made& m : made)
    numbers += m.number ? 1 : 0;
  std::size_t result = made.size() - numbers;
  for (std::size_t j = 0; j < made.size(); ++j) {
    if (!made[j].number) {
      kept.push_back(made[j]);
      continue;
    }
    const bool block =
        chip && static_cast<int>(j) < b.partition_axis && v.dims.size() == b.shape.size();
    if (chip && !block && result < 2) {
      kept.push_back(made[j]);
      ++result;
    }
  }
  std::vector<std::int64_t> sizes;
  std::vector<Index> by(rank);
  for (std::size_t j = 0; j < rank; ++j)
    by[j] = with_rank(starts[j], kept.size());
  for (std::size_t k = 0; k < kept.size(); ++k) {
    sizes.push_back(kept[k].size);
    if (kept[k].axis >= 0 && kept[k].size > 1)
      by[static_cast<std::size_t>(kept[k].axis)].dims[k] = {
          kept[k].size, steps[static_cast<std::size_t>(kept[k].axis)]};
  }
  return composed(v, by, sizes);
}

Value Session::item(const TensorPtr& t, const Value& key) {
  if (!readable(t, "tensor"))
    return {t};
  bool failed = false;
  View v = key_view(t, key, failed);
  if (failed)
    return {poison(v.shape(), t->element)};
  return {std::make_shared<Tensor>(
      Tensor{.view = std::move(v), .element = t->element, .poison = t->poison})};
}

Value Session::index_item(const Index& index, const Value& key) {
  Values keys;
  if (const Values* many = key.list())
    keys = *many;
  else
    keys = {key};
  Index out{.base = index.base, .dims = {}};
  std::size_t at = 0;
  for (const Value& k : keys) {
    if (k.is_none()) {
      out.dims.push_back({1, 0});
      continue;
    }
    const Slice* s = k.get<Slice>();
    if (s != nullptr && !s->start && !s->stop && s->step == 1 && at < index.dims.size()) {
      out.dims.push_back(index.dims[at++]);
      continue;
    }
    report({.code = "NK-index-of-index",
            .message = "an index can only be given new axes",
            .edit = "use : for its axes and None for new ones: nl.arange(n)[:, None]"});
    throw KernelStopped{};
  }
  while (at < index.dims.size())
    out.dims.push_back(index.dims[at++]);
  return {out};
}

Value Session::index_arithmetic(char op, const Value& a, const Value& b) {
  const auto x = index_of(a), y = index_of(b);
  const auto refuse = [&](const std::string& message) -> Value {
    report({.code = "NK-not-affine",
            .message = message,
            .edit = "write the index as a sum of constants times loop variables and nl.arange"});
    throw KernelStopped{};
  };
  if (!x || !y)
    return refuse(fmt::format("an index meets {}", kind_of(x ? b : a)));
  const auto cx = x->constant(), cy = y->constant();
  switch (op) {
  case '+':
  case '-': {
    const auto sum = add(*x, op == '+' ? *y : scale(*y, -1));
    if (!sum)
      return refuse("two indices have shapes that do not fit each other");
    return {*sum};
  }
  case '*':
    if (cx)
      return {scale(*y, *cx)};
    if (cy)
      return {scale(*x, *cy)};
    return refuse("the product of two indices is not affine");
  case '/':
  case '%': {
    if (!cy || *cy <= 0)
      return refuse("an index is divided by what is no positive constant");
    // Exact where everything is a multiple.
    const std::int64_t d = *cy;
    const auto multiple = [&](std::int64_t k) { return k % d == 0; };
    bool exact =
        std::ranges::all_of(x->base.terms, [&](const auto& term) { return multiple(term.second); });
    for (const Index::Dim& dim : x->dims)
      exact = exact && (dim.size == 1 || multiple(dim.coefficient));
    if (!exact)
      return refuse(op == '/' ? "the quotient of an index is not affine"
                              : "the remainder of an index is not affine");
    if (op == '%')
      return {constant_index(((x->base.constant % d) + d) % d)};
    Index q = *x;
    q.base.constant = (q.base.constant - (((q.base.constant % d) + d) % d)) / d;
    for (auto& [variable, coefficient] : q.base.terms)
      coefficient /= d;
    for (Index::Dim& dim : q.dims)
      dim.coefficient = dim.size == 1 ? 0 : dim.coefficient / d;
    return {q};
  }
  default:
    return refuse("an index cannot do this");
  }
}

Value Session::compare_indices(Operation op, const Value& a, const Value& b) {
  const auto x = index_of(a), y = index_of(b);
  if (!x || !y) {
    report({.code = "err_unsupported_expression_in_mask",
            .message = fmt::format("a mask compares an index with {}", kind_of(x ? b : a)),
            .edit = "compare affine expressions of nl.arange, loop variables and constants"});
    throw KernelStopped{};
  }
  const auto condition = [&](const Index& high, const Index& low, std::int64_t shift) {
    const auto d = add(high, scale(low, -1));
    if (!d) {
      report({.code = "NK-index-shapes",
              .message = "the two sides of a mask have shapes that do not fit each other",
              .edit = "give them shapes that broadcast"});
      throw KernelStopped{};
    }
    Index c = *d;
    c.base.constant += shift;
    return c;
  };
  Mask m;
  switch (op) {
  case Operation::less:
    m.conditions = {condition(*y, *x, -1)};
    break;
  case Operation::less_equal:
    m.conditions = {condition(*y, *x, 0)};
    break;
  case Operation::greater:
    m.conditions = {condition(*x, *y, -1)};
    break;
  case Operation::greater_equal:
    m.conditions = {condition(*x, *y, 0)};
    break;
  case Operation::equal:
    m.conditions = {condition(*x, *y, 0), condition(*y, *x, 0)};
    break;
  default:
    report({.code = "err_unsupported_expression_in_mask",
            .message = "!= is no half-space: a mask cannot leave out single places",
            .edit = "use <, <=, >, >= or == joined by &"});
    throw KernelStopped{};
  }
  return {m};
}

Value Session::both(const Value& a, const Value& b) {
  const Mask *x = a.get<Mask>(), *y = b.get<Mask>();
  if (x == nullptr || y == nullptr) {
    if (const bool* t = a.get<bool>(); t != nullptr && *t)
      return b;
    if (const bool* t = b.get<bool>(); t != nullptr && *t)
      return a;
    report({.code = "err_unsupported_expression_in_mask",
            .message = fmt::format("a mask is joined with {}", kind_of(x == nullptr ? a : b)),
            .edit = "join comparisons by &"});
    throw KernelStopped{};
  }
  Mask m = *x;
  m.conditions.insert(m.conditions.end(), y->conditions.begin(), y->conditions.end());
  return {m};
}

} // namespace kw::nki
