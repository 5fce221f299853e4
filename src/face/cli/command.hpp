// SPDX-License-Identifier: Apache-2.0
// A command adds itself to the app and sets `run`; main parses and runs the chosen one.
#pragma once

#include "base/result.hpp"
#include "service/workspace.hpp"

#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace CLI {
class App;
class Validator;
} // namespace CLI

namespace kw::cli {

/// Exit codes: 0 the thing asked for holds; 1 it does not (rejected, problems found); 2 wrong usage
/// or input; 3 our side failed; 130 interrupted.
enum ExitCode {
  holds = 0,
  does_not_hold = 1,
  bad_input = 2,
  infrastructure_failed = 3,
  interrupted_exit = 130
};

struct Context {
  WorkspaceOptions workspace;
  bool json = false;
  std::map<std::string, std::string>
      origins; ///< by long option: "command line", "kernwright.toml:4", "default"
  std::function<int()> run;
};

/// Prints an error for people (stderr) or as JSON (stdout); returns the exit code for its kind.
int report_error(const Context& context, const Error& error);
/// That exit code, and the error as JSON.
[[nodiscard]] int exit_code_for(const Error& error);
[[nodiscard]] nlohmann::ordered_json error_json(const Error& error);
/// Accepts numbers from 0 to `most` (and so no NaN, which CLI11's own range lets through).
[[nodiscard]] CLI::Validator at_most(double most);
/// True when stdout is a terminal and NO_COLOR is not set.
bool coloured();
bool interactive();

void add_doctor(CLI::App& app, Context& context);
void add_check(CLI::App& app, Context& context);
void add_evaluate(CLI::App& app, Context& context);
void add_optimize(CLI::App& app, Context& context);
void add_ablate(CLI::App& app, Context& context);
void add_profile(CLI::App& app, Context& context);
void add_steer(CLI::App& app, Context& context);
void add_nki(CLI::App& app, Context& context);
void add_replay(CLI::App& app, Context& context);
void add_export(CLI::App& app, Context& context);
void add_archive(CLI::App& app, Context& context);
void add_init(CLI::App& app, Context& context);
void add_pack(CLI::App& app, Context& context);
void add_redteam(CLI::App& app, Context& context);

} // namespace kw::cli
