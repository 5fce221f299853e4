// SPDX-License-Identifier: Apache-2.0
#include "search/space.hpp"

#include "base/json.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <numeric>

namespace kw {
namespace {

constexpr std::string_view schema_name = "kernwright.space/1";

bool is_plain_name(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (text.empty() || !letter(text[0]))
    return false;
  return std::all_of(text.begin(), text.end(),
                     [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; });
}

/// The text of a parameter value, "" if it is of another type.
std::string value_text(const Json& value) {
  if (value.is_boolean())
    return value.get<bool>() ? "1" : "0";
  if (value.is_number_integer())
    return value.dump();
  if (value.is_string())
    return value.get<std::string>();
  return {};
}

class SpaceReader {
 public:
  SpaceReader(std::string_view text, const std::string& file) : source_{file, text} {}

  Result<Space> read() {
    KW_TRY(const Json document, parse_json(source_));
    if (!document.is_object())
      return fail(ErrorKind::invalid_input, "A space file is one JSON object",
                  "see docs/tuner.md for the format", source_.file);
    ObjectReader reader(document, source_, "", errors_);
    const std::string schema = reader.string("schema");
    if (schema != schema_name)
      return fail(ErrorKind::invalid_input, fmt::format("The schema is \"{}\"", schema),
                  fmt::format("write \"schema\": \"{}\"", schema_name), locate(source_, "/schema"));
    space_.file = source_.file;
    space_.name = reader.string("name");
    space_.family = reader.string_or("family", "");
    space_.template_file = reader.string("template");
    space_.entry = reader.string("entry");
    if (!space_.entry.empty() && !is_plain_name(space_.entry))
      complain("/entry", fmt::format("\"{}\" is no C function name", space_.entry),
               "use letters, digits and underscores, a letter first");
    if (space_.name.find_first_of(" \t\n=") != std::string::npos)
      complain("/name", "A space name contains a blank or '='", "use letters, digits and hyphens");
    if (const Json* parameters = reader.array("parameters"))
      read_parameters(*parameters);
    read_expressions(reader);
    if (const Json* seeds = reader.any("seeds"))
      read_seeds(*seeds);
    if (!errors_.empty())
      return fail(errors_.front());
    return space_;
  }

 private:
  void complain(const std::string& pointer, std::string message, std::string remedy) {
    errors_.push_back(Error{ErrorKind::invalid_input, std::move(message), std::move(remedy),
                            locate(source_, pointer)});
  }

  void read_parameters(const Json& parameters) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const std::string at = fmt::format("/parameters/{}", i);
      if (!parameters[i].is_object()) {
        complain(at, "A parameter is an object", R"(write {"name": "MR", "values": [4, 6, 8]})");
        continue;
      }
      ObjectReader reader(parameters[i], source_, at, errors_);
      Parameter p;
      p.name = reader.string("name");
      if (!is_plain_name(p.name))
        complain(at + "/name", fmt::format("\"{}\" is no parameter name", p.name),
                 "use letters, digits and underscores, a letter first: it becomes KW_P_<NAME>");
      if (std::any_of(space_.parameters.begin(), space_.parameters.end(),
                      [&](const Parameter& other) { return other.name == p.name; }))
        complain(at + "/name", fmt::format("Parameter \"{}\" is declared twice", p.name),
                 "rename one of them");
      p.role = reader.string_or("role", "");
      if (!p.role.empty() && std::find(parameter_roles.begin(), parameter_roles.end(), p.role) ==
                                 parameter_roles.end())
        complain(at + "/role", fmt::format("Unknown role \"{}\"", p.role),
                 fmt::format("use one of {}", fmt::join(parameter_roles, ", ")));
      const std::string kind = reader.string_or("kind", "");
      if (const Json* values = reader.array("values"))
        read_values(p, *values, kind, at);
      space_.parameters.push_back(std::move(p));
    }
    if (space_.parameters.empty())
      complain("/parameters", "A space has at least one parameter",
               "a kernel without parameters is a Solution: put it under solutions/");
  }

  void read_values(Parameter& p, const Json& values, const std::string& kind,
                   const std::string& at) {
    bool numbers = true;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::string text = value_text(values[i]);
      const bool number = values[i].is_number_integer() || values[i].is_boolean();
      numbers = numbers && number;
      if (text.empty() || (!number && !is_plain_name(text)))
        complain(fmt::format("{}/values/{}", at, i),
                 fmt::format("Value {} of \"{}\" is neither a whole number nor a word",
                             values[i].dump(), p.name),
                 "use whole numbers, or words of letters, digits and underscores");
      if (std::find(p.values.begin(), p.values.end(), text) != p.values.end())
        complain(fmt::format("{}/values/{}", at, i),
                 fmt::format("Parameter \"{}\" lists the value {} twice", p.name, text),
                 "remove one of them");
      p.values.push_back(text);
    }
    if (p.values.empty())
      complain(at + "/values", fmt::format("Parameter \"{}\" has no values", p.name),
               "list at least one");
    if (kind != "" && kind != "int" && kind != "categorical")
      complain(at + "/kind", fmt::format("Unknown kind \"{}\"", kind),
               "use \"int\" or \"categorical\"");
    if (kind == "int" && !numbers)
      complain(at + "/kind", fmt::format("Parameter \"{}\" of kind int lists a word", p.name),
               "use \"categorical\"");
    p.words = !numbers;
    p.ordered = numbers && kind != "categorical";
    if (!errors_.empty())
      return;
    for (std::size_t i = 0; i < p.values.size(); ++i)
      p.numbers.push_back(p.words ? static_cast<double>(i) : std::stod(p.values[i]));
    if (p.ordered) {
      std::sort(p.numbers.begin(), p.numbers.end());
      std::sort(p.values.begin(), p.values.end(), [](const std::string& a, const std::string& b) {
        return std::stod(a) < std::stod(b);
      });
    }
  }

  std::optional<Expr> expression(const std::string& text, const std::string& pointer) {
    Result<Expr> parsed = Expr::parse(text);
    if (parsed)
      return std::move(*parsed);
    complain(pointer, fmt::format("\"{}\" is no expression: {}", text, parsed.error().message),
             parsed.error().remedy);
    return std::nullopt;
  }

  void read_expressions(ObjectReader& reader) {
    if (const std::string text = reader.string_or("applies", ""); !text.empty()) {
      space_.applies = expression(text, "/applies");
      if (space_.applies)
        for (const std::string& name : space_.applies->names())
          for (const Parameter& p : space_.parameters)
            if (p.name == name)
              complain("/applies", fmt::format("`applies` names the parameter \"{}\"", name),
                       "`applies` sees axes and machine facts only; use `legal`");
    }
    const std::vector<std::string> legal = reader.strings_or_empty("legal");
    for (std::size_t i = 0; i < legal.size(); ++i)
      if (auto parsed = expression(legal[i], fmt::format("/legal/{}", i)))
        space_.legal.push_back(std::move(*parsed));
  }

  void read_seeds(const Json& seeds) {
    if (!seeds.is_array())
      return complain("/seeds", "`seeds` is a list of configurations", "write [{...}, ...]");
    for (std::size_t i = 0; i < seeds.size(); ++i) {
      const std::string at = fmt::format("/seeds/{}", i);
      if (!seeds[i].is_object()) {
        complain(at, "A seed is an object", R"(write {"MR": 6, "NR": 16})");
        continue;
      }
      std::vector<int> choice;
      for (const Parameter& p : space_.parameters) {
        const auto value = seeds[i].find(p.name);
        if (value == seeds[i].end()) {
          complain(at, fmt::format("The seed gives no value to \"{}\"", p.name),
                   "give every parameter a value");
          break;
        }
        const auto listed = std::find(p.values.begin(), p.values.end(), value_text(*value));
        if (listed == p.values.end()) {
          complain(fmt::format("{}/{}", at, p.name),
                   fmt::format("{} is no value of \"{}\"", value->dump(), p.name),
                   "use one of the parameter's `values`");
          break;
        }
        choice.push_back(static_cast<int>(listed - p.values.begin()));
      }
      for (const auto& item : seeds[i].items())
        if (std::none_of(space_.parameters.begin(), space_.parameters.end(),
                         [&](const Parameter& p) { return p.name == item.key(); }))
          complain(fmt::format("{}/{}", at, item.key()),
                   fmt::format("The seed names \"{}\", which is no parameter", item.key()),
                   "remove it or declare the parameter");
      space_.seeds.push_back(std::move(choice));
    }
  }

  JsonSource source_;
  std::vector<Error> errors_;
  Space space_;
};

} // namespace

Result<Space> parse_space(std::string_view text, const std::string& file) {
  return SpaceReader(text, file).read();
}

} // namespace kw
