// SPDX-License-Identifier: Apache-2.0
// What a kernel passes to an API call, and what it gets back.
#pragma once

#include "nki/ir/tensor.hpp"
#include "nki/lang/operation.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace kw::nki {

/// A tensor as a kernel holds it. `poison`: stands for the result of a call that was refused, so
/// that the rest of the kernel can be looked at; nothing is reported of it again.
struct Tensor {
  View view;
  Element element = Element::float32;
  bool poison = false;
};
using TensorPtr = std::shared_ptr<const Tensor>;

struct None {};
/// A number of NumPy: its type counts in promotions.
struct TypedNumber {
  Element element;
  double value;
};
/// nl.par_dim(128)
struct PartitionSize {
  std::int64_t size;
};
/// nl.ds(start, size)
struct DynamicSlice {
  Index start;
  std::int64_t size;
};
/// start:stop:step, where nullopt is left out; also `...` and None of an index.
struct Slice {
  std::optional<Index> start, stop;
  std::int64_t step = 1;
};
struct Ellipsis {};
/// A member of an enumeration of nki.isa, "engine.vector".
struct Member {
  std::string enumeration, name;
  std::int64_t value = 0;
};
/// Host data: nl.shared_constant takes it.
struct HostArray {
  Element element;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;
};
/// Anything else, by the name of its type.
struct Foreign {
  std::string type;
};

struct Value;
using Values = std::vector<Value>;
struct Value {
  std::variant<None, bool, std::int64_t, double, std::string, Element, Operation, Index, Mask,
               TensorPtr, Memory, TypedNumber, PartitionSize, DynamicSlice, Slice, Ellipsis, Member,
               HostArray, Foreign, std::shared_ptr<Values>>
      of;

  [[nodiscard]] bool is_none() const { return of.index() == 0; }
  template <typename T> [[nodiscard]] const T* get() const { return std::get_if<T>(&of); }
  [[nodiscard]] const Values* list() const {
    const auto* p = std::get_if<std::shared_ptr<Values>>(&of);
    return p == nullptr ? nullptr : p->get();
  }
};
[[nodiscard]] inline Value list_of(Values values) {
  return {std::make_shared<Values>(std::move(values))};
}
/// "a tensor", "an integer": for messages.
[[nodiscard]] std::string kind_of(const Value& v);
/// Numbers of any kind; nullopt for what has no value before the run.
[[nodiscard]] std::optional<double> number_of(const Value& v);
[[nodiscard]] std::optional<std::int64_t> integer_of(const Value& v);
/// Type of a number in promotions: bool is uint8, int is int32, float is float32.
[[nodiscard]] std::optional<Element> element_of(const Value& v);
/// Integers and indices.
[[nodiscard]] std::optional<Index> index_of(const Value& v);

/// One call: positional and named arguments as the kernel wrote them.
struct Arguments {
  Values positional;
  std::vector<std::pair<std::string, Value>> named;
};

} // namespace kw::nki
