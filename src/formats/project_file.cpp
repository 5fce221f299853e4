// SPDX-License-Identifier: Apache-2.0
#include "formats/project_file.hpp"

#include "os/files.hpp"

#include <fmt/format.h>
#include <optional>
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

namespace kw {
namespace {

std::optional<std::string> typed(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>())
    return *text;
  if (const auto truth = node.value_exact<bool>())
    return *truth ? "true" : "false";
  if (const auto whole = node.value_exact<std::int64_t>())
    return std::to_string(*whole);
  if (const auto real = node.value_exact<double>())
    return fmt::format("{}", *real);
  return std::nullopt;
}

Result<ProjectSetting> setting(const std::string& key, const toml::node& node,
                               const std::string& path) {
  ProjectSetting out{.values = {}, .where = fmt::format("{}:{}", path, node.source().begin.line)};
  const auto add = [&](const toml::node& value) {
    const std::optional<std::string> text = typed(value);
    out.values.push_back(text.value_or(""));
    return text.has_value();
  };
  bool good = true;
  if (const toml::array* list = node.as_array())
    for (const toml::node& item : *list)
      good = add(item) && good;
  else
    good = add(node);
  if (!good)
    return fail(ErrorKind::invalid_input,
                fmt::format("`{}` is no setting: it has the wrong type", key),
                "write a text, a number, true, false, or a list of these", out.where);
  return out;
}

} // namespace

Result<ProjectFile> parse_project_file(const std::string& text, const std::string& path) {
  const toml::parse_result parsed = toml::parse(text, path);
  if (!parsed)
    return fail(ErrorKind::invalid_input, std::string(parsed.error().description()),
                "mend the TOML (docs/formats.md has an example)",
                fmt::format("{}:{}:{}", path, parsed.error().source().begin.line,
                            parsed.error().source().begin.column));
  ProjectFile out{.path = path, .folder = parent_path(path), .sections = {}};
  for (const auto& [name, node] : parsed.table()) {
    const std::string title(name.str());
    const toml::table* section = node.as_table();
    if (section == nullptr) {
      KW_TRY(out.sections[""][title], setting(title, node, path));
      continue;
    }
    out.sections[title];
    for (const auto& [key, value] : *section) {
      const std::string word(key.str());
      KW_TRY(out.sections[title][word], setting(word, value, path));
    }
  }
  return out;
}

Result<ProjectFile> read_project_file(const std::string& path) {
  const std::string file = path.empty() ? "kernwright.toml" : path;
  if (path.empty() && !is_file(file))
    return ProjectFile{};
  KW_TRY(const std::string text, read_file(file, 1 << 20));
  return parse_project_file(text, file);
}

} // namespace kw
