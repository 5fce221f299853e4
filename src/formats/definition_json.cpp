// SPDX-License-Identifier: Apache-2.0
#include "formats/definition_json.hpp"

#include "base/hash.hpp"
#include "base/strings.hpp"
#include "formats/decoding.hpp"
#include "formats/definition_ext.hpp"
#include "formats/python_scan.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kw {
namespace {

// Far above any real operator; they keep hostile files from costing quadratic time.
constexpr std::size_t max_names = 512, max_rank = 32;

const std::vector<std::string> top_keys{"name",        "op_type",     "axes", "inputs",
                                        "outputs",     "reference",   "tags", "description",
                                        "constraints", "x_kernwright"};
const std::vector<std::string> axis_keys{"type", "value", "description"};
const std::vector<std::string> tensor_keys{"shape", "dtype", "description"};
const std::vector<std::string> schema_dtypes{
    "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float4_e2m1",
    "int64",   "int32",   "int16",    "int8",          "bool"};

Axis decode_axis(Decoding& decoding, const std::string& name, const Json& j,
                 const std::string& pointer) {
  Axis axis{.name = name, .value = {}, .description = {}, .unknown = {}};
  if (!j.is_object()) {
    decoding.error(
        pointer, fmt::format("axis `{}` must be an object", name),
        lenient_integer(j)
            ? fmt::format(R"(write {{"type": "const", "value": {}}})", *lenient_integer(j))
            : R"(write {"type": "var"} or {"type": "const", "value": N})");
    return axis;
  }
  ObjectReader r(j, decoding.source(), pointer, decoding.errors());
  const Json* type = r.any("type");
  const bool has_value = j.contains("value");
  bool constant = has_value;
  if (type != nullptr) {
    constant = *type == "const";
    if (!constant && *type != "var")
      r.error("type", fmt::format("axis `{}` has an unknown type {}", name, dump_json(*type)),
              "use \"const\" or \"var\"");
  }
  if (constant) {
    axis.value = r.integer("value");
    if (*axis.value < 0)
      r.error("value", fmt::format("axis `{}` is negative: {}", name, *axis.value),
              "an axis has 0 or more elements");
  }
  axis.description = r.string_or("description", "");
  axis.unknown = decoding.unknown_keys(r, axis_keys);
  return axis;
}

TensorSpec decode_tensor(Decoding& decoding, const Definition& d, const std::string& name,
                         const Json& j, const std::string& pointer) {
  TensorSpec t;
  t.name = name;
  if (!j.is_object()) {
    decoding.error(pointer, fmt::format("tensor `{}` must be an object", name),
                   R"(write {"shape": [...], "dtype": "float32"})");
    return t;
  }
  ObjectReader r(j, decoding.source(), pointer, decoding.errors());
  std::vector<std::string> axis_names;
  for (const Axis& a : d.axes)
    axis_names.push_back(a.name);
  const Json* shape = r.any("shape");
  if (shape == nullptr) {
    r.error({}, fmt::format("tensor `{}` has no `shape`", name),
            "list its axes, or write null for a scalar argument");
  } else if (!shape->is_null() && !shape->is_array()) {
    r.error(
        "shape",
        fmt::format("`shape` of `{}` must be an array of axis names, or null for a scalar argument",
                    name));
  } else if (shape->size() > max_rank) {
    r.error("shape", fmt::format("`{}` has more than {} axes", name, max_rank));
  } else if (shape->is_array()) {
    t.shape.emplace();
    for (std::size_t i = 0; i < shape->size(); ++i) {
      const Json& item = (*shape)[i];
      const std::string at = pointer_to(pointer_to(pointer, "shape"), std::to_string(i));
      if (!item.is_string()) {
        decoding.error(
            at, fmt::format("`shape` of `{}` holds {}, not an axis name", name, dump_json(item)),
            "declare a const axis of that size and name it here");
        continue;
      }
      t.shape->push_back(item.get<std::string>());
      if (d.axis(t.shape->back()) != nullptr)
        continue;
      const std::string meant = nearest_name(t.shape->back(), axis_names);
      decoding.error(at,
                     fmt::format("tensor `{}` uses the axis `{}`, which is not declared", name,
                                 t.shape->back()),
                     meant.empty() ? "declare it under `axes`"
                                   : fmt::format("did you mean `{}`?", meant));
    }
  }
  const std::string dtype = r.string("dtype");
  const auto known = dtype_from_name(dtype);
  if (known && *known != DType::float64) {
    t.dtype = *known;
  } else if (!dtype.empty()) {
    const std::string meant = nearest_name(dtype, schema_dtypes);
    r.error("dtype", fmt::format("`{}` is no dtype of the schema", dtype),
            (meant.empty() || meant == dtype ? std::string()
                                             : fmt::format("did you mean `{}`? ", meant)) +
                fmt::format("known: {}", fmt::join(schema_dtypes, " ")));
  }
  t.description = r.string_or("description", "");
  t.unknown = decoding.unknown_keys(r, tensor_keys);
  return t;
}

void decode_tensors(Decoding& decoding, const Definition& d, ObjectReader& r, const char* key,
                    std::vector<TensorSpec>& out) {
  const Json* tensors = r.object(key);
  if (tensors == nullptr)
    return;
  if (tensors->size() > max_names)
    return r.error(key, fmt::format("more than {} tensors", max_names));
  for (const auto& [name, j] : tensors->items()) {
    const std::string pointer = pointer_to(r.pointer(key), name);
    if (name.empty())
      decoding.error(pointer, fmt::format("a tensor under `{}` has an empty name", key));
    out.push_back(decode_tensor(decoding, d, name, j, pointer));
  }
}

Json tensors_to_json(const std::vector<TensorSpec>& tensors) {
  Json out = Json::object();
  for (const TensorSpec& t : tensors) {
    Json j = Json::object();
    j["shape"] = t.shape ? Json(*t.shape) : Json(nullptr);
    j["dtype"] = std::string(name(t.dtype));
    if (!t.description.empty())
      j["description"] = t.description;
    merge_unknown(j, t.unknown);
    out[t.name] = std::move(j);
  }
  return out;
}

Json to_json(const Definition& d, SourceForm form) {
  Json j = Json::object();
  j["name"] = d.name;
  j["op_type"] = d.op_type;
  if (!d.description.empty())
    j["description"] = d.description;
  if (!d.tags.empty())
    j["tags"] = d.tags;
  j["axes"] = Json::object();
  for (const Axis& a : d.axes) {
    Json& axis = j["axes"][a.name] = Json::object();
    axis["type"] = a.is_variable() ? "var" : "const";
    if (a.value)
      axis["value"] = *a.value;
    if (!a.description.empty())
      axis["description"] = a.description;
    merge_unknown(axis, a.unknown);
  }
  if (!d.constraints.empty())
    j["constraints"] = d.constraints;
  j["inputs"] = tensors_to_json(d.inputs);
  j["outputs"] = tensors_to_json(d.outputs);
  j["reference"] = d.reference;
  if (d.ext.present)
    j["x_kernwright"] = ext_to_json(d, form == SourceForm::inlined);
  merge_unknown(j, d.unknown);
  return j;
}

} // namespace

std::optional<Definition> decode_definition(std::string_view text, const std::string& file,
                                            Issues& issues, ReferenceRule rule) {
  Decoding decoding({.file = file, .text = text}, issues);
  const Json j = parse_object(decoding);
  if (!j.is_object()) {
    decoding.finish();
    return std::nullopt;
  }
  Definition d;
  d.file = file;
  ObjectReader r(j, decoding.source(), "", decoding.errors());
  d.name = r.string("name");
  d.op_type = r.string("op_type");
  d.description = r.string_or("description", "");
  d.tags = r.strings_or_empty("tags");
  d.constraints = r.strings_or_empty("constraints");
  decoding.warn_null(r, "tags");
  decoding.warn_null(r, "constraints");
  for (std::size_t i = 0; i < d.constraints.size(); ++i)
    if (const PythonScan scan = scan_python(d.constraints[i]);
        scan.fault || trim(d.constraints[i]).empty())
      decoding.error(fmt::format("/constraints/{}", i),
                     fmt::format("constraint `{}` is no Python expression: {}", d.constraints[i],
                                 scan.fault.value_or("it is blank")));
  const Json* axes = r.object("axes");
  if (axes != nullptr && axes->size() > max_names)
    r.error("axes", fmt::format("more than {} axes", max_names));
  else if (axes != nullptr)
    for (const auto& [name, axis] : axes->items()) {
      if (name.empty())
        decoding.error("/axes", "an axis has an empty name");
      d.axes.push_back(decode_axis(decoding, name, axis, pointer_to("/axes", name)));
    }
  decode_tensors(decoding, d, r, "inputs", d.inputs);
  decode_tensors(decoding, d, r, "outputs", d.outputs);
  for (const TensorSpec& out : d.outputs)
    for (const TensorSpec& in : d.inputs)
      if (in.name == out.name)
        decoding.error(pointer_to("/outputs", out.name),
                       fmt::format("`{}` names both an input and an output", out.name),
                       "rename one of them");
  if (const Json* ext = r.object_or_null("x_kernwright"))
    decode_ext(decoding, *ext, d);
  if (rule == ReferenceRule::may_be_in_file && !j.contains("reference")) {
    if (d.ext.reference_file.empty())
      d.ext.reference_file = "reference.py";
    r.any("reference");
  } else {
    d.reference = r.string("reference");
    if (!d.reference.empty()) {
      const PythonScan scan = scan_python(d.reference);
      if (!scan.top_level_run)
        decoding.error("/reference", "the reference has no top-level `def run`",
                       scan.async_run ? "write `def run`, not `async def run`"
                                      : "define `def run(...)` at the first column; it takes the "
                                        "inputs and returns the outputs");
      if (scan.fault)
        decoding.warn("/reference",
                      fmt::format("the reference does not look like Python, {}", *scan.fault),
                      "the reference worker will refuse it if Python does");
    }
  }
  d.unknown = decoding.unknown_keys(r, top_keys);
  return decoding.finish() ? std::optional(std::move(d)) : std::nullopt;
}

void check_reference(const Definition& definition, Issues& issues) {
  const PythonScan scan = scan_python(definition.reference);
  const std::string where = definition.ext.reference_file.empty()
                                ? definition.file
                                : definition.folder + "/" + definition.ext.reference_file;
  if (!scan.top_level_run)
    issues.push_back(
        {Severity::error,
         {ErrorKind::invalid_input,
          fmt::format("the reference of `{}` has no top-level `def run`", definition.name),
          scan.async_run ? "write `def run`, not `async def run`"
                         : "define `def run(...)` at the first column; it takes the inputs and "
                           "returns the outputs",
          where}});
  if (scan.fault)
    issues.push_back({Severity::warning,
                      {ErrorKind::invalid_input,
                       fmt::format("the reference of `{}` does not look like Python, {}",
                                   definition.name, *scan.fault),
                       "the reference worker will refuse it if Python does", where}});
}

std::string encode_definition(const Definition& definition, SourceForm form) {
  return dump_json(to_json(definition, form), 2) + "\n";
}

std::string definition_hash(const Definition& definition) {
  return sha256_hex(dump_json(to_json(definition, SourceForm::inlined)));
}

} // namespace kw
