// SPDX-License-Identifier: Apache-2.0
// llvm-mca: what a model of a processor's pipeline says about a piece of machine code. It reads
// what a candidate compiled to, so it runs in the compiler's sandbox.
#pragma once

#include "base/result.hpp"
#include "compile/compiler.hpp"
#include "os/sandbox.hpp"

#include <string>
#include <string_view>

namespace kw {

class PipelineTool {
 public:
  /// `scratch`, `deny`: as in BuilderOptions. Errors: not_found, with the package to install.
  static Result<PipelineTool> find(std::string scratch, SandboxDenials deny);

  /// What it prints about `assembly` (x86-64, AT&T) on the processor `model`. Errors: unsupported,
  /// with the tool's first complaint (unknown instruction, unknown model); infrastructure.
  [[nodiscard]] Result<std::string> simulate(const std::string& assembly,
                                             const std::string& model) const;

  [[nodiscard]] std::string describe() const { return "llvm-mca " + program_.version; }
  /// The model it would take for this machine, "" if it does not say.
  [[nodiscard]] const std::string& own_model() const { return own_model_; }

 private:
  PipelineTool() = default;
  Compiler program_;
  std::string own_model_, scratch_;
  SandboxDenials deny_;
};

/// "19.1.7" of the text that --version prints, "" if there is none.
[[nodiscard]] std::string llvm_version(std::string_view text);
/// "sapphirerapids" of the same text.
[[nodiscard]] std::string llvm_host(std::string_view text);

} // namespace kw
