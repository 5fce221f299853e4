// SPDX-License-Identifier: Apache-2.0
#include "face/cli/project_settings.hpp"

#include "base/strings.hpp"
#include "os/files.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace kw::cli {
namespace {

/// What has to be said anew every time: a file that came with a checkout must not weaken the
/// sandbox.
constexpr std::array said_each_time = {"help", "allow-weak-sandbox", "resume"};

std::string key_of(const CLI::Option& option) {
  std::string name = option.get_lnames().empty() ? "" : option.get_lnames().front();
  if (std::ranges::find(said_each_time, name) != said_each_time.end())
    return {};
  std::ranges::replace(name, '-', '_');
  return name;
}

std::string hint(const std::string& word, const std::vector<std::string>& known, const char* what) {
  const std::string near = nearest_name(word, known);
  return near.empty() ? fmt::format("{}: {}", what, fmt::join(known, ", "))
                      : fmt::format("did you mean `{}`?", near);
}

Status set_paths(const ProjectFile& file, WorkspaceSettings& paths) {
  const auto section = file.sections.find("");
  if (section == file.sections.end())
    return {};
  const std::map<std::string, std::string*> known{{"operators", &paths.operators},
                                                  {"state", &paths.state_dir},
                                                  {"cache", &paths.cache_dir},
                                                  {"compiler", &paths.compiler}};
  for (const auto& [key, setting] : section->second) {
    const auto path = known.find(key);
    if (path == known.end())
      return fail(
          ErrorKind::invalid_input, fmt::format("there is no setting `{}`", key),
          hint(key, {"operators", "state", "cache", "compiler"}, "outside of sections there are") +
              "; settings of a command stand in its section, e.g. [evaluate]",
          setting.where);
    if (setting.values.size() != 1 || setting.values[0].empty())
      return fail(ErrorKind::invalid_input, fmt::format("`{}` needs one value", key),
                  "write it as " + key + " = \"...\"", setting.where);
    const bool word =
        key == "compiler" && setting.values[0].find('/') == std::string::npos; // looked up in PATH
    *path->second = word ? setting.values[0] : join_path(file.folder, setting.values[0]);
  }
  return {};
}

Status set_option(CLI::Option& option, const std::string& key, const ProjectSetting& setting) {
  try {
    for (const std::string& value : setting.values)
      option.add_result(value);
    option.run_callback();
  } catch (const CLI::Error& error) {
    return fail(ErrorKind::invalid_input, error.what(),
                fmt::format("give `{}` a value that --{} takes", key, option.get_lnames().front()),
                setting.where);
  }
  return {};
}

} // namespace

Status apply_project_file(const ProjectFile& file, CLI::App& app, Context& context) {
  KW_CHECK(set_paths(file, context.workspace.project));
  context.workspace.project_file = file.path;
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands({}))
    commands.push_back(command->get_name());
  for (const auto& [title, settings] : file.sections) {
    if (title.empty())
      continue;
    const std::string where = settings.empty() ? file.path : settings.begin()->second.where;
    if (std::ranges::find(commands, title) == commands.end())
      return fail(ErrorKind::invalid_input,
                  fmt::format("there is no command `{}` for section [{}]", title, title),
                  hint(title, commands, "the commands are"), where);
    CLI::App& command = *app.get_subcommand(title);
    std::vector<std::string> known;
    for (const CLI::Option* option : command.get_options())
      if (const std::string key = key_of(*option); !key.empty())
        known.push_back(key);
    for (const auto& [key, setting] : settings) {
      if (std::ranges::find(known, key) == known.end())
        return fail(ErrorKind::invalid_input, fmt::format("[{}] has no setting `{}`", title, key),
                    hint(key, known, "there are"), setting.where);
      std::string name = key;
      std::ranges::replace(name, '_', '-');
      CLI::Option& option = *command.get_option("--" + name);
      if (command.parsed() && option.count() == 0) {
        KW_CHECK(set_option(option, key, setting));
        context.origins[name] = setting.where;
      }
    }
  }
  for (const CLI::App* command : app.get_subcommands())
    for (const CLI::Option* option : command->get_options())
      if (!option->get_lnames().empty())
        context.origins.try_emplace(option->get_lnames().front(),
                                    option->count() > 0 ? "command line" : "default");
  return {};
}

} // namespace kw::cli
