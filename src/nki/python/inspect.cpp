// SPDX-License-Identifier: Apache-2.0
#include "nki/python/inspect.hpp"

#include "nki/check/capacity.hpp"
#include "nki/check/text.hpp"
#include "nki/cost/model.hpp"
#include "nki/python/convert.hpp"
#include "nki/python/run.hpp"
#include "nki/python/source.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <pybind11/stl.h>

namespace kw::nki::python {
namespace {

using Json = nlohmann::ordered_json;

/// Normal numbers for floats, 0 to 9 for integers: the same for the same name.
std::vector<std::byte> drawn(const std::string& name, Element element, std::int64_t n) {
  std::uint64_t state = std::hash<std::string>()(name);
  const auto next = [&] {
    state += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  };
  std::vector<float> values(static_cast<std::size_t>(n));
  for (float& v : values) {
    if (!is_floating(element)) {
      v = static_cast<float>(next() % (element == Element::boolean ? 2 : 10));
      continue;
    }
    const double u = (static_cast<double>(next() >> 11) + 0.5) * 0x1p-53,
                 w = static_cast<double>(next() >> 11) * 0x1p-53;
    v = static_cast<float>(std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * w));
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(n) * bytes_of(element));
  store_floats(element, values.data(), bytes.data(), 1, n);
  return bytes;
}

Json to_json(const Diagnostic& d) {
  Json operands = Json::array();
  for (const OperandRow& o : d.operands)
    operands.push_back({{"parameter", o.parameter},
                        {"name", o.name},
                        {"dtype", o.element},
                        {"memory", o.memory},
                        {"shape", o.shape},
                        {"bytes_per_partition", o.bytes_per_partition}});
  return {{"severity", d.severity == Severity::error ? "error" : "warning"},
          {"code", d.code},
          {"message", d.message},
          {"file", d.file},
          {"line", d.line},
          {"column", d.column},
          {"end_column", d.end_column},
          {"api", d.api},
          {"operands", operands},
          {"limit", d.limit},
          {"edit", d.edit},
          {"times", d.times}};
}

Json to_json(const CostReport& c) {
  Json busy;
  for (const Engine e :
       {Engine::tensor, Engine::vector, Engine::scalar, Engine::gpsimd, Engine::dma})
    busy[std::string(name(e))] =
        c.latency_ns > 0 ? c.busy_ns[static_cast<std::size_t>(e)] / c.latency_ns : 0;
  return {{"modelled", true},
          {"latency_us", c.latency_ns / 1e3},
          {"bound", std::string(name(c.bound))},
          {"active", busy},
          {"instructions", c.instructions},
          {"hbm_read_bytes", c.hbm_read_bytes},
          {"hbm_write_bytes", c.hbm_write_bytes},
          {"sbuf_read_bytes", c.sbuf_read_bytes},
          {"sbuf_write_bytes", c.sbuf_write_bytes},
          {"psum_read_bytes", c.psum_read_bytes},
          {"psum_write_bytes", c.psum_write_bytes},
          {"hardware_flops", c.hardware_flops},
          {"transpose_flops", c.transpose_flops},
          {"floor_bytes", c.floor_bytes},
          {"waste", c.waste()}};
}

Json summary(const Outcome& o, const TensorPtr& t, const std::string& to_file) {
  const std::span<const std::byte> bytes = o.machine()->content(t->view.buffer);
  std::vector<float> values(static_cast<std::size_t>(t->view.elements()));
  load_floats(t->element, bytes.data(), 1, values.data(), static_cast<std::int64_t>(values.size()));
  double low = INFINITY, high = -INFINITY, sum = 0;
  std::int64_t nans = 0;
  for (const float v : values) {
    if (std::isnan(v)) {
      ++nans;
      continue;
    }
    low = std::min(low, static_cast<double>(v)), high = std::max(high, static_cast<double>(v)),
    sum += static_cast<double>(v);
  }
  Json out = {{"name", o.session->buffer(*t).name},
              {"dtype", std::string(name(t->element))},
              {"shape", t->view.shape()},
              {"min", low},
              {"max", high},
              {"mean", values.empty() ? 0 : sum / static_cast<double>(values.size())},
              {"nan", nans}};
  if (!to_file.empty()) {
    const py::object file = py::module_::import("io").attr("open")(to_file, "wb");
    file.attr("write")(py::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    file.attr("close")();
    out["file"] = to_file;
  }
  return out;
}

/// Equal but for the rounding of sums in another order.
bool same_results(const Outcome& a, const Outcome& b) {
  constexpr double tolerated = 1e-5; // of the norm
  if (a.results.size() != b.results.size() || a.machine() == nullptr || b.machine() == nullptr)
    return false;
  for (std::size_t k = 0; k < a.results.size(); ++k) {
    const Element element = a.results[k]->element;
    const auto n = static_cast<std::size_t>(a.results[k]->view.elements());
    if (static_cast<std::int64_t>(n) != b.results[k]->view.elements())
      return false;
    std::vector<float> x(n), y(n);
    load_floats(element, a.machine()->content(a.results[k]->view.buffer).data(), 1, x.data(),
                static_cast<std::int64_t>(n));
    load_floats(element, b.machine()->content(b.results[k]->view.buffer).data(), 1, y.data(),
                static_cast<std::int64_t>(n));
    double apart = 0, norm = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (std::isnan(x[i]) && std::isnan(y[i]))
        continue;
      if (x[i] == y[i]) { // infinities too
        norm += std::isinf(x[i]) ? 0 : static_cast<double>(x[i]) * static_cast<double>(x[i]);
        continue;
      }
      const double d = static_cast<double>(x[i]) - static_cast<double>(y[i]);
      apart += d * d, norm += static_cast<double>(x[i]) * static_cast<double>(x[i]);
    }
    if (!(apart <= tolerated * tolerated * norm))
      return false;
  }
  return true;
}

/// The parameters of the kernel by name, from `arguments` of the request.
std::vector<KernelArgument> bind_arguments(const py::object& kernel, const Json& request,
                                           std::vector<Diagnostic>& diagnostics) {
  const py::object code = kernel.attr("__code__");
  const auto count = code.attr("co_argcount").cast<std::size_t>();
  const py::tuple names = code.attr("co_varnames");
  const py::dict annotations = kernel.attr("__annotations__");
  const py::object defaults = kernel.attr("__defaults__");
  const std::size_t optional = defaults.is_none() ? 0 : py::len(defaults);
  const Json given = request.value("arguments", Json::object());
  std::vector<KernelArgument> out;
  const auto wrong = [&](std::string message, std::string edit) {
    diagnostics.push_back({.code = "NK-kernel-arguments",
                           .message = std::move(message),
                           .file = request.value("file", ""),
                           .edit = std::move(edit)});
  };
  for (std::size_t k = 0; k < count; ++k) {
    const auto name = names[k].cast<std::string>();
    const auto a = given.find(name);
    if (a == given.end()) {
      if (k + optional >= count) {
        out.push_back({.tensor = std::nullopt,
                       .scalar = py::object(
                           py::reinterpret_borrow<py::tuple>(defaults)[k + optional - count])});
        continue;
      }
      wrong(fmt::format("the kernel takes `{}`, which was not given", name),
            fmt::format("--arg {}=float32[128,512], or a number", name));
      continue;
    }
    if (!a->is_object()) {
      out.push_back({.tensor = std::nullopt,
                     .scalar = a->is_number_integer() ? py::object(py::int_(a->get<std::int64_t>()))
                               : a->is_number()       ? py::object(py::float_(a->get<double>()))
                               : a->is_boolean()      ? py::object(py::bool_(a->get<bool>()))
                                                 : py::object(py::str(a->get<std::string>()))});
      continue;
    }
    const auto element = element_from_name(a->value("dtype", "float32"));
    if (!element) {
      wrong(fmt::format("`{}` has the unknown dtype {}", name, a->value("dtype", "")),
            "float32, bfloat16, float16, int32 ...");
      continue;
    }
    TensorArgument t{.name = name,
                     .element = *element,
                     .shape = a->value("shape", std::vector<std::int64_t>{}),
                     .bytes = {}};
    std::int64_t n = 1;
    for (const std::int64_t size : t.shape)
      n *= size;
    t.writable = annotations.contains(name) && is_mutable_annotation(annotations[py::str(name)]);
    if (a->contains("data")) {
      const std::string file = (*a)["data"];
      const py::object f = py::module_::import("io").attr("open")(file, "rb");
      const std::string content = f.attr("read")().cast<std::string>();
      f.attr("close")();
      t.bytes.resize(content.size());
      std::memcpy(t.bytes.data(), content.data(), content.size());
      if (t.bytes.size() != static_cast<std::size_t>(n) * bytes_of(*element)) {
        wrong(fmt::format("{} has {} bytes, and `{}` needs {}", file, t.bytes.size(), name,
                          static_cast<std::size_t>(n) * bytes_of(*element)),
              "write the raw elements in row order");
        continue;
      }
    } else {
      t.bytes = drawn(name, *element, n);
    }
    out.push_back({.tensor = std::move(t), .scalar = py::none()});
  }
  for (const auto& [name, value] : given.items()) {
    bool known = false;
    for (std::size_t k = 0; k < count; ++k)
      known = known || names[k].cast<std::string>() == name;
    if (!known)
      wrong(fmt::format("the kernel has no parameter `{}`", name), "see its signature");
  }
  return out;
}

void check_capacity(const Program& program, const Core& core, std::vector<Diagnostic>& diagnostics,
                    Json& out) {
  const Capacity capacity = capacity_of(program, core);
  for (const auto& [use, memory] : {std::pair(&capacity.sbuf, "SBUF"), {&capacity.psum, "PSUM"}}) {
    out[memory] = {{"most", use->most}, {"limit", use->limit}};
    if (use->fits())
      continue;
    // What no instruction needs at once the compiler can spill to HBM and load again.
    const bool spills = use == &capacity.sbuf && capacity.largest_instruction <= use->limit;
    Diagnostic d{.severity = spills ? Severity::warning : Severity::error,
                 .code = spills ? "NK-sbuf-spill" : "GCA035",
                 .message = fmt::format(
                     "{} overflows: {} of {} bytes per partition are in use at the same time{}",
                     memory, use->most, use->limit,
                     spills ? ", so tiles are spilled to HBM and loaded again" : ""),
                 .line = use->where.line,
                 .column = use->where.column,
                 .end_column = use->where.end_column};
    if (static_cast<std::size_t>(use->where.file) < program.files.size())
      d.file = program.files[static_cast<std::size_t>(use->where.file)];
    d.limit = fmt::format("{} bytes per partition", use->limit);
    d.edit = "make tiles smaller, or load them inside the loop that uses them";
    for (const LiveTensor& t : use->tensors) {
      const Buffer& b = program.buffers[static_cast<std::size_t>(t.buffer)];
      d.operands.push_back({.parameter = fmt::format("{} tile{}", t.tiles, t.tiles == 1 ? "" : "s"),
                            .name = b.name,
                            .element = std::string(name(b.element)),
                            .memory = std::string(name(b.memory)),
                            .shape = b.shape,
                            .bytes_per_partition = t.bytes_per_partition});
    }
    diagnostics.push_back(std::move(d));
  }
}

constexpr std::int64_t most_for_second_look = 20'000; ///< instructions

Json inspect(const Json& request) {
  const std::string file = request.value("file", "kernel.py"), text = request.value("text", "");
  Json out = {{"schema", "kernwright.nki/1"}};
  const auto finish = [&](const std::vector<Diagnostic>& all) {
    Json list = Json::array();
    bool errors = false;
    for (const Diagnostic& d : all) {
      list.push_back(to_json(d));
      errors = errors || d.severity == Severity::error;
    }
    out["ok"] = !errors;
    out["diagnostics"] = list;
    out["text"] = to_text(all, text);
    return out;
  };
  const auto generation = generation_from_name(request.value("target", "gen2"));
  const auto dialect = dialect_from_name(request.value("dialect", "0.1"));
  if (!generation || !dialect || *dialect != Dialect::v0_1)
    return finish(
        {{.code = "NK-unsupported",
          .message = fmt::format("dialect {} on {} is not supported",
                                 request.value("dialect", "0.1"), request.value("target", "gen2")),
          .file = file,
          .edit = "dialect 0.1; targets gen2 and gen3"}});
  Loaded loaded = load_source(file, text);
  if (!loaded.diagnostics.empty())
    return finish(loaded.diagnostics);
  std::string chosen = request.value("kernel", "");
  if (chosen.empty() && !loaded.kernels.empty())
    chosen = std::ranges::find(loaded.kernels, "kernel") != loaded.kernels.end()
                 ? "kernel"
                 : loaded.kernels.back();
  if (std::ranges::find(loaded.kernels, chosen) == loaded.kernels.end())
    return finish(
        {{.code = "NK-no-kernel",
          .message = chosen.empty() ? "the file has no kernel"
                                    : fmt::format("the file has no kernel `{}`", chosen),
          .file = file,
          .edit = loaded.kernels.empty()
                      ? "decorate a function with @nki.jit"
                      : fmt::format("its kernels: {}", fmt::join(loaded.kernels, ", "))}});
  out["kernel"] = chosen;
  py::object kernel = loaded.globals[py::str(chosen)];
  if (request.contains("grid"))
    kernel = kernel[py::tuple(py::cast(request["grid"].get<std::vector<std::int64_t>>()))];
  std::vector<Diagnostic> diagnostics;
  const std::vector<KernelArgument> arguments = bind_arguments(kernel, request, diagnostics);
  if (!diagnostics.empty())
    return finish(diagnostics);
  SessionOptions options{.dialect = *dialect, .generation = *generation};
  if (request.value("mode", "trace") == "eager")
    options.mode = Mode::eager;
  options.machine.shadow = request.value("shadow", true);
  const Outcome first = run_kernel(kernel, arguments, options);
  const Session& s = *first.session;
  diagnostics = s.diagnostics();
  const bool traced = s.options().mode == Mode::trace;
  out["mode"] = traced ? "trace" : "eager";
  const bool clean = !s.has_errors() && first.machine() != nullptr;
  if (traced && !first.stopped)
    check_capacity(s.program(), s.core(), diagnostics, out["memory"]);
  if (first.machine() != nullptr) {
    out["instructions"] = first.machine()->executed();
    out["run_s"] = first.replay_seconds;
    Json results = Json::array();
    for (std::size_t k = 0; k < first.results.size(); ++k)
      results.push_back(summary(first, first.results[k],
                                request.contains("out")
                                    ? fmt::format("{}/{}.bin", request["out"].get<std::string>(), k)
                                    : ""));
    out["results"] = results;
  }
  if (clean && traced && request.value("twice", true) &&
      first.machine()->executed() <= most_for_second_look) {
    const auto differs = [&](const char* code, const char* message, const char* edit) {
      diagnostics.push_back({.code = code, .message = message, .file = file, .edit = edit});
    };
    SessionOptions eager = options;
    eager.mode = Mode::eager;
    if (s.options().grid.empty() && !same_results(first, run_kernel(kernel, arguments, eager)))
      differs("NK-trace-once",
              "the kernel gives something else when every iteration of its loops runs: in dialect "
              "0.1 the body of a loop is traced once",
              "keep Python values out of what changes from iteration to iteration; use "
              "nl.static_range where they must");
    for (const Order order : {Order::backward, Order::shuffled}) {
      SessionOptions shaken = options;
      shaken.machine.order = order;
      shaken.machine.seed = 1;
      const Outcome again = run_kernel(kernel, arguments, shaken);
      const bool races = again.session->has_errors();
      if (races)
        for (const Diagnostic& d : again.session->diagnostics())
          if (d.severity == Severity::error)
            diagnostics.push_back(d);
      if (!races && !same_results(first, again) && request.value("exact_order", false))
        differs("NK-order",
                "another order of the iterations of an affine_range gives another result",
                "use nl.sequential_range");
      if (races)
        break;
    }
  }
  if (request.value("cost", false) && traced && !first.stopped)
    out["cost"] = to_json(cost_of(s.program(), {.generation = *generation, .constants = {}}));
  return finish(diagnostics);
}

std::string inspect_text(const std::string& request) {
  const Json parsed = Json::parse(request, nullptr, false);
  if (parsed.is_discarded())
    throw py::value_error("the request is no JSON");
  return inspect(parsed).dump();
}

} // namespace

void bind_inspect(py::module_& m) {
  m.def("inspect", &inspect_text, py::arg("request"));
}

} // namespace kw::nki::python
