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

std::string first_of(std::initializer_list<std::string> candidates) {
  for (const std::string& c : candidates)
    if (!c.empty())
      return c;
  return {};
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
  const std::string named = first_of({options.operators, environment("KERNWRIGHT_OPERATORS")});
  const Result<std::string> found = shipped("operators");
  if (!found && !is_file(named + "/include/kernwright.h"))
    return fail(found.error());
  const std::string operators = found ? *found : named;
  out.operators = first_of({named, operators});
  out.include_dir = operators + "/include";
  out.state_dir = first_of({options.state_dir, environment("KERNWRIGHT_STATE"), ".kernwright"});
  out.cache_dir = first_of({options.cache_dir, environment("KERNWRIGHT_CACHE"), default_cache()});
  KW_TRY(out.runner, sibling_executable("kernwright-runner"));
  if (const Result<std::string> redteam = shipped("redteam"))
    out.redteam = *redteam;
  return out;
}

} // namespace kw
