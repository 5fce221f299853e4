// SPDX-License-Identifier: Apache-2.0
#include "nki/trace/signature.hpp"

#include "base/strings.hpp"
#include "nki/trace/isa.hpp"
#include "nki/trace/language.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>

namespace kw::nki {
namespace {

/// Keywords that programs written by other tools pass and that change nothing.
constexpr std::array ignored = {
    "name", "lazy_initialization", "asynchronous", "parallel_reduce", "dge_mode", "force_select"};

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && s.front() == ' ')
    s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ')
    s.remove_suffix(1);
  return s;
}

} // namespace

Bound::Bound(Session& session, std::string_view signature, const Arguments& arguments)
    : session_(session) {
  bool positional = true;
  std::size_t most = 0;
  std::vector<bool> required;
  for (std::size_t at = 0; at <= signature.size();) {
    const std::size_t end = std::min(signature.find(',', at), signature.size());
    const std::string_view part = trimmed(signature.substr(at, end - at));
    at = end + 1;
    if (part == "*") {
      positional = false;
      continue;
    }
    if (part.empty())
      continue;
    const std::size_t equals = part.find('=');
    parameters_.push_back({.name = std::string(part.substr(0, equals)), .value = {None{}}});
    required.push_back(equals == std::string_view::npos);
    most += positional ? 1 : 0;
  }
  if (arguments.positional.size() > most) {
    session_.report({.code = "NK-arguments",
                     .message = fmt::format("{} takes {} positional arguments and got {}",
                                            session_.api, most, arguments.positional.size()),
                     .edit = fmt::format("its parameters are: {}", signature)});
    throw KernelStopped{};
  }
  for (std::size_t i = 0; i < arguments.positional.size(); ++i) {
    parameters_[i].value = arguments.positional[i];
    parameters_[i].given = true;
  }
  for (const auto& [name, value] : arguments.named) {
    const auto p = std::ranges::find(parameters_, name, &Parameter::name);
    if (p != parameters_.end()) {
      if (p->given) {
        session_.report({.code = "NK-arguments",
                         .message = fmt::format("{} got `{}` twice", session_.api, name),
                         .edit = "pass it once"});
        throw KernelStopped{};
      }
      p->value = value;
      p->given = true;
      continue;
    }
    if (std::ranges::find(ignored, name) != ignored.end())
      continue;
    std::vector<std::string> names;
    for (const Parameter& q : parameters_)
      names.push_back(q.name);
    const std::string meant = nearest_name(name, names);
    session_.report({.code = "NK-arguments",
                     .message = fmt::format("{} has no parameter `{}`", session_.api, name),
                     .edit = meant.empty() ? fmt::format("its parameters are: {}", signature)
                                           : fmt::format("did you mean `{}`?", meant)});
    throw KernelStopped{};
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    if (required[i] && !parameters_[i].given) {
      session_.report({.code = "NK-arguments",
                       .message = fmt::format("{} needs `{}`", session_.api, parameters_[i].name),
                       .edit = fmt::format("its parameters are: {}", signature)});
      throw KernelStopped{};
    }
}

const Value& Bound::operator[](std::string_view parameter) const {
  static const Value nothing{None{}};
  const auto p = std::ranges::find(parameters_, parameter, &Parameter::name);
  return p == parameters_.end() ? nothing : p->value;
}

bool Bound::has(std::string_view parameter) const {
  return !(*this)[parameter].is_none();
}

TensorPtr Bound::tensor(std::string_view parameter) const {
  const Value& v = (*this)[parameter];
  const auto* t = v.get<TensorPtr>();
  if (t == nullptr) {
    session_.report({.code = "NK-argument-type",
                     .message = fmt::format("`{}` of {} is {}, and must be a tensor", parameter,
                                            session_.api, kind_of(v)),
                     .edit = v.get<Index>() != nullptr ? "make a tile of an index with nisa.iota"
                                                       : "pass a tile"});
    return nullptr;
  }
  if (!session_.readable(*t, parameter))
    return nullptr;
  return *t;
}

std::optional<Element> Bound::element(std::string_view parameter) const {
  const Value& v = (*this)[parameter];
  if (v.is_none())
    return std::nullopt;
  if (const auto* e = v.get<Element>())
    return *e;
  if (const auto* s = v.get<std::string>())
    if (const auto e = element_from_name(*s))
      return e;
  const std::string what = v.get<Foreign>() != nullptr ? v.get<Foreign>()->type : kind_of(v);
  session_.report(
      {.code = "NK-dtype",
       .message =
           fmt::format("`{}` of {} is {}, which no NeuronCore has", parameter, session_.api, what),
       .edit = "use nl.float32, nl.bfloat16, nl.float16, nl.float8_e4m3, nl.float8_e5m2, nl.int32, "
               "nl.int16, nl.int8, nl.uint32, nl.uint16, nl.uint8 or nl.bool_"});
  return std::nullopt;
}

Operation Bound::operation(std::string_view parameter) const {
  const Value& v = (*this)[parameter];
  if (v.is_none())
    return Operation::none;
  if (const auto* op = v.get<Operation>())
    return *op;
  session_.report({.code = "NK-operator",
                   .message = fmt::format("`{}` of {} is {}, and must be an operator", parameter,
                                          session_.api, kind_of(v)),
                   .edit = "pass a function of nki.language or NumPy, such as nl.add or np.add"});
  return Operation::none;
}

bool Bound::flag(std::string_view parameter) const {
  return number_of((*this)[parameter]).value_or(0) != 0;
}

std::vector<std::int64_t> Bound::integers(std::string_view parameter) const {
  const Value& v = (*this)[parameter];
  std::vector<std::int64_t> out;
  if (const auto i = integer_of(v))
    return {*i};
  if (const Values* list = v.list())
    for (const Value& x : *list) {
      if (const auto* p = x.get<PartitionSize>())
        out.push_back(p->size);
      else if (const auto i = integer_of(x))
        out.push_back(*i);
      else
        return {};
    }
  return out;
}

Mask Bound::mask() const {
  const Value& v = (*this)["mask"];
  if (v.is_none())
    return {};
  if (const auto* m = v.get<Mask>())
    return *m;
  if (const auto* b = v.get<bool>()) // a comparison of constants
    return *b ? Mask{} : Mask{.conditions = {constant_index(-1)}};
  session_.report({.code = "err_unsupported_expression_in_mask",
                   .message = fmt::format("the mask of {} is {}", session_.api, kind_of(v)),
                   .edit = "compare affine expressions of nl.arange, loop variables and constants; "
                           "for values read at run time use nl.where"});
  return {};
}

std::int64_t Bound::member(std::string_view parameter, std::int64_t otherwise) const {
  const Value& v = (*this)[parameter];
  if (const auto* m = v.get<Member>())
    return m->value;
  return integer_of(v).value_or(otherwise);
}

Engine Bound::engine() const {
  switch (member("engine", 0)) { // values of nki.isa.engine
  case 1:
    return Engine::tensor;
  case 5:
    return Engine::vector;
  case 2:
    return Engine::scalar;
  case 3:
    return Engine::gpsimd;
  default:
    return Engine::none;
  }
}

const std::vector<Call>& calls_of(Dialect) {
  static const std::vector<Call> calls = [] {
    std::vector<Call> all;
    for (const auto* part :
         {&language_tensors_calls(), &language_arithmetic_calls(), &language_reduce_calls(),
          &isa_arithmetic_calls(), &isa_select_calls(), &isa_matrix_calls(), &isa_search_calls()})
      all.insert(all.end(), part->begin(), part->end());
    return all;
  }();
  return calls;
}

bool Session::knows(std::string_view path, Dialect dialect) {
  const auto& calls = calls_of(dialect);
  return std::ranges::find(calls, path, &Call::path) != calls.end();
}

Value Session::call(std::string_view path, const Arguments& arguments) {
  static const std::map<std::string_view, const Call*> by_path = [] {
    std::map<std::string_view, const Call*> m;
    for (const Call& c : calls_of(Dialect::v0_1))
      m[c.path] = &c;
    return m;
  }();
  const auto found = by_path.find(path);
  if (found == by_path.end()) {
    api = path;
    report({.code = "NK-unknown-name",
            .message = fmt::format("{} does not exist in dialect {}", path, name(options_.dialect)),
            .edit = "see the names of nki.language and nki.isa"});
    throw KernelStopped{};
  }
  const Call& c = *found->second;
  api = c.path;
  if (c.handler == nullptr) {
    report({.code = "NK-unsupported",
            .message = fmt::format("{} is part of NKI and not supported by this simulator", path),
            .edit = "use another instruction, or check the kernel with the real compiler"});
    throw KernelStopped{};
  }
  Bound bound(*this, c.signature, arguments);
  return c.handler(*this, bound, c.operation);
}

} // namespace kw::nki
