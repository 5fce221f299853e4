// SPDX-License-Identifier: Apache-2.0
#include "formats/workload_codec.hpp"

#include "base/strings.hpp"

#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kw {
namespace {

const std::vector<std::string> workload_keys{"uuid", "axes", "inputs", "x_kernwright"};
const std::vector<std::string> workload_input_keys{"type", "value", "path", "tensor_key"};
const std::vector<std::string> workload_ext_keys{"weight"};

ScalarInput decode_scalar(ObjectReader& r, const std::string& name) {
  ScalarInput s;
  const Json* v = r.any("value");
  if (v == nullptr) {
    r.error({}, fmt::format("the scalar input `{}` has no `value`", name));
    return s;
  }
  const auto number = lenient_number(*v);
  if (!number) {
    r.error("value", fmt::format("the value of `{}` must be a number or a boolean", name));
    return s;
  }
  s.value = *number;
  if (v->is_boolean())
    s.written = ScalarInput::Written::boolean;
  else if (v->is_number_integer() ||
           (v->is_string() &&
            v->get_ref<const std::string&>().find_first_of(".eEnN") == std::string::npos))
    s.written = ScalarInput::Written::integer;
  if (s.written == ScalarInput::Written::integer && std::fabs(s.value) > 0x1p53)
    r.error("value", fmt::format("the value of `{}` is beyond 2^53 and would lose digits", name),
            "pass it as a tensor");
  return s;
}

InputSpec decode_input(Decoding& decoding, const std::string& name, const Json& j,
                       const std::string& pointer) {
  if (!j.is_object()) {
    decoding.error(pointer, fmt::format("input `{}` must be an object", name),
                   j.is_number() || j.is_boolean()
                       ? fmt::format(R"(write {{"type": "scalar", "value": {}}})", dump_json(j))
                       : R"(write {"type": "random"})");
    return RandomInput{};
  }
  ObjectReader r(j, decoding.source(), pointer, decoding.errors());
  // Upstream takes whichever member of the union fits best when `type` is left out.
  std::string type = r.string_or("type", "");
  if (type.empty())
    type = j.contains("path") || j.contains("tensor_key") ? "safetensors"
           : j.contains("value")                          ? "scalar"
                                                          : "random";
  if (type == "random") {
    RandomInput random;
    random.unknown = decoding.unknown_keys(r, workload_input_keys);
    return random;
  }
  if (type == "scalar") {
    ScalarInput s = decode_scalar(r, name);
    s.unknown = decoding.unknown_keys(r, workload_input_keys);
    return s;
  }
  if (type == "safetensors") {
    SafetensorsInput s;
    s.path = r.string("path");
    s.tensor_key = r.string("tensor_key");
    s.unknown = decoding.unknown_keys(r, workload_input_keys);
    return s;
  }
  r.error("type", fmt::format("input `{}` has the unknown type `{}`", name, type),
          "use \"random\", \"scalar\" or \"safetensors\"");
  return RandomInput{};
}

Json input_to_json(const InputSpec& spec) {
  Json j = Json::object();
  if (const auto* scalar = std::get_if<ScalarInput>(&spec)) {
    j["type"] = "scalar";
    switch (scalar->written) {
    case ScalarInput::Written::boolean:
      j["value"] = scalar->value != 0;
      break;
    case ScalarInput::Written::integer:
      j["value"] = static_cast<std::int64_t>(scalar->value);
      break;
    case ScalarInput::Written::floating:
      j["value"] = number_to_json(scalar->value);
      break;
    }
    merge_unknown(j, scalar->unknown);
  } else if (const auto* tensor = std::get_if<SafetensorsInput>(&spec)) {
    j["type"] = "safetensors";
    j["path"] = tensor->path;
    j["tensor_key"] = tensor->tensor_key;
    merge_unknown(j, tensor->unknown);
  } else {
    j["type"] = "random";
    merge_unknown(j, std::get<RandomInput>(spec).unknown);
  }
  return j;
}

} // namespace

Workload decode_workload_object(Decoding& decoding, const Json& j, const std::string& pointer) {
  Workload w;
  ObjectReader r(j, decoding.source(), pointer, decoding.errors());
  w.uuid = r.string("uuid");
  if (const Json* axes = r.object("axes"))
    for (const auto& [name, value] : axes->items()) {
      const auto n = lenient_integer(value);
      if (!n || *n < 0)
        decoding.error(pointer_to(r.pointer("axes"), name),
                       fmt::format("axis `{}` must be an integer, 0 or more", name),
                       "give the size as a plain number");
      w.axes.emplace_back(name, n.value_or(0));
    }
  if (const Json* inputs = r.object("inputs"))
    for (const auto& [name, value] : inputs->items())
      w.inputs.emplace_back(
          name, decode_input(decoding, name, value, pointer_to(r.pointer("inputs"), name)));
  if (const Json* ext = r.object_or_null("x_kernwright")) {
    ObjectReader e(*ext, decoding.source(), r.pointer("x_kernwright"), decoding.errors());
    w.weight = e.number_or("weight", 1);
    if (!(w.weight > 0) || std::isinf(w.weight))
      e.error("weight", "the weight of a workload must be a finite number above 0",
              "weights are shares: 1 and 2 mean a third and two thirds");
    const std::string rest = decoding.unknown_keys(e, workload_ext_keys);
    w.unknown = rest.empty() ? rest : fmt::format(R"({{"x_kernwright":{}}})", rest);
  }
  const std::string rest = decoding.unknown_keys(r, workload_keys);
  if (w.unknown.empty())
    w.unknown = rest;
  else if (!rest.empty()) // join the two objects
    w.unknown = w.unknown.substr(0, w.unknown.size() - 1) + "," + rest.substr(1);
  return w;
}

Json workload_to_json(const Workload& workload) {
  Json j = Json::object();
  j["uuid"] = workload.uuid;
  j["axes"] = Json::object();
  for (const auto& [name, value] : workload.axes)
    j["axes"][name] = value;
  j["inputs"] = Json::object();
  for (const auto& [name, spec] : workload.inputs)
    j["inputs"][name] = input_to_json(spec);
  merge_unknown(j, workload.unknown);
  if (workload.weight != 1)
    j["x_kernwright"]["weight"] = workload.weight;
  return j;
}

} // namespace kw
