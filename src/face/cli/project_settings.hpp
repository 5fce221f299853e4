// SPDX-License-Identifier: Apache-2.0
// kernwright.toml meets the command line: a key is a long option's name, a section is a command.
#pragma once

#include "face/cli/command.hpp"
#include "formats/project_file.hpp"

namespace kw::cli {

/// Gives every option of the chosen command that was not typed the file's value, with the same
/// checks as if it had been; notes in `context` where each option's value comes from. Paths go into
/// context.workspace.project and stay below flags and environment. All sections are checked, those
/// of other commands too. Errors: unknown section or key; a value the option refuses.
Status apply_project_file(const ProjectFile& file, CLI::App& app, Context& context);

} // namespace kw::cli
