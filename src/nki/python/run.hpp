// SPDX-License-Identifier: Apache-2.0
// Running one kernel: its arguments become tensors, its results bytes, what is wrong diagnostics.
#pragma once

#include "nki/trace/session.hpp"

#include <memory>
#include <optional>
#include <pybind11/pybind11.h>
#include <string>
#include <vector>

namespace kw::nki::python {

struct TensorArgument {
  std::string name;
  Element element = Element::float32;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;
  bool writable = false; ///< annotated as nt.mutable_tensor
};
/// A tensor, or whatever else the kernel takes.
struct KernelArgument {
  std::optional<TensorArgument> tensor;
  pybind11::object scalar;
};

struct Outcome {
  std::shared_ptr<Session> session;
  std::vector<TensorPtr> results;
  std::unique_ptr<Machine> replayed; ///< of a traced kernel
  bool stopped = false;              ///< the kernel's Python did not come to its end
  double replay_seconds = 0;         ///< of a traced kernel
  /// What the kernel ran on; nullptr: it did not run, for the reasons in the diagnostics.
  [[nodiscard]] const Machine* machine() const;
};
/// Traced kernels are replayed; one whose Python needs the value of a loop variable runs eagerly.
[[nodiscard]] Outcome run_kernel(const pybind11::object& kernel,
                                 const std::vector<KernelArgument>& arguments,
                                 SessionOptions options);

[[nodiscard]] bool is_kernel(pybind11::handle object);
[[nodiscard]] bool is_mutable_annotation(pybind11::handle object);
/// `name: nt.tensor[128, 512] = tensor` says the shape.
void check_annotation(Session& session, const std::string& name, pybind11::handle annotation,
                      const TensorPtr& tensor);

/// jit and the annotations of nki.typing.
void bind_run(pybind11::module_& m);

} // namespace kw::nki::python
