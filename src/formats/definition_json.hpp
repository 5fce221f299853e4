// SPDX-License-Identifier: Apache-2.0
// Definition <-> JSON: the FlashInfer-Bench schema, plus the extension key `x_kernwright`.
#pragma once

#include "formats/issue.hpp"
#include "model/definition.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace kw {

enum class ReferenceRule {
  required,       ///< as upstream demands
  may_be_in_file, ///< authoring form: the text of x_kernwright.reference_file is filled in later
};

/// Empty when the text has an error; every error and warning is added to `issues`. `file` is for
/// messages and becomes Definition::file.
std::optional<Definition> decode_definition(std::string_view text, const std::string& file,
                                            Issues& issues,
                                            ReferenceRule rule = ReferenceRule::required);

/// Reports when `text` has no top-level `def run` or cannot be Python.
void check_reference(const Definition& definition, Issues& issues);

enum class SourceForm {
  by_name, ///< oracle, baseline and peer sources stay file names
  inlined, ///< their text is written beside the name, so that the JSON stands alone
};
/// Valid upstream JSON text, two blanks of indentation, newline at the end.
[[nodiscard]] std::string encode_definition(const Definition& definition, SourceForm form);

/// SHA-256 of the canonical JSON (inlined sources, one line): identity of the contract.
[[nodiscard]] std::string definition_hash(const Definition& definition);

} // namespace kw
