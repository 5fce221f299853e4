// SPDX-License-Identifier: Apache-2.0
#include "face/cli/main.hpp"

#include "base/strings.hpp"
#include "face/cli/command.hpp"
#include "os/interrupt.hpp"
#include "os/self.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace kw::cli {

bool interactive() {
  return isatty(STDOUT_FILENO) == 1;
}
bool coloured() {
  return interactive() && std::getenv("NO_COLOR") == nullptr;
}

int report_error(const Context& context, const Error& error) {
  if (context.json) {
    nlohmann::ordered_json out;
    out["error"] = {{"message", error.message}, {"remedy", error.remedy}, {"where", error.where}};
    fmt::print("{}\n", out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  } else {
    fmt::print(stderr, "error: {}\n", error.text());
  }
  switch (error.kind) {
  case ErrorKind::interrupted:
    return interrupted_exit;
  case ErrorKind::infrastructure:
  case ErrorKind::timeout:
    return infrastructure_failed;
  default:
    return bad_input;
  }
}

namespace {

/// What the parser says, and for a mistyped command the nearest one.
Error usage_error(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  const Error out{ErrorKind::invalid_input, error.what(),
                  "`kernwright --help` and `kernwright COMMAND --help` show the usage", ""};
  if (!app.get_subcommands().empty())
    return out;
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands({}))
    commands.push_back(command->get_name());
  for (int i = 1; i < argc; ++i)
    if (const std::string word = argv[i];
        !word.starts_with('-') && word.find('/') == std::string::npos) {
      const std::string near = nearest_name(word, commands);
      return {ErrorKind::invalid_input, fmt::format("there is no command `{}`", word),
              near.empty() ? out.remedy
                           : fmt::format("did you mean `kernwright {}`? {}", near, out.remedy),
              ""};
    }
  return out;
}

} // namespace

int main(int argc, char** argv) {
  // Secrets live in this process: nothing of the same user may read its memory.
  if (const Status hidden = hide_memory(); !hidden)
    fmt::print(stderr, "warning: {}\n", hidden.error().text());
  install_interrupt_handler();

  CLI::App app{"Kernwright turns an operator definition into a verified, fast kernel, and proves "
               "that it is both.",
               "kernwright"};
  app.require_subcommand(1);
  app.fallthrough();
  app.set_version_flag("--version", "kernwright " KW_VERSION);
  app.footer(
      "First steps:\n"
      "  kernwright doctor                          what this machine can do\n"
      "  kernwright optimize softmax_f32            make a fast kernel and prove it\n"
      "  kernwright evaluate my.cpp -d softmax_f32  judge a kernel of your own\n"
      "Exit codes: 0 what was asked for holds, 1 it does not, 2 wrong input, 3 our side failed.");
  Context context;
  app.add_option("--operators", context.workspace.operators,
                 "operator folder or trace set (default: the shipped ones)");
  app.add_option("--state", context.workspace.state_dir,
                 "archive, runs and reports (default: ./.kernwright)");
  app.add_option("--cache", context.workspace.cache_dir,
                 "build cache (default: ~/.cache/kernwright)");
  app.add_flag("--json", context.json, "print one JSON document instead of text");
  add_optimize(app, context);
  add_evaluate(app, context);
  add_check(app, context);
  add_replay(app, context);
  add_export(app, context);
  add_archive(app, context);
  add_init(app, context);
  add_pack(app, context);
  add_redteam(app, context);
  add_doctor(app, context);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success))
      return app.exit(error), holds; // --help, --version
    return report_error(context, usage_error(app, error, argc, argv));
  }
  return context.run ? context.run() : bad_input;
}

} // namespace kw::cli
