// SPDX-License-Identifier: Apache-2.0
#include "nki/python/source.hpp"

#include "nki/python/convert.hpp"
#include "nki/python/run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kw::nki::python {
namespace {

/// Nodes of Python's own tree: the module `_ast` has the types without the import of `ast`.
class Rewriter {
 public:
  explicit Rewriter(py::module_ ast) : ast_(std::move(ast)) {}

  void visit(const py::object& node) {
    if (is(node, "Assign")) {
      const py::list targets = node.attr("targets");
      if (targets.size() == 1 && is(targets[0], "Name") && functions_ > 0)
        node.attr("value") =
            call("named", node,
                 {string(targets[0].attr("id").cast<std::string>(), node), node.attr("value")});
    } else if (is(node, "AnnAssign") && functions_ > 0 && is(node.attr("target"), "Name") &&
               !node.attr("value").is_none()) {
      node.attr("value") = call("annotated", node,
                                {string(node.attr("target").attr("id").cast<std::string>(), node),
                                 node.attr("annotation"), node.attr("value")});
    }
    const bool function = is(node, "FunctionDef") || is(node, "AsyncFunctionDef");
    functions_ += function ? 1 : 0;
    for (const py::handle field : node.attr("_fields")) {
      const py::object value = py::getattr(node, field, py::none());
      if (py::isinstance<py::list>(value)) {
        for (const py::handle item : value)
          if (py::hasattr(item, "_fields"))
            visit(py::reinterpret_borrow<py::object>(item));
      } else if (py::hasattr(value, "_fields")) {
        visit(value);
      }
    }
    functions_ -= function ? 1 : 0;
  }

 private:
  bool is(const py::handle& node, const char* type) const {
    return py::isinstance(node, ast_.attr(type));
  }
  py::object place(py::object made, const py::object& like) const {
    for (const char* attribute : {"lineno", "col_offset", "end_lineno", "end_col_offset"})
      made.attr(attribute) = like.attr(attribute);
    return made;
  }
  py::object string(const std::string& text, const py::object& like) const {
    py::object node = ast_.attr("Constant")();
    node.attr("value") = text;
    node.attr("kind") = py::none();
    return place(node, like);
  }
  py::object call(const char* helper, const py::object& like,
                  const std::vector<py::object>& arguments) const {
    py::object name = ast_.attr("Name")();
    name.attr("id") = fmt::format("__kernwright_{}__", helper);
    name.attr("ctx") = ast_.attr("Load")();
    py::object node = ast_.attr("Call")();
    node.attr("func") = place(name, like);
    py::list args;
    for (const py::object& a : arguments)
      args.append(a);
    node.attr("args") = args;
    node.attr("keywords") = py::list();
    return place(node, like);
  }

  py::module_ ast_;
  int functions_ = 0;
};

/// Tiles made by an instruction take the name that they are assigned to.
py::object named(const std::string& name, const py::object& value) {
  if (current() && py::isinstance<PyTensor>(value)) {
    const TensorPtr& t = value.cast<const PyTensor&>().tensor;
    current()->rename(t->view.buffer, name);
  }
  return value;
}

py::object annotated(const std::string& name, const py::object& annotation,
                     const py::object& value) {
  if (current() && py::isinstance<PyTensor>(value))
    check_annotation(*current(), name, annotation, value.cast<const PyTensor&>().tensor);
  return named(name, value);
}

Diagnostic from_exception(const std::string& file, const py::error_already_set& e) {
  Diagnostic d{.severity = Severity::error, .code = "NK-python", .file = file};
  const std::string type = e.type().attr("__name__").cast<std::string>();
  d.message = fmt::format("{}: {}", type, std::string(py::str(e.value())));
  d.edit = "the module cannot be imported";
  if (e.matches(PyExc_SyntaxError)) {
    d.code = "NK-syntax";
    d.message = e.value().attr("msg").cast<std::string>();
    d.edit = "correct the Python syntax";
    if (!e.value().attr("lineno").is_none())
      d.line = e.value().attr("lineno").cast<std::int32_t>();
    if (!e.value().attr("offset").is_none())
      d.column = e.value().attr("offset").cast<std::int32_t>();
    return d;
  }
  for (py::object t = e.trace(); t && !t.is_none(); t = t.attr("tb_next"))
    if (t.attr("tb_frame").attr("f_code").attr("co_filename").cast<std::string>() == file)
      d.line = t.attr("tb_lineno").cast<std::int32_t>();
  return d;
}

} // namespace

Loaded load_source(const std::string& file, const std::string& text) {
  Loaded out;
  const py::module_ builtins = py::module_::import("builtins"), ast = py::module_::import("_ast");
  try {
    py::object tree = builtins.attr("compile")(text, file, "exec", ast.attr("PyCF_ONLY_AST"));
    Rewriter(ast).visit(tree);
    const py::module_ extension = py::module_::import("kernwright_nki");
    out.globals["__name__"] = "kernel";
    out.globals["__file__"] = file;
    out.globals["__kernwright_named__"] = extension.attr("named");
    out.globals["__kernwright_annotated__"] = extension.attr("annotated");
    builtins.attr("exec")(builtins.attr("compile")(tree, file, "exec"), out.globals);
  } catch (py::error_already_set& e) {
    out.diagnostics.push_back(from_exception(file, e));
    return out;
  }
  for (const auto& [key, value] : out.globals)
    if (is_kernel(value))
      out.kernels.push_back(key.cast<std::string>());
  return out;
}

void bind_source(py::module_& m) {
  m.def("named", &named);
  m.def("annotated", &annotated);
}

} // namespace kw::nki::python
