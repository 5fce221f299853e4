// SPDX-License-Identifier: Apache-2.0
#include "nki/python/run.hpp"

#include "nki/python/convert.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pybind11/stl.h>

namespace kw::nki::python {
namespace {

/// A decorated function. `kernel[2, 4](...)` launches a grid of programs.
struct PyKernel {
  py::object function;
  std::vector<std::int64_t> grid;
};

/// nt.tensor[128, 512]
struct Annotation {
  bool is_mutable = false;
  std::vector<std::int64_t> shape;
};

/// An exception of Python inside of a kernel, at the deepest line that is known.
void report_exception(Session& session, py::error_already_set& e) {
  py::object traceback = e.trace();
  SourcePlace place = session.place();
  while (traceback && !traceback.is_none()) {
    const py::object code = traceback.attr("tb_frame").attr("f_code");
    place = {.file = session.file(code.attr("co_filename").cast<std::string>()),
             .line = traceback.attr("tb_lineno").cast<std::int32_t>()};
    traceback = traceback.attr("tb_next");
  }
  session.at(place);
  session.api = "";
  const std::string type = e.type().attr("__name__").cast<std::string>(), text = py::str(e.value());
  const std::size_t colon = text.find(": ");
  const bool coded = text.starts_with("err_") && colon != std::string::npos;
  session.report({.code = coded ? text.substr(0, colon) : "NK-python",
                  .message = coded ? text.substr(colon + 2) : fmt::format("{}: {}", type, text),
                  .edit = "the kernel's own Python code failed here"});
}

/// Runs the kernel's Python once, in one mode.
void run_once(const py::object& kernel, const std::vector<KernelArgument>& arguments,
              const SessionOptions& options, Outcome& out) {
  out = {};
  out.session = std::make_shared<Session>(options);
  Session& s = *out.session;
  current() = out.session;
  try {
    py::tuple args(arguments.size());
    for (std::size_t k = 0; k < arguments.size(); ++k) {
      const KernelArgument& a = arguments[k];
      if (a.tensor)
        args[k] =
            PyTensor{out.session, s.parameter(a.tensor->name, a.tensor->element, a.tensor->shape,
                                              a.tensor->writable, a.tensor->bytes)};
      else
        args[k] = a.scalar;
    }
    const py::object returned = kernel.cast<const PyKernel&>().function(*args);
    s.finish();
    const auto take = [&](py::handle o) {
      if (!py::isinstance<PyTensor>(o))
        return;
      const TensorPtr t = o.cast<const PyTensor&>().tensor;
      out.results.push_back(t);
      s.result(t);
    };
    if (py::isinstance<py::tuple>(returned) || py::isinstance<py::list>(returned))
      for (const py::handle o : py::reinterpret_borrow<py::sequence>(returned))
        take(o);
    else
      take(returned);
  } catch (py::error_already_set& e) {
    if (!e.matches(PyExc_SystemExit))
      report_exception(s, e);
    s.finish();
    out.stopped = true;
  }
  current() = nullptr;
}

/// What holds of the results: written, and everywhere.
void check_results(Session& s, const Machine& machine, const std::vector<TensorPtr>& results) {
  s.at({});
  s.api = "return";
  if (results.empty()) {
    s.report({.code = "err_tensor_output_not_written_to",
              .message = "the kernel returns no tensor",
              .edit = "create the output with nl.ndarray(..., buffer=nl.shared_hbm), store to it "
                      "and return it"});
    return;
  }
  for (const TensorPtr& t : results) {
    const Buffer& b = s.buffer(*t);
    s.at(b.made);
    if (b.memory != Memory::shared_hbm) {
      s.report({.code = "NK-result-memory",
                .message = fmt::format("the kernel returns a tensor in {}", name(b.memory)),
                .limit = "shared_hbm",
                .edit = "store it to a tensor made with buffer=nl.shared_hbm",
                .operands = {{"result", t}}});
      continue;
    }
    std::int64_t first = 0;
    const std::int64_t missing = machine.unwritten(b.id, first);
    if (missing == 0)
      continue;
    std::string where;
    for (std::size_t k = b.shape.size(); k-- > 0;) {
      where = fmt::format("{}{}{}", first % b.shape[k], where.empty() ? "" : ", ", where);
      first /= b.shape[k];
    }
    const bool none = missing == b.elements();
    s.report(
        {.code = none ? "err_tensor_output_not_written_to" : "NK-output-partly-written",
         .message = none ? "a result is never written to"
                         : fmt::format(
                               "{} of {} elements of a result are never written, the first at [{}]",
                               missing, b.elements(), where),
         .edit = none ? "store to it with nl.store; a loop of 0 iterations stores nothing"
                      : "cover all tiles: check the loop bounds and masks of nl.store",
         .operands = {{"result", t}}});
  }
}

} // namespace

const Machine* Outcome::machine() const {
  return replayed ? replayed.get() : session->machine();
}

Outcome run_kernel(const py::object& kernel, const std::vector<KernelArgument>& arguments,
                   SessionOptions options) {
  Outcome out;
  options.grid = kernel.cast<const PyKernel&>().grid;
  run_once(kernel, arguments, options, out);
  if (out.session->needs_eager && options.mode == Mode::trace) {
    options.mode = Mode::eager;
    run_once(kernel, arguments, options, out);
  }
  Session& s = *out.session;
  const Program& program = s.program();
  const bool runs = !s.has_errors() && !out.stopped;
  if (runs && options.mode == Mode::trace) {
    MachineOptions m = options.machine;
    m.generation = options.generation;
    out.replayed = std::make_unique<Machine>(m);
    for (const Buffer& b : program.buffers) {
      const auto content = s.contents().find(b.id);
      out.replayed->add(b, content == s.contents().end()
                               ? std::span<const std::byte>{}
                               : std::span<const std::byte>(content->second));
    }
    py::gil_scoped_release release;
    const auto began = std::chrono::steady_clock::now();
    out.replayed->run(program);
    out.replay_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  }
  if (runs && out.machine() != nullptr) {
    s.report_findings(out.machine()->findings());
    check_results(s, *out.machine(), out.results);
  }
  return out;
}

bool is_kernel(py::handle object) {
  return py::isinstance<PyKernel>(object);
}

bool is_mutable_annotation(py::handle object) {
  return py::isinstance<Annotation>(object) && object.cast<const Annotation&>().is_mutable;
}

void check_annotation(Session& session, const std::string& name, py::handle annotation,
                      const TensorPtr& tensor) {
  if (!py::isinstance<Annotation>(annotation))
    return;
  const std::vector<std::int64_t>& wanted = annotation.cast<const Annotation&>().shape;
  if (wanted.empty() || tensor->poison || tensor->view.shape() == wanted)
    return;
  mark_place(session);
  session.api = "annotation";
  session.report(
      {.code = "err_annotation_shape_mismatch",
       .message = fmt::format("`{}` has the shape [{}], and is annotated as [{}]", name,
                              fmt::join(tensor->view.shape(), ", "), fmt::join(wanted, ", ")),
       .edit = "correct the annotation or the tensor",
       .operands = {{name, tensor}}});
}

void bind_run(py::module_& m) {
  py::class_<Annotation>(m, "annotation_type")
      .def("__getitem__",
           [](const Annotation& a, const py::object& shape) {
             Annotation out = a;
             const Value v = to_value(shape);
             if (const auto i = integer_of(v))
               out.shape = {*i};
             else if (v.list() != nullptr)
               for (const Value& x : *v.list())
                 out.shape.push_back(integer_of(x).value_or(-1));
             return out;
           })
      .def("__call__", [](const Annotation& a, const py::args&) { return a; })
      .def_readonly("is_mutable", &Annotation::is_mutable);
  m.attr("annotation") = Annotation{};
  m.attr("mutable_annotation") = Annotation{.is_mutable = true};
  py::class_<PyKernel>(m, "kernel")
      .def("__getitem__",
           [](const PyKernel& k, const py::object& grid) {
             PyKernel out = k;
             const Value v = to_value(grid);
             out.grid.clear();
             if (const auto i = integer_of(v))
               out.grid = {*i};
             else if (v.list() != nullptr)
               for (const Value& x : *v.list())
                 out.grid.push_back(integer_of(x).value_or(1));
             if (current()) {
               mark_place(*current());
               current()->api = "kernel";
               current()->report(
                   {.code = "err_nested_kernel_with_spmd_grid",
                    .message = "a kernel is launched with a grid inside of another kernel",
                    .edit = "call it without [...]"});
               stop_kernel();
             }
             return out;
           })
      .def("__call__",
           [](const PyKernel& k, const py::args& args, const py::kwargs& kwargs) -> py::object {
             if (current()) // a kernel inside of a kernel is a function
               return k.function(*args, **kwargs);
             throw py::value_error("pass this kernel to kernwright: `kernwright nki run FILE`");
           })
      .def_readonly("function", &PyKernel::function)
      .def("__getattr__", [](const PyKernel& k, const std::string& key) {
        return py::object(k.function.attr(key.c_str()));
      });
  m.def(
      "jit",
      [](const py::object& function, const py::kwargs&) -> py::object {
        if (function.is_none()) // @nki.jit(mode=...)
          return py::cpp_function([](const py::object& f) { return PyKernel{f, {}}; });
        return py::cast(PyKernel{function, {}});
      },
      py::arg("function") = py::none());
}

} // namespace kw::nki::python
