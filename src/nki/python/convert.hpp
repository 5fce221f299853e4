// SPDX-License-Identifier: Apache-2.0
// Objects of Python <-> values of a kernel.
#pragma once

#include "nki/trace/session.hpp"

#include <memory>
#include <pybind11/pybind11.h>
#include <string>

namespace kw::nki::python {

namespace py = pybind11;

/// Types that kernels see. A tensor keeps its session alive.
struct PyTensor {
  std::shared_ptr<Session> session;
  TensorPtr tensor;
};
struct PyIndex {
  std::shared_ptr<Session> session;
  Index index;
};
struct PyMask {
  std::shared_ptr<Session> session;
  Mask mask;
};
struct PyElement {
  Element element;
};
struct PyMemory {
  Memory memory;
};
struct PyMember {
  Member member;
};
struct PyPartition {
  PartitionSize size;
};
struct PyDynamicSlice {
  DynamicSlice slice;
};
/// A function of nki.language or nki.isa; as an argument it is an operator.
struct PyCall {
  std::string path;
};

/// The session whose kernel runs now; nullptr: none does.
[[nodiscard]] std::shared_ptr<Session>& current();

[[nodiscard]] Value to_value(py::handle object);
[[nodiscard]] py::object to_python(const std::shared_ptr<Session>& session, const Value& value);
[[nodiscard]] Arguments to_arguments(const py::args& positional, const py::kwargs& named);
/// float32, np.float32, np.dtype(...), ml_dtypes.bfloat16, "float32"
[[nodiscard]] std::optional<Element> element_of_object(py::handle object);

/// Tells the session which line of the kernel runs.
void mark_place(Session& session);
/// Ends the kernel; what is wrong has been reported.
[[noreturn]] void stop_kernel();

} // namespace kw::nki::python
