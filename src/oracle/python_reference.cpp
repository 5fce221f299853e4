// SPDX-License-Identifier: Apache-2.0
#include "oracle/python_reference.hpp"

#include "base/hash.hpp"
#include "oracle/peer.hpp"
#include "oracle/python_adapter.hpp"
#include "os/files.hpp"
#include "os/process.hpp"

#include <fmt/format.h>
#include <map>
#include <mutex>
#include <sstream>

namespace kw {
namespace {

/// Prints one fact per line; a module that fails to import is simply absent.
constexpr const char* probe_text = R"(
import sys
print("version", ".".join(map(str, sys.version_info[:3])))
try:
    import numpy
    print("numpy", numpy.__version__)
except Exception:
    pass
try:
    import torch
    print("torch", torch.__version__)
    for name in ("float64 float32 float16 bfloat16 float8_e4m3fn float8_e5m2 int64 int32 int16 int8 bool".split()):
        if hasattr(torch, name):
            print("dtype", name)
except Exception:
    pass
)";

Result<std::string> write_adapter(const OracleContext& context, const PythonAdapter& adapter) {
  KW_CHECK(make_dirs(context.scratch_dir));
  const std::string path =
      join_path(context.scratch_dir, sha256_hex(adapter.text).substr(0, 24) + ".py");
  if (!is_file(path))
    KW_CHECK(write_file_atomic(path, adapter.text));
  return path;
}

Status require(const PythonProbe& probe, const OracleContext& context, bool torch,
               const std::string& what) {
  if (!probe.present)
    return fail(ErrorKind::unsupported,
                fmt::format("{} is Python, and {} does not run", what, context.python),
                "install python3 (Debian: apt-get install python3 python3-numpy)");
  if (probe.numpy.empty())
    return fail(ErrorKind::unsupported,
                fmt::format("{} is Python, and {} has no NumPy", what, context.python),
                "install it (Debian: apt-get install python3-numpy)");
  if (torch && probe.torch.empty())
    return fail(ErrorKind::unsupported,
                fmt::format("{} needs torch, which {} does not have", what, context.python),
                "install it (Debian: apt-get install python3-torch), or write a C++ oracle");
  return {};
}

} // namespace

PythonProbe probe_python(const std::string& python) {
  static std::mutex guard;
  static std::map<std::string, PythonProbe> known;
  const std::lock_guard<std::mutex> lock(guard);
  if (const auto found = known.find(python); found != known.end())
    return found->second;
  PythonProbe out;
  ChildSpec child;
  child.program = python;
  child.args = {"-I", "-c", probe_text};
  child.environment = {"PATH=/usr/bin:/bin", "HOME=/nonexistent", "OMP_NUM_THREADS=1"};
  const Result<ChildReport> report = run_child(child);
  if (report && report->ok()) {
    out.present = true;
    std::istringstream lines(report->out);
    std::string key, value;
    while (lines >> key >> value) {
      if (key == "version")
        out.version = value;
      else if (key == "numpy")
        out.numpy = value;
      else if (key == "torch")
        out.torch = value;
      else if (key == "dtype")
        out.torch_dtypes.push_back(value);
    }
  }
  if (!out.present)
    out.remedy = "apt-get install python3 python3-numpy";
  else if (out.numpy.empty())
    out.remedy = "apt-get install python3-numpy";
  else if (out.torch.empty())
    out.remedy = "apt-get install python3-torch (only for torch references and PyTorch peers)";
  known[python] = out;
  return out;
}

Result<Oracle> prepare_python_reference(const Definition& definition,
                                        const OracleContext& context) {
  const PythonProbe probe = probe_python(context.python);
  KW_TRY(const PythonAdapter adapter,
         make_python_adapter(definition, definition.reference, "run", PythonRole::reference,
                             probe.torch_dtypes));
  KW_CHECK(require(probe, context, adapter.torch,
                   fmt::format("the reference of `{}`", definition.name)));
  KW_TRY(const std::string path, write_adapter(context, adapter));
  Oracle oracle;
  oracle.arm.kind = ArmKind::python_peer;
  oracle.arm.object = path;
  oracle.arm.entry = adapter.entry;
  oracle.mode = fmt::format(
      "python {} {}{}", probe.version,
      adapter.torch ? "torch " + probe.torch : "numpy " + probe.numpy,
      adapter.upcast.empty() ? "" : fmt::format(", upcast to float32: {}", adapter.upcast));
  return oracle;
}

Result<ArmSpec> prepare_peer(const PeerSpec& peer, const Definition& definition,
                             const OracleContext& context) {
  ArmSpec spec;
  spec.threads = definition.ext.threads;
  if (peer.kind == "python") {
    const PythonProbe probe = probe_python(context.python);
    KW_TRY(const PythonAdapter adapter,
           make_python_adapter(definition, peer.source_text, peer.entry, PythonRole::peer,
                               probe.torch_dtypes));
    KW_CHECK(require(probe, context, adapter.torch, fmt::format("peer `{}`", peer.name)));
    KW_TRY(spec.object, write_adapter(context, adapter));
    spec.kind = ArmKind::python_peer;
    spec.entry = adapter.entry;
    return spec;
  }
  KW_TRY(spec.object, build_trusted(context, definition, peer.source, peer.source_text, peer.link));
  spec.kind = ArmKind::peer;
  spec.entry = peer.entry;
  return spec;
}

} // namespace kw
