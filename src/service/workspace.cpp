// SPDX-License-Identifier: Apache-2.0
#include "service/workspace.hpp"

#include "os/files.hpp"
#include "os/self.hpp"

#include <cstdlib>

namespace kw {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string{} : std::string{value};
}

/// The first that says anything, by precedence.
ResolvedSetting resolve(const char* name, const std::string& typed, const char* variable,
                        const std::string& project, const std::string& project_file,
                        std::string otherwise) {
  if (!typed.empty())
    return {name, typed, "command line"};
  if (std::string value = environment(variable); !value.empty())
    return {name, std::move(value), variable};
  if (!project.empty())
    return {name, project, project_file};
  return {name, std::move(otherwise), "default"};
}

std::string default_cache() {
  if (const std::string xdg = environment("XDG_CACHE_HOME"); !xdg.empty())
    return xdg + "/kernwright";
  if (const std::string home = environment("HOME"); !home.empty())
    return home + "/.cache/kernwright";
  return "/tmp/kernwright-cache";
}

/// Shipped data lives under share/kernwright of an installation, or at the root of a source tree
/// that the binary was built in (build/<preset>/bin).
Result<std::string> shipped(const std::string& what) {
  KW_TRY(const std::string self, own_executable());
  std::string folder = parent_path(self);
  for (int up = 0; up < 5; ++up) {
    for (const std::string& candidate : {folder + "/share/kernwright/" + what, folder + "/" + what})
      if (is_dir(candidate))
        return candidate;
    folder = parent_path(folder);
  }
  return fail(ErrorKind::not_found, "the shipped `" + what + "` folder is not beside the binary",
              "run kernwright from its source tree or installation, or name the shipped folder "
              "with --operators",
              self);
}

} // namespace

Result<Workspace> open_workspace(const WorkspaceOptions& options) {
  Workspace out;
  const auto path = [&](const char* name, std::string WorkspaceSettings::* member,
                        const char* variable, std::string otherwise) {
    out.resolved.push_back(resolve(name, options.*member, variable, options.project.*member,
                                   options.project_file, std::move(otherwise)));
    return out.resolved.back().value;
  };
  const Result<std::string> found = shipped("operators");
  out.operators =
      path("operators", &WorkspaceSettings::operators, "KERNWRIGHT_OPERATORS", found.value_or(""));
  if (!found && !is_file(out.operators + "/include/kernwright.h"))
    return fail(found.error());
  out.include_dir = found.value_or(out.operators) + "/include";
  out.state_dir = path("state", &WorkspaceSettings::state_dir, "KERNWRIGHT_STATE", ".kernwright");
  out.cache_dir = path("cache", &WorkspaceSettings::cache_dir, "KERNWRIGHT_CACHE", default_cache());
  out.compiler = path("compiler", &WorkspaceSettings::compiler, "KERNWRIGHT_COMPILER", "");
  KW_TRY(out.runner, sibling_executable("kernwright-runner"));
  if (const Result<std::string> redteam = shipped("redteam"))
    out.redteam = *redteam;
  return out;
}

} // namespace kw
