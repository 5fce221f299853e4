// SPDX-License-Identifier: Apache-2.0
#include "face/cli/main.hpp"

#include "base/strings.hpp"
#include "face/cli/command.hpp"
#include "face/cli/project_settings.hpp"
#include "os/interrupt.hpp"
#include "os/self.hpp"
#include "report/escape.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
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

nlohmann::ordered_json error_json(const Error& error) {
  return {{"message", error.message}, {"remedy", error.remedy}, {"where", error.where}};
}

int exit_code_for(const Error& error) {
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

CLI::Validator at_most(double most) {
  return CLI::Validator(
      [most](const std::string& text) {
        double value = 0;
        const bool number = CLI::detail::lexical_cast(text, value);
        return number && value >= 0 && value <= most
                   ? std::string{}
                   : fmt::format("`{}` is no number from 0 to {}", text, most);
      },
      fmt::format("[0 - {}]", most));
}

int report_error(const Context& context, const Error& error) {
  if (context.json) {
    nlohmann::ordered_json out;
    out["error"] = error_json(error);
    fmt::print("{}\n", out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  } else {
    fmt::print(stderr, "error: {}\n", terminal_text(error.text()));
  }
  return exit_code_for(error);
}

namespace {

bool knows(const CLI::App& app, const std::string& option) {
  return std::ranges::any_of(app.get_options(),
                             [&](const CLI::Option* o) { return o->check_name(option); });
}

std::string names_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return fmt::format("{}", fmt::join(names, ", "));
}

/// What is wrong with the command line, said of the command that was meant; with the nearest
/// spelling.
Error usage_error(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  const CLI::App* command = &app;
  std::string path = "kernwright";
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    path += " " + command->get_name();
  }
  const std::string help = fmt::format("`{} --help` shows the usage", path);
  const bool wants_command =
      !command->get_subcommands([](const CLI::App*) { return true; }).empty();
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i], option = word.substr(0, word.find('='));
    if (option.starts_with("--") && option.size() > 2 && option != "--help" &&
        !knows(app, option) && !knows(*command, option)) {
      std::vector<std::string> options;
      for (const CLI::App* from : {command, &app})
        for (const CLI::Option* o : from->get_options())
          for (const std::string& name : o->get_lnames())
            options.push_back("--" + name);
      const std::string near = nearest_name(option, options);
      return {ErrorKind::invalid_input, fmt::format("`{}` has no option {}", path, option),
              near.empty() ? help : fmt::format("did you mean {}? {}", near, help), ""};
    }
    if (command == &app && !word.starts_with('-') && word.find('/') == std::string::npos &&
        (i == 1 || std::string(argv[i - 1]) == "--json")) {
      std::vector<std::string> commands;
      for (const CLI::App* known : app.get_subcommands([](const CLI::App*) { return true; }))
        commands.push_back(known->get_name());
      const std::string near = nearest_name(word, commands);
      return {ErrorKind::invalid_input, fmt::format("there is no command `{}`", word),
              near.empty() ? fmt::format("the commands are {}; {}", names_of(app), help)
                           : fmt::format("did you mean `kernwright {}`? {}", near, help),
              ""};
    }
  }
  if (wants_command)
    return {ErrorKind::invalid_input, fmt::format("`{}` needs a command", path),
            fmt::format("one of {}; {}", names_of(*command), help), ""};
  return {ErrorKind::invalid_input, error.what(), help, ""};
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
  app.add_option("--compiler", context.workspace.compiler,
                 "compiler of kernels and oracles (default: g++-12, g++, clang++-19 or clang++)");
  std::string project;
  app.add_option("--project", project, "settings (default: ./kernwright.toml, if there is one)");
  app.add_flag("--json", context.json, "print one JSON document instead of text");
  add_optimize(app, context);
  add_evaluate(app, context);
  add_check(app, context);
  add_steer(app, context);
  add_nki(app, context);
  add_ablate(app, context);
  add_profile(app, context);
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
  const Result<ProjectFile> settings = read_project_file(project);
  if (!settings)
    return report_error(context, settings.error());
  if (const Status applied = apply_project_file(*settings, app, context); !applied)
    return report_error(context, applied.error());
  return context.run ? context.run() : bad_input;
}

} // namespace kw::cli
