// SPDX-License-Identifier: Apache-2.0
// The Python modules that NKI kernels import: neuronxcc.nki with .language, .isa, .typing and
// .compiler, made of one extension module.
#include "nki/python/convert.hpp"
#include "nki/python/inspect.hpp"
#include "nki/python/run.hpp"
#include "nki/python/source.hpp"
#include "nki/trace/signature.hpp"

#include <fmt/format.h>

namespace kw::nki::python {
namespace {

std::shared_ptr<Session> session_or_stop(const std::string& what) {
  if (!current())
    throw py::value_error(fmt::format("err_nki_api_outside_of_nki_kernel: {} is called outside of "
                                      "a kernel; decorate the function with @nki.jit",
                                      what));
  mark_place(*current());
  return current();
}

/// `__name__` of an object that stands for a function or a type.
std::string instance_name(const std::string& key, std::string value) {
  if (key != "__name__" && key != "__qualname__")
    throw py::attribute_error(key);
  return value;
}

py::object call_path(const std::string& path, const py::args& args, const py::kwargs& kwargs) {
  const std::shared_ptr<Session> session = session_or_stop(path);
  return to_python(session, session->call(path, to_arguments(args, kwargs)));
}

// Loops

/// One loop of a kernel as an iterator of Python.
struct PyLoop {
  LoopKind kind;
  std::int64_t first, step, count;
};
struct PyLoopIterator {
  std::shared_ptr<Session> session;
  PyLoop loop;
  std::int64_t done = 0;
  Variable variable = -1;

  py::object next() {
    mark_place(*session);
    const bool traced = session->options().mode == Mode::trace;
    if (variable < 0) {
      if (loop.count <= 0)
        throw py::stop_iteration();
      variable = session->begin_loop(loop.kind, loop.first, loop.step, loop.count);
    } else if (traced || done >= loop.count) {
      session->end_loop(variable);
      throw py::stop_iteration();
    }
    if (traced)
      return py::cast(PyIndex{session, variable_index(variable)});
    const std::int64_t value = loop.first + done++ * loop.step;
    session->iterate(value);
    return py::int_(value);
  }
};

PyLoop loop_of(LoopKind kind, const py::args& args, const char* what) {
  const std::shared_ptr<Session> session = session_or_stop(what);
  std::vector<std::int64_t> numbers;
  for (const py::handle a : args) {
    const auto i = integer_of(to_value(a));
    if (!i) {
      session->api = what;
      session->report({.code = "NK-loop-bounds",
                       .message = fmt::format("a bound of {} is {}", what, kind_of(to_value(a))),
                       .edit = "bounds are integers known before the run"});
      stop_kernel();
    }
    numbers.push_back(*i);
  }
  PyLoop loop{.kind = kind, .first = 0, .step = 1, .count = 0};
  std::int64_t stop = 0;
  if (numbers.size() == 1)
    stop = numbers[0];
  else if (numbers.size() >= 2)
    loop.first = numbers[0], stop = numbers[1];
  if (numbers.size() == 3)
    loop.step = numbers[2];
  if (loop.step == 0)
    throw py::value_error("the step of a loop is 0");
  const std::int64_t span = loop.step > 0 ? stop - loop.first : loop.first - stop,
                     step = loop.step > 0 ? loop.step : -loop.step;
  loop.count = span <= 0 ? 0 : (span + step - 1) / step;
  return loop;
}

// Indices

Index arange(const py::args& args) {
  std::vector<std::int64_t> n;
  for (const py::handle a : args)
    n.push_back(integer_of(to_value(a)).value_or(0));
  const std::int64_t first = n.size() > 1 ? n[0] : 0,
                     stop = n.size() > 1 ? n[1]
                            : n.empty()  ? 0
                                         : n[0],
                     step = n.size() > 2 ? n[2] : 1;
  Index out;
  out.base.constant = first;
  out.dims.push_back({std::max<std::int64_t>(0, (stop - first + step - 1) / step), step});
  return out;
}

/// nl.mgrid[0:128, 0:512]: an index for each dimension.
struct PyGrid {
  std::shared_ptr<Session> session;
  std::vector<Index> axes;
  [[nodiscard]] PyIndex at(std::size_t k) const {
    if (k >= axes.size())
      throw py::index_error("nl.mgrid has fewer dimensions");
    return {session, axes[k]};
  }
};
struct PyGridMaker {};

PyGrid make_grid(const py::object& key) {
  const std::shared_ptr<Session> session = session_or_stop("nl.mgrid");
  const Value v = to_value(key);
  Values one{v};
  const Values& keys = v.list() != nullptr ? *v.list() : one;
  PyGrid grid{session, {}};
  for (std::size_t k = 0; k < keys.size(); ++k) {
    const Slice* s = keys[k].get<Slice>();
    const auto start =
        s != nullptr && s->start ? s->start->constant() : std::optional<std::int64_t>(0);
    const auto stop = s != nullptr && s->stop ? s->stop->constant() : std::nullopt;
    if (s == nullptr || !start || !stop) {
      session->api = "nl.mgrid";
      session->report({.code = "NK-bad-index",
                       .message = "nl.mgrid takes slices with constant bounds",
                       .edit = "nl.mgrid[0:128, 0:512], and add what varies to the result"});
      stop_kernel();
    }
    Index index{.base = {.constant = *start, .terms = {}},
                .dims = std::vector<Index::Dim>(keys.size())};
    index.dims[k] = {std::max<std::int64_t>(0, (*stop - *start + s->step - 1) / s->step), s->step};
    grid.axes.push_back(std::move(index));
  }
  return grid;
}

template <typename T>
py::object arithmetic(char op, const T& self, const py::object& other, bool reversed) {
  const std::shared_ptr<Session> session = session_or_stop("an index");
  session->api = "index";
  const Value a{self.index}, b = to_value(other);
  return to_python(session, reversed ? session->index_arithmetic(op, b, a)
                                     : session->index_arithmetic(op, a, b));
}
py::object compared(Operation op, const PyIndex& self, const py::object& other) {
  const std::shared_ptr<Session> session = session_or_stop("a mask");
  session->api = "mask";
  return to_python(session, session->compare_indices(op, {self.index}, to_value(other)));
}

/// `if i > 2:` cannot be answered while a loop is traced.
bool truth_of(const std::vector<Index>& of) {
  const std::shared_ptr<Session> session = session_or_stop("a condition");
  session->api = "if";
  for (const Index& i : of)
    for (const Index::Dim& d : i.dims)
      if (d.size > 1) {
        session->report({.code = "err_control_flow_condition_depending_on_arange",
                         .message = "control flow depends on nl.arange or nl.mgrid",
                         .edit = "pass the condition as mask="});
        stop_kernel();
      }
  session->needs_eager = true;
  stop_kernel();
}

// Tensors

py::object tensor_binary(Operation op, const PyTensor& self, const py::object& other,
                         bool reversed) {
  const std::shared_ptr<Session> session = session_or_stop("an operator");
  const Value a{self.tensor}, b = to_value(other);
  return to_python(session, reversed ? session->binary(op, b, a) : session->binary(op, a, b));
}

bool tensor_truth(const PyTensor& self) {
  const std::shared_ptr<Session> session = session_or_stop("a condition");
  session->api = "if";
  const bool one = self.tensor->view.elements() == 1;
  session->report(
      {.code = one ? "err_dynamic_control_flow_not_supported" : "err_ambiguous_tensor_truth_value",
       .message = one ? "control flow depends on the value of a tensor"
                      : "a tensor of several elements stands where a truth value is needed",
       .edit = one ? "use nl.where or a mask"
                   : "use &, | and ~ instead of and, or and not; ask for None with `is not None`",
       .operands = {{"condition", self.tensor}}});
  stop_kernel();
}

void bind_types(py::module_& m) {
  py::class_<PyElement>(m, "dtype")
      .def("__getattr__",
           [](const PyElement& e, const std::string& key) {
             return instance_name(key, std::string(name(e.element)));
           })
      .def_property_readonly("name",
                             [](const PyElement& e) { return std::string(name(e.element)); })
      .def_property_readonly("itemsize", [](const PyElement& e) { return bytes_of(e.element); })
      .def("__repr__", [](const PyElement& e) { return std::string(name(e.element)); })
      .def("__eq__",
           [](const PyElement& e, const py::object& other) {
             const auto o = element_of_object(other);
             return o && *o == e.element;
           })
      .def("__ne__",
           [](const PyElement& e, const py::object& other) {
             const auto o = element_of_object(other);
             return !o || *o != e.element;
           })
      .def(
          "__hash__",
          [](const PyElement& e) { return std::hash<std::string>()(std::string(name(e.element))); })
      .def("__call__", [](const PyElement&, const py::object& x) { return x; });
  py::class_<PyMemory>(m, "memory")
      .def("__repr__", [](const PyMemory& x) { return std::string(name(x.memory)); })
      .def("__eq__", [](const PyMemory& a, const py::object& b) {
        return py::isinstance<PyMemory>(b) && b.cast<PyMemory>().memory == a.memory;
      });
  py::class_<PyMember>(m, "member")
      .def_property_readonly("name", [](const PyMember& x) { return x.member.name; })
      .def_property_readonly("value", [](const PyMember& x) { return x.member.value; })
      .def("__int__", [](const PyMember& x) { return x.member.value; })
      .def("__index__", [](const PyMember& x) { return x.member.value; })
      .def("__eq__",
           [](const PyMember& a, const py::object& b) {
             return py::isinstance<PyMember>(b)
                        ? b.cast<PyMember>().member.value == a.member.value &&
                              b.cast<PyMember>().member.enumeration == a.member.enumeration
                        : PyLong_Check(b.ptr()) && b.cast<std::int64_t>() == a.member.value;
           })
      .def("__hash__", [](const PyMember& a) { return a.member.value; })
      .def("__lt__",
           [](const PyMember& a, const PyMember& b) { return a.member.value < b.member.value; })
      .def("__ge__",
           [](const PyMember& a, const PyMember& b) { return a.member.value >= b.member.value; })
      .def("__repr__",
           [](const PyMember& a) { return a.member.enumeration + "." + a.member.name; });
  py::class_<PyPartition>(m, "par_dim").def(py::init([](std::int64_t n) {
    return PyPartition{{n}};
  }));
  py::class_<PyDynamicSlice>(m, "ds").def(
      py::init([](const py::object& start, std::int64_t size) {
        return PyDynamicSlice{{index_of(to_value(start)).value_or(constant_index(0)), size}};
      }),
      py::arg("start"), py::arg("size"));
  py::class_<PyCall>(m, "function")
      .def("__call__", [](const PyCall& c, const py::args& args,
                          const py::kwargs& kwargs) { return call_path(c.path, args, kwargs); })
      .def("__getattr__",
           [](const PyCall& c, const std::string& key) {
             return instance_name(key, c.path.substr(c.path.find('.') + 1));
           })
      .def("__repr__", [](const PyCall& c) { return c.path; });
  py::class_<PyLoop>(m, "loop_range")
      .def("__iter__", [](const PyLoop& l) { return PyLoopIterator{current(), l}; })
      .def("__len__", [](const PyLoop& l) { return l.count; });
  py::class_<PyLoopIterator>(m, "loop_iterator")
      .def("__iter__", [](py::object self) { return self; })
      .def("__next__", &PyLoopIterator::next);
  py::class_<PyGrid>(m, "mgrid_indices")
      .def_property_readonly("p", [](const PyGrid& g) { return g.at(0); })
      .def_property_readonly("x", [](const PyGrid& g) { return g.at(1); })
      .def_property_readonly("y", [](const PyGrid& g) { return g.at(2); })
      .def_property_readonly("z", [](const PyGrid& g) { return g.at(3); })
      .def("__getitem__", [](const PyGrid& g, std::size_t k) { return g.at(k); })
      .def("__len__", [](const PyGrid& g) { return g.axes.size(); });
  py::class_<PyGridMaker>(m, "mgrid_maker")
      .def("__getitem__", [](const PyGridMaker&, const py::object& key) { return make_grid(key); });

  py::class_<PyIndex> index(m, "index");
  for (const auto& [method, op, reversed] : {std::tuple("__add__", '+', false),
                                             {"__radd__", '+', true},
                                             {"__sub__", '-', false},
                                             {"__rsub__", '-', true},
                                             {"__mul__", '*', false},
                                             {"__rmul__", '*', true},
                                             {"__floordiv__", '/', false},
                                             {"__mod__", '%', false}})
    index.def(method, [op = op, reversed = reversed](const PyIndex& self, const py::object& other) {
      return arithmetic(op, self, other, reversed);
    });
  for (const auto& [method, op] : {std::pair("__lt__", Operation::less),
                                   {"__le__", Operation::less_equal},
                                   {"__gt__", Operation::greater},
                                   {"__ge__", Operation::greater_equal},
                                   {"__eq__", Operation::equal},
                                   {"__ne__", Operation::not_equal}})
    index.def(method, [op = op](const PyIndex& self, const py::object& other) {
      return compared(op, self, other);
    });
  index
      .def("__neg__",
           [](const PyIndex& self) { return PyIndex{self.session, scale(self.index, -1)}; })
      .def("__getitem__",
           [](const PyIndex& self, const py::object& key) {
             return to_python(session_or_stop("an index"),
                              self.session->index_item(self.index, to_value(key)));
           })
      .def("__setitem__",
           [](const PyIndex&, const py::object&, const py::object&) {
             const std::shared_ptr<Session> session = session_or_stop("an index");
             session->api = "assignment";
             session->report(
                 {.code = "err_cannot_assign_to_index",
                  .message = "an index cannot be assigned to",
                  .edit = "make a tile of it first: nisa.iota(index, dtype=nl.uint32)"});
             stop_kernel();
           })
      .def_property_readonly("shape",
                             [](const PyIndex& self) {
                               py::tuple t(self.index.dims.size());
                               for (std::size_t j = 0; j < self.index.dims.size(); ++j)
                                 t[j] = self.index.dims[j].size;
                               return t;
                             })
      .def("__bool__", [](const PyIndex& self) { return truth_of({self.index}); })
      .def("__index__",
           [](const PyIndex& self) -> std::int64_t {
             truth_of({self.index});
             return 0;
           })
      .def("__repr__", [](const PyIndex& self) {
        return to_text(self.index, self.session->program().variables);
      });
  py::class_<PyMask>(m, "mask")
      .def("__and__",
           [](const PyMask& a, const py::object& b) {
             const auto session = session_or_stop("a mask");
             session->api = "mask";
             return to_python(session, session->both({a.mask}, to_value(b)));
           })
      .def("__rand__",
           [](const PyMask& a, const py::object& b) {
             const auto session = session_or_stop("a mask");
             session->api = "mask";
             return to_python(session, session->both({a.mask}, to_value(b)));
           })
      .def("__or__",
           [](const PyMask&, const py::object&) {
             const auto session = session_or_stop("a mask");
             session->api = "mask";
             session->report({.code = "err_unsupported_expression_in_mask",
                              .message = "masks are joined by |",
                              .edit = "join them by &, or use nl.where"});
             stop_kernel();
           })
      .def("__setitem__",
           [](const PyMask&, const py::object&, const py::object&) {
             const auto session = session_or_stop("a mask");
             session->api = "assignment";
             session->report({.code = "err_cannot_assign_to_index",
                              .message = "a mask cannot be assigned to",
                              .edit = "compute a tile instead"});
             stop_kernel();
           })
      .def("__bool__", [](const PyMask& a) { return truth_of(a.mask.conditions); });

  py::class_<PyTensor> tensor(m, "tensor");
  for (const auto& [method, op, reversed] : {std::tuple("__add__", Operation::add, false),
                                             {"__radd__", Operation::add, true},
                                             {"__sub__", Operation::subtract, false},
                                             {"__rsub__", Operation::subtract, true},
                                             {"__mul__", Operation::multiply, false},
                                             {"__rmul__", Operation::multiply, true},
                                             {"__truediv__", Operation::divide, false},
                                             {"__rtruediv__", Operation::divide, true},
                                             {"__pow__", Operation::power, false},
                                             {"__and__", Operation::bitwise_and, false},
                                             {"__or__", Operation::bitwise_or, false},
                                             {"__xor__", Operation::bitwise_xor, false},
                                             {"__lshift__", Operation::left_shift, false},
                                             {"__rshift__", Operation::right_shift, false},
                                             {"__lt__", Operation::less, false},
                                             {"__le__", Operation::less_equal, false},
                                             {"__gt__", Operation::greater, false},
                                             {"__ge__", Operation::greater_equal, false},
                                             {"__mod__", Operation::mod, false}})
    tensor.def(method,
               [op = op, reversed = reversed](const PyTensor& self, const py::object& other) {
                 return tensor_binary(op, self, other, reversed);
               });
  tensor
      .def("__eq__",
           [](const PyTensor& self, const py::object& other) -> py::object {
             return other.is_none() ? py::object(py::bool_(false))
                                    : tensor_binary(Operation::equal, self, other, false);
           })
      .def("__ne__", [](const PyTensor& self, const py::object& other) -> py::object {
        return other.is_none() ? py::object(py::bool_(true))
                               : tensor_binary(Operation::not_equal, self, other, false);
      });
  for (const auto& [method, op] : {std::pair("__iadd__", Operation::add),
                                   {"__isub__", Operation::subtract},
                                   {"__imul__", Operation::multiply},
                                   {"__itruediv__", Operation::divide}})
    tensor.def(method, [op = op](const PyTensor& self, const py::object& other) {
      const auto session = session_or_stop("an operator");
      return to_python(session, session->in_place(op, self.tensor, to_value(other)));
    });
  tensor
      .def("__neg__",
           [](const PyTensor& self) {
             const auto session = session_or_stop("an operator");
             return to_python(session, session->unary(Operation::negative, {self.tensor}));
           })
      .def("__invert__",
           [](const PyTensor& self) {
             const auto session = session_or_stop("an operator");
             return to_python(session, session->unary(Operation::invert, {self.tensor}));
           })
      .def("__getitem__",
           [](const PyTensor& self, const py::object& key) {
             const auto session = session_or_stop("an index");
             session->api = "index";
             return to_python(session, session->item(self.tensor, to_value(key)));
           })
      .def("__setitem__",
           [](const PyTensor& self, const py::object& key, const py::object& value) {
             const auto session = session_or_stop("an assignment");
             session->assign(self.tensor, to_value(key), to_value(value));
           })
      .def("__bool__", &tensor_truth)
      .def("__len__",
           [](const PyTensor& self) {
             return self.tensor->view.dims.empty() ? 0 : self.tensor->view.dims[0].size;
           })
      .def("__hash__",
           [](const PyTensor& self) { return std::hash<const void*>()(self.tensor.get()); })
      .def_property_readonly("shape",
                             [](const PyTensor& self) {
                               py::tuple t(self.tensor->view.dims.size());
                               for (std::size_t j = 0; j < t.size(); ++j)
                                 t[j] = self.tensor->view.dims[j].size;
                               return t;
                             })
      .def_property_readonly("ndim",
                             [](const PyTensor& self) { return self.tensor->view.dims.size(); })
      .def_property_readonly("dtype",
                             [](const PyTensor& self) { return PyElement{self.tensor->element}; })
      .def_property_readonly(
          "buffer",
          [](const PyTensor& self) { return PyMemory{self.session->memory(*self.tensor)}; })
      .def_property_readonly("itemsize",
                             [](const PyTensor& self) { return bytes_of(self.tensor->element); })
      .def("__repr__",
           [](const PyTensor& self) { return describe(self.session->buffer(*self.tensor)); });
  for (const char* method : {"broadcast_to", "reshape", "astype"})
    tensor.def(method, [method](const PyTensor& self, const py::args& args,
                                const py::kwargs& kwargs) {
      const auto session = session_or_stop(method);
      return to_python(session, session->method(self.tensor, method, to_arguments(args, kwargs)));
    });
}

/// An object with the given attributes.
py::object record(const py::module_& types,
                  const std::vector<std::pair<std::string, py::object>>& attributes) {
  py::object out = types.attr("SimpleNamespace")();
  for (const auto& [key, value] : attributes)
    py::setattr(out, key.c_str(), value);
  return out;
}

py::object enumeration(const py::module_& types, const std::string& enumeration_name,
                       const std::vector<std::pair<std::string, std::int64_t>>& members) {
  py::object out = types.attr("SimpleNamespace")();
  for (const auto& [member, value] : members)
    py::setattr(out, member.c_str(), py::cast(PyMember{{enumeration_name, member, value}}));
  return out;
}

} // namespace

py::module_ install(py::module_ extension) {
  const py::module_ types = py::module_::import("types"), sys = py::module_::import("sys");
  py::dict modules = sys.attr("modules");
  const auto make = [&](const std::string& path) {
    py::module_ m = types.attr("ModuleType")(path).cast<py::module_>();
    modules[py::str(path)] = m;
    const std::size_t dot = path.rfind('.');
    if (dot != std::string::npos)
      py::setattr(modules[py::str(path.substr(0, dot))], path.substr(dot + 1).c_str(), m);
    return m;
  };
  py::module_ top = make("neuronxcc");
  top.attr("__path__") = py::list();
  py::module_ nki = make("neuronxcc.nki");
  nki.attr("__path__") = py::list();
  py::module_ nl = make("neuronxcc.nki.language"), nisa = make("neuronxcc.nki.isa"),
              nt = make("neuronxcc.nki.typing"), ncc = make("neuronxcc.nki.compiler");

  for (const Call& c : calls_of(Dialect::v0_1)) {
    const std::string path(c.path);
    py::module_& to = path[1] == 'l' ? nl : nisa;
    to.attr(path.substr(path.find('.') + 1).c_str()) = PyCall{path};
  }
  for (int e = 0; e < element_count; ++e)
    nl.attr(std::string(name(static_cast<Element>(e))).c_str()) =
        PyElement{static_cast<Element>(e)};
  nl.attr("sbuf") = PyMemory{Memory::sbuf};
  nl.attr("psum") = PyMemory{Memory::psum};
  nl.attr("hbm") = PyMemory{Memory::private_hbm};
  nl.attr("private_hbm") = PyMemory{Memory::private_hbm};
  nl.attr("shared_hbm") = PyMemory{Memory::shared_hbm};
  nl.attr("par_dim") = extension.attr("par_dim");
  nl.attr("ds") = extension.attr("ds");
  nl.attr("mgrid") = PyGridMaker{};
  nl.attr("arange") = py::cpp_function(
      [](const py::args& args) { return PyIndex{session_or_stop("nl.arange"), arange(args)}; });
  for (const auto& [function, kind] :
       {std::pair("affine_range", LoopKind::affine), {"sequential_range", LoopKind::sequential}})
    nl.attr(function) = py::cpp_function([function = std::string("nl.") + function,
                                          kind = kind](const py::args& args, const py::kwargs&) {
      return loop_of(kind, args, function.c_str());
    });
  nl.attr("static_range") = py::module_::import("builtins").attr("range");
  nl.attr("tile_size") = record(types, {{"pmax", py::int_(128)},
                                        {"psum_fmax", py::int_(512)},
                                        {"gemm_stationary_fmax", py::int_(128)},
                                        {"gemm_moving_fmax", py::int_(512)},
                                        {"bn_stats_fmax", py::int_(512)},
                                        {"psum_min_align", py::int_(4)},
                                        {"sbuf_min_align", py::int_(4)}});
  constexpr double lowest = -0x1.fffffep127;
  nl.attr("fp32") = record(types, {{"min", py::float_(lowest)}});
  nisa.attr("fp32") = nl.attr("fp32");

  const std::vector<std::pair<std::string, std::int64_t>> engines = {
      {"tensor", 1}, {"vector", 5}, {"scalar", 2}, {"gpsimd", 3},
      {"dma", 4},    {"sync", 6},   {"unknown", 0}};
  nisa.attr("engine") = enumeration(types, "engine", engines);
  for (const auto& [engine, value] : engines)
    nisa.attr((engine + "_engine").c_str()) = PyMember{{"engine", engine, value}};
  nisa.attr("reduce_cmd") = enumeration(
      types, "reduce_cmd", {{"idle", 0}, {"reset", 1}, {"reduce", 2}, {"reset_reduce", 3}});
  nisa.attr("oob_mode") = enumeration(types, "oob_mode", {{"error", 0}, {"skip", 1}});
  nisa.attr("dge_mode") =
      enumeration(types, "dge_mode", {{"none", 0}, {"swdge", 1}, {"hwdge", 2}, {"unknown", 3}});
  nisa.attr("nc_version") = enumeration(types, "nc_version", {{"gen2", 2}, {"gen3", 3}});

  nt.attr("tensor") = extension.attr("annotation");
  nt.attr("mutable_tensor") = extension.attr("mutable_annotation");
  nt.attr("scalar") = extension.attr("annotation");
  ncc.attr("sbuf") = PyMemory{Memory::sbuf};
  ncc.attr("psum") = PyMemory{Memory::psum};

  for (const char* decorator : {"jit", "trace", "benchmark", "profile", "baremetal"})
    nki.attr(decorator) = extension.attr("jit");
  nki.attr("language") = nl;
  nki.attr("isa") = nisa;
  nki.attr("typing") = nt;
  nki.attr("compiler") = ncc;
  return nki;
}

} // namespace kw::nki::python

PYBIND11_MODULE(kernwright_nki, m) {
  using namespace kw::nki::python;
  m.doc() = "Kernwright's NKI: kernels run under Python, their tiles in C++";
  py::register_exception_translator([](std::exception_ptr p) {
    try {
      if (p)
        std::rethrow_exception(p);
    } catch (const kw::nki::KernelStopped&) {
      PyErr_SetString(PyExc_SystemExit, "kernel stopped");
    }
  });
  bind_types(m);
  bind_run(m);
  bind_source(m);
  bind_inspect(m);
  install(m);
}
