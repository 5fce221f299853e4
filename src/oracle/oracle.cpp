// SPDX-License-Identifier: Apache-2.0
#include "oracle/oracle.hpp"

#include "oracle/python_reference.hpp"

#include <fmt/format.h>

namespace kw {

Result<std::string> build_trusted(const OracleContext& context, const Definition& definition,
                                  const std::string& file, const std::string& text,
                                  const std::vector<std::string>& link) {
  KW_ASSERT(context.builder != nullptr);
  BuildRequest request;
  request.sources = {{.path = file, .content = text}};
  request.entry_file = file;
  for (const Axis& axis : definition.axes)
    if (!axis.is_variable())
      request.defines.push_back(fmt::format("KW_AXIS_{}={}", axis.name, *axis.value));
  for (const auto& [output, tolerance] : definition.ext.tolerance)
    if (tolerance.eta > 0)
      request.defines.push_back(fmt::format("KW_ETA_{}={}", output, tolerance.eta));
  request.include_dirs = {context.include_dir};
  request.extra_link = link;
  request.mode = BuildMode::trusted;
  KW_TRY(const BuildOutcome outcome, context.builder->build(request));
  if (outcome.ok)
    return outcome.object_path;
  std::string reason = outcome.raw_log;
  std::string where = file;
  for (const Diagnostic& d : outcome.diagnostics)
    if (d.severity == "error") {
      reason = d.message + (d.excerpt.empty() ? "" : "\n" + d.excerpt);
      where = fmt::format("{}:{}:{}", d.file, d.line, d.column);
      break;
    }
  return fail(ErrorKind::invalid_input,
              fmt::format("trusted source of `{}` does not build: {}", definition.name, reason),
              "correct the source; `kernwright check` on the operator folder shows all diagnostics",
              where);
}

Result<Oracle> prepare_oracle(const Definition& definition, const OracleContext& context) {
  const OracleSpec& spec = definition.ext.oracle;
  if (spec.source.empty())
    return prepare_python_reference(definition, context);
  KW_TRY(const std::string object,
         build_trusted(context, definition, spec.source, spec.source_text, {"m"}));
  Oracle oracle;
  oracle.arm.kind = ArmKind::oracle;
  oracle.arm.object = object;
  oracle.arm.entry = spec.entry;
  oracle.magnitudes = true;
  oracle.mode = "c++ float64";
  const auto add = [&](const std::string& entry) -> std::size_t {
    if (entry.empty())
      return 0;
    oracle.arm.more_entries.push_back(entry);
    return oracle.arm.more_entries.size();
  };
  oracle.project_entry = add(spec.project_entry);
  oracle.block_entry = add(spec.block_entry);
  for (const auto& [input, rule] : definition.ext.inputs)
    if (!rule.near_ties_entry.empty())
      oracle.near_ties_entries[input] = add(rule.near_ties_entry);
  return oracle;
}

} // namespace kw
