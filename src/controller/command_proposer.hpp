// SPDX-License-Identifier: Apache-2.0
// A program as proposer: it finds the request as JSON and leaves solutions in a folder
// (docs/proposers.md). It runs with its user's environment and rights, never while anything is
// judged, and is killed with its process group when its time is over.
#pragma once

#include "controller/proposer.hpp"

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

/// Words as a shell would split them: blanks separate, quotes of both kinds group, a backslash
/// outside single quotes takes the next character as it is. Errors: an open quote; nothing.
Result<std::vector<std::string>> split_command(std::string_view text);

struct CommandOptions {
  std::string command; ///< "{request}" and "{out}" in its words become paths
  std::string folder;  ///< one subfolder per call is made in it and stays
  double most_seconds = 600;
  const std::atomic<bool>* cancel = nullptr;
};

/// Errors: a command that cannot be split, a program that is not there.
Result<std::unique_ptr<Proposer>> make_command_proposer(CommandOptions options);

} // namespace kw
