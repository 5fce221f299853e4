// SPDX-License-Identifier: Apache-2.0
#include "formats/solution_config.hpp"

#include "base/strings.hpp"
#include "os/files.hpp"

#include <fmt/format.h>
#include <functional>
#include <map>
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

namespace kw {
namespace {

std::string where_of(const std::string& path, const toml::source_region& at) {
  return fmt::format("{}:{}:{}", path, at.begin.line, at.begin.column);
}

using Setter = std::function<bool(const toml::node&)>; ///< false = wrong type

Setter text(std::string& out) {
  return [&out](const toml::node& n) {
    const auto v = n.value_exact<std::string>();
    out = v.value_or(out);
    return v.has_value();
  };
}
Setter texts(std::vector<std::string>& out) {
  return [&out](const toml::node& n) {
    if (!n.is_array())
      return false;
    for (const toml::node& item : *n.as_array()) {
      const auto v = item.value_exact<std::string>();
      if (!v)
        return false;
      out.push_back(*v);
    }
    return true;
  };
}

} // namespace

Result<SolutionConfig> read_solution_config(const std::string& path, Issues& issues) {
  KW_TRY(const std::string content, read_file(path, 1 << 20));
  const toml::parse_result parsed = toml::parse(content, path);
  if (!parsed)
    return fail(ErrorKind::invalid_input, std::string(parsed.error().description()),
                "mend the TOML", where_of(path, parsed.error().source()));
  SolutionConfig c;
  const std::map<std::string, std::map<std::string, Setter>> known{
      {"solution",
       {{"name", text(c.name)},
        {"definition", text(c.definition)},
        {"author", text(c.author)},
        {"description", text(c.description)}}},
      {"build",
       {{"language", text(c.language)},
        {"entry_point", text(c.entry_point)},
        {"binding", text(c.binding)},
        {"target_hardware", texts(c.target_hardware)},
        {"dependencies", texts(c.dependencies)},
        {"destination_passing_style", [&c](const toml::node& n) {
           c.destination_passing_style = n.value_exact<bool>();
           return c.destination_passing_style.has_value();
         }}}}};
  const auto warn = [&](const toml::source_region& at, std::string message,
                        const std::string& meant) {
    issues.push_back(
        {Severity::warning,
         {ErrorKind::invalid_input, std::move(message),
          meant.empty() ? "" : fmt::format("did you mean `{}`?", meant), where_of(path, at)}});
  };
  for (const auto& [section, node] : parsed.table()) {
    const std::string title(section.str());
    const auto keys = known.find(title);
    if (keys == known.end() || !node.is_table()) {
      warn(section.source(), fmt::format("unknown section `{}`: nothing reads it", title), "");
      continue;
    }
    std::vector<std::string> names;
    for (const auto& [name, setter] : keys->second)
      names.push_back(name);
    for (const auto& [key, value] : *node.as_table()) {
      const std::string name(key.str());
      const auto setter = keys->second.find(name);
      if (setter == keys->second.end())
        warn(key.source(), fmt::format("unknown key `{}.{}`: nothing reads it", title, name),
             nearest_name(name, names));
      else if (!setter->second(value))
        return fail(ErrorKind::invalid_input,
                    fmt::format("`{}.{}` has the wrong type", title, name),
                    "strings in quotes, lists of strings in [], true or false bare",
                    where_of(path, value.source()));
    }
  }
  return c;
}

} // namespace kw
