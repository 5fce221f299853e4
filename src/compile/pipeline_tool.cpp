// SPDX-License-Identifier: Apache-2.0
#include "compile/pipeline_tool.hpp"

#include "compile/worker.hpp"
#include "os/process.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace kw {
namespace {

constexpr std::size_t longest_word = 40; // of a version or a model: it goes into records

/// The word after `mark`, if it is one.
std::string word_after(std::string_view text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos)
    return {};
  text.remove_prefix(at + mark.size());
  const auto end = std::find_if(text.begin(), text.end(), [](char c) {
    return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '-' || c == '_' || c == '.');
  });
  const auto length = static_cast<std::size_t>(end - text.begin());
  return length <= longest_word ? std::string(text.substr(0, length)) : std::string{};
}

/// Its first complaint, without the place in a file that nobody sees.
std::string complaint(std::string_view said) {
  const std::size_t at = said.find("error: ");
  if (at == std::string_view::npos)
    return "it gave no reason";
  said.remove_prefix(at + 7);
  return std::string(said.substr(0, std::min<std::size_t>(said.find('\n'), 200)));
}

constexpr WorkerLimits limits_for(const SandboxDenials& deny) {
  WorkerLimits limits;
  limits.cpu_seconds = 5; // a loop of some hundred instructions takes 30 ms
  limits.wall = std::chrono::milliseconds{10'000};
  limits.deny = deny;
  return limits;
}

} // namespace

std::string llvm_version(std::string_view text) {
  return word_after(text, "LLVM version ");
}
std::string llvm_host(std::string_view text) {
  return word_after(text, "Host CPU: ");
}

Result<PipelineTool> PipelineTool::find(std::string scratch, SandboxDenials deny) {
  PipelineTool out;
  out.scratch_ = std::move(scratch);
  out.deny_ = deny;
  for (const char* name : {"llvm-mca-19", "llvm-mca"})
    if (out.program_.path.empty())
      out.program_.name = name, out.program_.path = find_program(name);
  if (out.program_.path.empty())
    return fail(ErrorKind::not_found, "there is no llvm-mca", "apt install llvm-19");
  KW_TRY(CompileWorker worker, CompileWorker::prepare({}, out.scratch_));
  KW_TRY(const ChildReport said,
         worker.run(out.program_, {"--version"}, {}, limits_for(out.deny_)));
  out.program_.version = llvm_version(said.out);
  if (!said.ok() || out.program_.version.empty())
    return fail(ErrorKind::unsupported, "llvm-mca does not say which version it is",
                "apt install llvm-19", out.program_.path);
  out.own_model_ = llvm_host(said.out);
  return out;
}

Result<std::string> PipelineTool::simulate(const std::string& assembly,
                                           const std::string& model) const {
  KW_TRY(CompileWorker worker, CompileWorker::prepare({{"loop.s", assembly}}, scratch_));
  KW_TRY(ChildReport said,
         worker.run(program_,
                    {"-mtriple=x86_64", "-mcpu=" + model, "-iterations=100", "-bottleneck-analysis",
                     "-instruction-info=0", "-resource-pressure=0", "loop.s"},
                    {}, limits_for(deny_)));
  if (!said.ok())
    return fail(ErrorKind::unsupported,
                said.exit_code > 0
                    ? fmt::format("{} on {}: {}", describe(), model, complaint(said.err))
                    : fmt::format("{} on {}: {}", describe(), model, said.ending()),
                "another version of it may know more");
  return std::move(said.out);
}

} // namespace kw
