// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compile/build.hpp"
#include "target/target.hpp"

#include <optional>
#include <string>

namespace kw {

/// C++ kernels for this machine's CPU: pinned flags, sandboxed compiler, ELF admission.
class CpuTarget final : public Target {
 public:
  /// `builder` must outlive the target; `include_dir` holds kernwright.h.
  CpuTarget(Builder& builder, std::string include_dir)
      : builder_(builder), include_dir_(std::move(include_dir)) {}

  [[nodiscard]] std::string name() const override { return "cpu"; }
  [[nodiscard]] bool accepts(const Solution& solution) const override {
    return solution.spec.language == "cpp";
  }
  Result<TargetBuild> build(const Solution& solution, const Definition& definition) override;
  Result<SideBuild> build_side(const Solution& solution, const Definition& definition,
                               const std::string& sanitizers,
                               const std::vector<SourceFile>& driver) override;
  Result<TargetBuild> build_variant(const Solution& solution, const Definition& definition,
                                    BuildVariant variant) override;
  /// Remarks come from clang whatever compiler builds: they are about the source.
  Result<Inspection> inspect(const Solution& solution, const Definition& definition,
                             const std::vector<std::uint64_t>& samples) override;

 private:
  Result<TargetBuild> build_with(const Solution& solution, const Definition& definition,
                                 std::vector<std::string> more_flags);
  /// Fills `pipeline` of the loops where time goes, and clears `code` of the others.
  void model_pipelines(Inspection& seen);
  Builder& builder_;
  std::string include_dir_;
  std::optional<Result<PipelineTool>> pipeline_tool_; ///< once it was looked for
};

/// "KW_AXIS_<name>=<value>" for every const axis: the same for candidates, baselines and oracles.
[[nodiscard]] std::vector<std::string> axis_defines(const Definition& definition);

} // namespace kw
