// SPDX-License-Identifier: Apache-2.0
#include "nki/trace/value.hpp"

#include <cmath>

namespace kw::nki {

std::string kind_of(const Value& v) {
  struct Namer {
    std::string operator()(const None&) const { return "None"; }
    std::string operator()(bool) const { return "a bool"; }
    std::string operator()(std::int64_t) const { return "an integer"; }
    std::string operator()(double) const { return "a float"; }
    std::string operator()(const std::string& s) const { return "the string \"" + s + "\""; }
    std::string operator()(Element e) const { return "the data type " + std::string(name(e)); }
    std::string operator()(Operation op) const { return "the operator " + std::string(name(op)); }
    std::string operator()(const Index&) const { return "an index"; }
    std::string operator()(const Mask&) const { return "a mask"; }
    std::string operator()(const TensorPtr&) const { return "a tensor"; }
    std::string operator()(Memory m) const { return "the memory " + std::string(name(m)); }
    std::string operator()(const TypedNumber& n) const {
      return "a number of type " + std::string(name(n.element));
    }
    std::string operator()(const PartitionSize&) const { return "par_dim"; }
    std::string operator()(const DynamicSlice&) const { return "ds"; }
    std::string operator()(const Slice&) const { return "a slice"; }
    std::string operator()(const Ellipsis&) const { return "..."; }
    std::string operator()(const Member& m) const { return m.enumeration + "." + m.name; }
    std::string operator()(const HostArray&) const { return "a host array"; }
    std::string operator()(const Foreign& f) const { return "an object of type " + f.type; }
    std::string operator()(const std::shared_ptr<Values>&) const { return "a sequence"; }
  };
  return std::visit(Namer{}, v.of);
}

std::optional<double> number_of(const Value& v) {
  if (const auto* b = v.get<bool>())
    return *b ? 1 : 0;
  if (const auto* i = v.get<std::int64_t>())
    return static_cast<double>(*i);
  if (const auto* d = v.get<double>())
    return *d;
  if (const auto* n = v.get<TypedNumber>())
    return n->value;
  if (const auto* i = v.get<Index>())
    if (const auto c = i->constant())
      return static_cast<double>(*c);
  return std::nullopt;
}

std::optional<std::int64_t> integer_of(const Value& v) {
  if (const auto* i = v.get<std::int64_t>())
    return *i;
  if (const auto* b = v.get<bool>())
    return *b ? 1 : 0;
  if (const auto* i = v.get<Index>())
    return i->constant();
  if (const auto* n = v.get<TypedNumber>(); n != nullptr && !is_floating(n->element))
    return static_cast<std::int64_t>(n->value);
  return std::nullopt;
}

std::optional<Element> element_of(const Value& v) {
  if (v.get<bool>() != nullptr)
    return Element::uint8;
  if (v.get<std::int64_t>() != nullptr)
    return Element::int32;
  if (v.get<double>() != nullptr)
    return Element::float32;
  if (const auto* n = v.get<TypedNumber>())
    return n->element;
  if (const auto* t = v.get<TensorPtr>())
    return (*t)->element;
  if (v.get<Index>() != nullptr)
    return Element::int32;
  return std::nullopt;
}

std::optional<Index> index_of(const Value& v) {
  if (const auto* i = v.get<Index>())
    return *i;
  if (const auto i = integer_of(v))
    return constant_index(*i);
  return std::nullopt;
}

} // namespace kw::nki
