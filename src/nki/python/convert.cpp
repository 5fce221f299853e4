// SPDX-License-Identifier: Apache-2.0
#include "nki/python/convert.hpp"

#include <cstring>
#include <frameobject.h>

namespace kw::nki::python {

std::shared_ptr<Session>& current() {
  static std::shared_ptr<Session> session;
  return session;
}

void stop_kernel() {
  throw KernelStopped{};
}

void mark_place(Session& session) {
  PyFrameObject* frame = PyEval_GetFrame(); // borrowed
  if (frame == nullptr)
    return;
  PyCodeObject* code = PyFrame_GetCode(frame); // new reference
  SourcePlace place{.file = 0, .line = PyFrame_GetLineNumber(frame)};
  int line = 0, column = 0, end_line = 0, end_column = 0;
  if (PyCode_Addr2Location(code, PyFrame_GetLasti(frame), &line, &column, &end_line, &end_column) !=
      0) {
    place.column = column + 1;
    place.end_column = end_line == line ? end_column + 1 : 0;
    place.line = line;
  }
  place.file = session.file(PyUnicode_AsUTF8(code->co_filename));
  Py_DECREF(code);
  session.at(place);
}

namespace {

std::string text_of(py::handle object, const char* attribute) {
  PyObject* value = PyObject_GetAttrString(object.ptr(), attribute);
  if (value == nullptr) {
    PyErr_Clear();
    return {};
  }
  std::string text;
  if (PyUnicode_Check(value))
    text = PyUnicode_AsUTF8(value);
  Py_DECREF(value);
  return text;
}

/// Data behind the buffer protocol, rows in C order.
std::optional<HostArray> array_of(py::handle object) {
  const std::optional<Element> element = element_of_object(object.attr("dtype"));
  if (!element)
    return std::nullopt;
  HostArray out{.element = *element, .shape = {}, .bytes = {}};
  for (const py::handle size : py::reinterpret_borrow<py::tuple>(object.attr("shape")))
    out.shape.push_back(size.cast<std::int64_t>());
  const py::bytes bytes = object.attr("tobytes")();
  char* data = nullptr;
  Py_ssize_t size = 0;
  PyBytes_AsStringAndSize(bytes.ptr(), &data, &size);
  out.bytes.resize(static_cast<std::size_t>(size));
  std::memcpy(out.bytes.data(), data, out.bytes.size());
  return out;
}

} // namespace

std::optional<Element> element_of_object(py::handle object) {
  if (py::isinstance<PyElement>(object))
    return object.cast<PyElement>().element;
  if (PyUnicode_Check(object.ptr()))
    return element_from_name(PyUnicode_AsUTF8(object.ptr()));
  if (PyType_Check(object.ptr())) { // np.float32, ml_dtypes.bfloat16, bool
    const std::string name = text_of(object, "__name__");
    return name == "bool_" ? Element::boolean : element_from_name(name);
  }
  const std::string type = Py_TYPE(object.ptr())->tp_name;
  if (type.find("dtype") != std::string::npos || type.find("DType") != std::string::npos) {
    std::string name = text_of(object, "name");
    if (name == "void32" || name == "|V4")
      return Element::tfloat32;
    return element_from_name(name);
  }
  return std::nullopt;
}

Value to_value(py::handle object) {
  PyObject* o = object.ptr();
  if (o == Py_None)
    return {None{}};
  if (PyBool_Check(o))
    return {o == Py_True};
  if (PyLong_Check(o)) {
    int overflow = 0;
    const long long x = PyLong_AsLongLongAndOverflow(o, &overflow);
    return overflow != 0 ? Value{PyLong_AsDouble(o)} : Value{static_cast<std::int64_t>(x)};
  }
  if (PyFloat_CheckExact(o))
    return {PyFloat_AS_DOUBLE(o)};
  if (PyUnicode_Check(o))
    return {std::string(PyUnicode_AsUTF8(o))};
  if (py::isinstance<PyTensor>(object))
    return {object.cast<const PyTensor&>().tensor};
  if (py::isinstance<PyIndex>(object))
    return {object.cast<const PyIndex&>().index};
  if (py::isinstance<PyMask>(object))
    return {object.cast<const PyMask&>().mask};
  if (py::isinstance<PyElement>(object))
    return {object.cast<PyElement>().element};
  if (py::isinstance<PyMemory>(object))
    return {object.cast<PyMemory>().memory};
  if (py::isinstance<PyMember>(object))
    return {object.cast<const PyMember&>().member};
  if (py::isinstance<PyPartition>(object))
    return {object.cast<PyPartition>().size};
  if (py::isinstance<PyDynamicSlice>(object))
    return {object.cast<const PyDynamicSlice&>().slice};
  if (o == Py_Ellipsis)
    return {Ellipsis{}};
  if (PySlice_Check(o)) {
    const auto* s = reinterpret_cast<PySliceObject*>(o);
    Slice out;
    if (s->start != Py_None)
      out.start = index_of(to_value(s->start));
    if (s->stop != Py_None)
      out.stop = index_of(to_value(s->stop));
    if (s->step != Py_None)
      out.step = integer_of(to_value(s->step)).value_or(0);
    return {out};
  }
  if (PyTuple_Check(o) || PyList_Check(o)) {
    Values values;
    for (const py::handle item : py::reinterpret_borrow<py::sequence>(object))
      values.push_back(to_value(item));
    return list_of(std::move(values));
  }
  if (py::isinstance<PyCall>(object)) {
    const std::string path = object.cast<const PyCall&>().path;
    if (const auto op = operation_from_name(path.substr(path.find('.') + 1)))
      return {*op};
    return {Foreign{path}};
  }
  if (const auto element = element_of_object(object))
    return {*element};
  if (PyType_Check(o))
    return {Foreign{text_of(object, "__name__")}};
  if (PyObject_HasAttrString(o, "dtype") != 0 && PyObject_HasAttrString(o, "tobytes") != 0) {
    if (PyObject_HasAttrString(o, "shape") != 0 && py::len(object.attr("shape")) > 0) {
      if (auto array = array_of(object))
        return {std::move(*array)};
      return {Foreign{"ndarray of " + std::string(py::str(object.attr("dtype")))}};
    }
    const auto element = element_of_object(object.attr("dtype")); // a scalar of NumPy
    const double value = PyFloat_AsDouble(py::object(object.attr("__float__")()).ptr());
    if (element)
      return {TypedNumber{*element, value}};
    return text_of(object.attr("dtype"), "kind") == "f" ? Value{value}
                                                        : Value{static_cast<std::int64_t>(value)};
  }
  if (PyFloat_Check(o))
    return {PyFloat_AS_DOUBLE(o)};
  if (PyCallable_Check(o) != 0)
    if (const auto op = operation_from_name(text_of(object, "__name__")))
      return {*op};
  if (PyIndex_Check(o) != 0) {
    const py::object number = py::reinterpret_steal<py::object>(PyNumber_Index(o));
    if (number)
      return {static_cast<std::int64_t>(PyLong_AsLongLong(number.ptr()))};
    PyErr_Clear();
  }
  return {Foreign{Py_TYPE(o)->tp_name}};
}

Arguments to_arguments(const py::args& positional, const py::kwargs& named) {
  Arguments out;
  for (const py::handle a : positional)
    out.positional.push_back(to_value(a));
  for (const auto& [key, value] : named)
    out.named.emplace_back(key.cast<std::string>(), to_value(value));
  return out;
}

py::object to_python(const std::shared_ptr<Session>& session, const Value& value) {
  if (const auto* t = value.get<TensorPtr>())
    return py::cast(PyTensor{session, *t});
  if (const auto* i = value.get<Index>()) {
    if (const auto c = i->constant())
      return py::int_(*c);
    return py::cast(PyIndex{session, *i});
  }
  if (const auto* m = value.get<Mask>()) {
    bool constant = true, holds = true;
    for (const Index& c : m->conditions) {
      const auto x = c.constant();
      constant = constant && x.has_value();
      holds = holds && x.value_or(0) >= 0;
    }
    return constant ? py::object(py::bool_(holds)) : py::cast(PyMask{session, *m});
  }
  if (const auto* m = value.get<Member>())
    return py::cast(PyMember{*m});
  if (const auto* b = value.get<bool>())
    return py::bool_(*b);
  if (const auto* i = value.get<std::int64_t>())
    return py::int_(*i);
  if (const auto* d = value.get<double>())
    return py::float_(*d);
  if (const Values* list = value.list()) {
    py::tuple out(list->size());
    for (std::size_t k = 0; k < list->size(); ++k)
      out[k] = to_python(session, (*list)[k]);
    return out;
  }
  return py::none();
}

} // namespace kw::nki::python
