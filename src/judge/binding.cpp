// SPDX-License-Identifier: Apache-2.0
#include "judge/binding.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <limits>

namespace kw {
namespace {

constexpr std::int64_t most_elements = std::int64_t{1} << 33;

Result<std::vector<std::int64_t>> resolve_shape(const TensorSpec& spec, const Bindings& axes) {
  std::vector<std::int64_t> shape;
  std::int64_t elements = 1;
  for (const std::string& axis : *spec.shape) {
    const auto found = axes.find(axis);
    if (found == axes.end())
      return fail(ErrorKind::invalid_input,
                  fmt::format("tensor `{}` uses axis `{}`, which the workload does not bind",
                              spec.name, axis),
                  "give the axis a value in the workload, or declare it in the definition");
    // Sizes travel as doubles: 2^63 would not come back.
    const auto size = static_cast<std::int64_t>(std::min(found->second, 9e18));
    shape.push_back(size);
    if (size > 0 && elements > most_elements / size)
      return fail(
          ErrorKind::invalid_input,
          fmt::format("tensor `{}` would have more than {} elements", spec.name, most_elements),
          "use a smaller workload");
    elements *= size;
  }
  return shape;
}

std::int64_t count(std::span<const std::int64_t> shape) {
  std::int64_t n = 1;
  for (std::int64_t s : shape)
    n *= s;
  return n;
}

Result<double> evaluate(const std::string& text, const Bindings& axes) {
  if (text.empty())
    return 0.0;
  KW_TRY(Expr expression, Expr::parse(text));
  return expression.eval(axes);
}

const InputSpec* find_input(const Workload& workload, const std::string& name) {
  for (const auto& [key, spec] : workload.inputs)
    if (key == name)
      return &spec;
  return nullptr;
}

Result<DrawSpec> draw_spec(const TensorSpec& spec, const InputRule* rule, const Bindings& axes,
                           std::vector<std::int64_t> shape) {
  DrawSpec draw;
  draw.dtype = spec.dtype;
  draw.shape = std::move(shape);
  if (rule == nullptr)
    return draw;
  draw.kind = rule->kind;
  draw.low = rule->low;
  draw.high = rule->high;
  draw.scale = rule->scale;
  draw.value = rule->value.value_or(0);
  KW_TRY(double limit, evaluate(rule->limit, axes));
  draw.limit = static_cast<std::int64_t>(limit);
  if (rule->kind == "lengths") {
    LengthSpec lengths{.limit = draw.limit};
    KW_TRY(const double page, evaluate(rule->page, axes));
    lengths.page = std::max<std::int64_t>(static_cast<std::int64_t>(page), 1);
    for (const std::string& text : rule->edges) {
      KW_TRY(const double edge, evaluate(text, axes));
      lengths.edges.push_back(static_cast<std::int64_t>(edge));
    }
    draw.lengths = std::move(lengths);
  }
  return draw;
}

std::vector<InputClass> legal_classes(const DrawSpec& draw, const InputRule* rule) {
  std::vector<InputClass> all = applicable_classes(draw);
  if (rule == nullptr || rule->classes.empty())
    return all;
  std::vector<InputClass> chosen;
  for (InputClass c : all_input_classes())
    for (const std::string& wanted : rule->classes)
      if (name(c) == wanted)
        chosen.push_back(c);
  return chosen;
}

/// The greatest k of the outputs that rank this input; 0 = none does.
std::int64_t ranked_places(const Definition& definition, const TensorSpec& spec,
                           const Bindings& axes) {
  double most = 0;
  for (const TensorSpec& output : definition.outputs) {
    const auto policy = definition.ext.tolerance.find(output.name);
    if (policy == definition.ext.tolerance.end() || policy->second.ranks != spec.name ||
        output.is_scalar() || output.shape->empty())
      continue;
    if (const auto k = axes.find(output.shape->back()); k != axes.end())
      most = std::max(most, std::min(k->second, 9e18));
  }
  return static_cast<std::int64_t>(most);
}

Status bind_input(const Definition& definition, const Workload& workload, const TensorSpec& spec,
                  const TensorReader& read_input, BoundWorkload& out) {
  const auto found = definition.ext.inputs.find(spec.name);
  const InputRule* rule = found == definition.ext.inputs.end() ? nullptr : &found->second;
  const InputSpec* given = find_input(workload, spec.name);
  if (spec.is_scalar()) {
    BoundScalar scalar{.name = spec.name, .dtype = spec.dtype, .value = {}};
    if (rule != nullptr) {
      scalar.low = rule->low;
      scalar.high = rule->high;
      scalar.value = rule->value;
    }
    if (given != nullptr && std::holds_alternative<ScalarInput>(*given))
      scalar.value = std::get<ScalarInput>(*given).value;
    Argument argument;
    argument.kind = spec.dtype == DType::float64 ? Argument::Kind::float64
                    : is_float(spec.dtype)       ? Argument::Kind::float32
                                                 : Argument::Kind::integer;
    argument.index = out.scalars.size();
    out.scalars.push_back(scalar);
    out.arguments.push_back(argument);
    return {};
  }
  BoundInput input;
  input.name = spec.name;
  KW_TRY(std::vector<std::int64_t> shape, resolve_shape(spec, out.axes));
  input.bytes = byte_size(spec.dtype, count(shape));
  KW_TRY(input.draw, draw_spec(spec, rule, out.axes, std::move(shape)));
  input.draw.ranked = ranked_places(definition, spec, out.axes);
  if (input.draw.kind == "fp8_pages" && input.draw.shape.back() <= 4)
    return fail(ErrorKind::invalid_input,
                fmt::format("`{}` has {} bytes a vector, and four are its scale", spec.name,
                            input.draw.shape.back()),
                "make the last axis the length of a vector and 4");
  input.classes = legal_classes(input.draw, rule);
  input.hold = rule != nullptr && rule->hold;
  if (given != nullptr && std::holds_alternative<SafetensorsInput>(*given)) {
    KW_TRY(input.fixed,
           read_input(std::get<SafetensorsInput>(*given), spec.dtype, input.draw.shape));
    if (input.fixed.size() != input.bytes)
      return fail(ErrorKind::invalid_input,
                  fmt::format("safetensors input `{}` has {} bytes, its shape needs {}", spec.name,
                              input.fixed.size(), input.bytes),
                  "regenerate the blob or correct the workload's axes");
  }
  Argument argument;
  argument.kind = Argument::Kind::input;
  argument.index = out.inputs.size();
  out.inputs.push_back(std::move(input));
  out.arguments.push_back(argument);
  return {};
}

Status bind_output(const Definition& definition, const TensorSpec& spec, BoundWorkload& out) {
  BoundOutput output;
  output.name = spec.name;
  output.dtype = spec.dtype;
  KW_TRY(output.shape, resolve_shape(spec, out.axes));
  output.elements = count(output.shape);
  output.row = output.shape.empty() ? 1 : output.shape.back();
  output.bytes = byte_size(spec.dtype, output.elements);
  if (const auto found = definition.ext.tolerance.find(spec.name);
      found != definition.ext.tolerance.end()) {
    output.tolerance = found->second;
    KW_TRY(output.reduction, evaluate(found->second.reduction, out.axes));
  } else {
    output.tolerance = default_tolerance(spec.dtype);
  }
  out.outputs.push_back(std::move(output));
  return {};
}

/// Block tables learn how long their sequences are. Lengths that a workload brings are not known
/// before a trial: such a table is full of pages.
void join_block_tables(const Definition& definition, BoundWorkload& out) {
  for (BoundInput& table : out.inputs) {
    const auto rule = definition.ext.inputs.find(table.name);
    if (rule == definition.ext.inputs.end() || rule->second.kind != "block_table")
      continue;
    const auto of = std::ranges::find(out.inputs, rule->second.lengths, &BoundInput::name);
    if (of == out.inputs.end() || !of->fixed.empty() || !of->draw.lengths)
      continue;
    table.draw.lengths = of->draw.lengths;
    table.draw.lengths->tensor = static_cast<std::uint32_t>(of - out.inputs.begin());
    table.classes = of->classes;
  }
}

/// Inputs of which a call uses the rows that another one names.
Status bind_reaches(const Definition& definition, BoundWorkload& out) {
  constexpr std::array kinds = {"slots", "indices", "positions", "block_table"};
  for (BoundInput& input : out.inputs) {
    const auto rule = definition.ext.inputs.find(input.name);
    if (rule == definition.ext.inputs.end() || rule->second.reached_by.empty())
      continue;
    const auto by = std::ranges::find(out.inputs, rule->second.reached_by, &BoundInput::name);
    const std::int64_t elements = count(input.draw.shape);
    const bool names =
        by != out.inputs.end() && std::ranges::find(kinds, by->draw.kind) != kinds.end();
    if (!names || by->draw.limit < 1 || elements % by->draw.limit != 0 ||
        input.draw.dtype == DType::float4_e2m1)
      return fail(ErrorKind::invalid_input,
                  fmt::format("the rows of `{}` ({} elements) cannot be those that `{}` names",
                              input.name, elements, rule->second.reached_by),
                  "`reached_by` needs an input of kind slots, indices, positions or block_table "
                  "whose `limit` is the number of rows: it must divide the number of elements");
    input.reach = {.input = static_cast<std::size_t>(by - out.inputs.begin()),
                   .rows = by->draw.limit,
                   .row = elements / by->draw.limit};
  }
  return {};
}

Status bind_selection(BoundWorkload& out, BoundOutput& ids) {
  KW_TRY(const double n, evaluate(ids.tolerance.selects, out.axes));
  if (!(n >= 0 && n <= static_cast<double>(most_elements)))
    return fail(ErrorKind::invalid_input,
                fmt::format("`{}` selects among {} candidates", ids.name, n),
                "correct `selects` in x_kernwright.tolerance, or the workload's axes");
  ids.selection = BoundSelection{.rows = ids.row > 0 ? ids.elements / ids.row : 0,
                                 .n = static_cast<std::int64_t>(n)};
  return {};
}

/// Which tensors `ranks` and `values` name. The definition was checked, its numbers were not.
Status bind_ranking(const Definition& definition, BoundWorkload& out, BoundOutput& places) {
  const TolerancePolicy& policy = places.tolerance;
  BoundRanking ranking;
  const auto input = std::ranges::find(out.inputs, policy.ranks, &BoundInput::name);
  if (input == out.inputs.end())
    return fail(ErrorKind::invalid_input,
                fmt::format("`{}` ranks `{}`, which is no tensor among the inputs of `{}`",
                            places.name, policy.ranks, definition.name),
                "correct x_kernwright.tolerance");
  ranking.input = static_cast<std::size_t>(input - out.inputs.begin());
  ranking.n = input->draw.shape.empty() ? 1 : input->draw.shape.back();
  ranking.rows = places.row > 0 ? places.elements / places.row : 0;
  if (!policy.values.empty()) {
    const auto values = std::ranges::find(out.outputs, policy.values, &BoundOutput::name);
    if (values == out.outputs.end() || values->shape != places.shape ||
        values->dtype != input->draw.dtype)
      return fail(ErrorKind::invalid_input,
                  fmt::format("`{}` names `{}` as its values, which is no output of its shape and "
                              "of the type of `{}`",
                              places.name, policy.values, policy.ranks),
                  "correct x_kernwright.tolerance");
    ranking.values = static_cast<std::size_t>(values - out.outputs.begin());
  }
  if (places.row > ranking.n || count(input->draw.shape) != ranking.rows * ranking.n)
    return fail(ErrorKind::invalid_input,
                fmt::format("`{}` has {} places in a row, of {} elements of `{}`", places.name,
                            places.row, ranking.n, policy.ranks),
                "give the axes other values; a constraint of the definition keeps hidden shapes "
                "from asking for this");
  places.ranking = ranking;
  return {};
}

Status bind_sampling(const Definition& definition, BoundWorkload& out, BoundOutput& places) {
  const std::string& logits = places.tolerance.samples;
  const auto input = std::ranges::find(out.inputs, logits, &BoundInput::name);
  if (input == out.inputs.end())
    return fail(ErrorKind::invalid_input,
                fmt::format("`{}` samples `{}`, which is no tensor among the inputs of `{}`",
                            places.name, logits, definition.name),
                "correct x_kernwright.tolerance");
  const auto seed = std::ranges::find(out.inputs, places.tolerance.seed, &BoundInput::name);
  if (seed == out.inputs.end())
    return fail(ErrorKind::invalid_input,
                fmt::format("`{}` is drawn with the seed `{}`, which is no tensor among the inputs "
                            "of `{}`",
                            places.name, places.tolerance.seed, definition.name),
                "correct x_kernwright.tolerance");
  BoundSampling sampling;
  sampling.input = static_cast<std::size_t>(input - out.inputs.begin());
  sampling.seed = static_cast<std::size_t>(seed - out.inputs.begin());
  sampling.n = input->draw.shape.empty() ? 1 : input->draw.shape.back();
  sampling.rows = places.elements;
  if (sampling.n < 1 || count(input->draw.shape) != sampling.rows * sampling.n)
    return fail(ErrorKind::invalid_input,
                fmt::format("`{}` has {} places for {} elements of `{}`", places.name,
                            places.elements, count(input->draw.shape), logits),
                "give one place to every row, and every row an element");
  places.sampling = sampling;
  return {};
}

} // namespace

TolerancePolicy default_tolerance(DType dtype) {
  TolerancePolicy t;
  switch (dtype) {
  case DType::float64:
    t.rtol = 1e-10, t.atol_rms = 1e-12;
    break;
  case DType::float32:
    t.rtol = 1e-5, t.atol_rms = 1e-6;
    break;
  case DType::float16:
    t.rtol = 2e-3, t.atol_rms = 1e-3;
    break;
  case DType::bfloat16:
    t.rtol = 1.6e-2, t.atol_rms = 8e-3;
    break;
  // Above half a step of the format, so that the exact answer passes once it is stored.
  case DType::float8_e4m3fn:
    t.rtol = 1e-1, t.atol_rms = 5e-2;
    break;
  case DType::float8_e5m2:
    t.rtol = 1.5e-1, t.atol_rms = 5e-2;
    break;
  case DType::float4_e2m1:
    t.rtol = 3e-1, t.atol_rms = 5e-2;
    break;
  default:
    t.exact = true;
  }
  return t;
}

Result<BoundWorkload> bind_workload(const Definition& definition, const Workload& workload,
                                    const TensorReader& read_input) {
  BoundWorkload out;
  out.workload = workload;
  for (const Axis& axis : definition.axes) {
    if (!axis.is_variable()) {
      out.axes[axis.name] = static_cast<double>(*axis.value);
      continue;
    }
    bool bound = false;
    for (const auto& [key, value] : workload.axes)
      if (key == axis.name) {
        out.axes[axis.name] = static_cast<double>(value);
        out.axes_text += (out.axes_text.empty() ? "" : " ") + fmt::format("{}={}", key, value);
        bound = true;
      }
    if (!bound)
      return fail(ErrorKind::invalid_input,
                  fmt::format("workload `{}` gives no value for axis `{}` of `{}`", workload.uuid,
                              axis.name, definition.name),
                  "add it under the workload's \"axes\"");
  }
  for (const TensorSpec& spec : definition.inputs)
    KW_CHECK(bind_input(definition, workload, spec, read_input, out));
  for (const TensorSpec& spec : definition.outputs) {
    Argument argument;
    argument.kind = Argument::Kind::output;
    argument.index = out.outputs.size();
    KW_CHECK(bind_output(definition, spec, out));
    out.arguments.push_back(argument);
  }
  for (BoundOutput& output : out.outputs)
    if (!output.tolerance.ranks.empty())
      KW_CHECK(bind_ranking(definition, out, output));
    else if (!output.tolerance.samples.empty())
      KW_CHECK(bind_sampling(definition, out, output));
    else if (!output.tolerance.selects.empty())
      KW_CHECK(bind_selection(out, output));
  join_block_tables(definition, out);
  KW_CHECK(bind_reaches(definition, out));
  if (!is_contested(out)) // nothing to be near to
    for (BoundInput& input : out.inputs)
      std::erase(input.classes, InputClass::near_ties);
  for (const Axis& axis : definition.axes)
    if (axis.is_variable()) {
      Argument argument;
      argument.kind = Argument::Kind::integer;
      argument.index = std::numeric_limits<std::size_t>::max(); // an axis, not a scalar input
      argument.integer = static_cast<std::int64_t>(out.axes[axis.name]);
      out.arguments.push_back(argument);
    }
  KW_TRY(out.flops, evaluate(definition.ext.flops, out.axes));
  KW_TRY(out.bytes_read, evaluate(definition.ext.bytes_read, out.axes));
  KW_TRY(out.bytes_written, evaluate(definition.ext.bytes_written, out.axes));
  if (definition.ext.bytes_read.empty())
    for (const BoundInput& input : out.inputs)
      out.bytes_read += static_cast<double>(input.bytes);
  if (definition.ext.bytes_written.empty())
    for (const BoundOutput& output : out.outputs)
      out.bytes_written += static_cast<double>(output.bytes);
  return out;
}

double cost(const BoundWorkload& w) {
  return w.flops + 8 * (w.bytes_read + w.bytes_written);
}

bool is_contested(const BoundWorkload& w) {
  bool selects = false;
  for (const BoundOutput& output : w.outputs) {
    if (output.selection && output.selection->n > output.row)
      return true;
    selects = selects || output.selection;
  }
  return !selects;
}

bool all_drawn(const BoundWorkload& w) {
  return std::all_of(w.inputs.begin(), w.inputs.end(),
                     [](const BoundInput& i) { return i.fixed.empty(); });
}

namespace {

bool same_calls(const BoundWorkload& a, const BoundWorkload& b) {
  return a.axes == b.axes && all_drawn(a) && all_drawn(b) &&
         std::equal(a.scalars.begin(), a.scalars.end(), b.scalars.begin(), b.scalars.end(),
                    [](const BoundScalar& x, const BoundScalar& y) { return x.value == y.value; });
}

} // namespace

void join_twins(std::vector<BoundWorkload>& workloads) {
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    BoundWorkload& w = workloads[i];
    w.timing_weight = w.workload.weight;
    const auto first = std::find_if(
        workloads.begin(), workloads.begin() + static_cast<std::ptrdiff_t>(i),
        [&](const BoundWorkload& earlier) { return earlier.timed && same_calls(earlier, w); });
    w.timed = first == workloads.begin() + static_cast<std::ptrdiff_t>(i);
    if (w.timed)
      continue;
    first->twins.push_back(w.workload.uuid);
    first->timing_weight += w.workload.weight;
  }
}

} // namespace kw
