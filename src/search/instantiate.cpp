// SPDX-License-Identifier: Apache-2.0
#include "search/instantiate.hpp"

#include "base/hash.hpp"
#include "base/strings.hpp"
#include "search/condition.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <optional>

namespace kw {
namespace {

std::string_view trimmed(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos)
    return {};
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

/// The word after a preprocessor directive ("define", "include"), or nullopt.
std::optional<std::string_view> after_directive(std::string_view line, std::string_view directive) {
  line = trimmed(line);
  if (line.empty() || line[0] != '#')
    return std::nullopt;
  line = trimmed(line.substr(1));
  if (!line.starts_with(directive))
    return std::nullopt;
  const std::string_view rest = line.substr(directive.size());
  if (!rest.empty() && rest[0] != ' ' && rest[0] != '\t' && rest[0] != '<' && rest[0] != '"')
    return std::nullopt; // a longer word, e.g. include_next
  return trimmed(rest);
}

struct SplitTemplate {
  std::vector<std::string> includes; ///< what follows #include
  std::vector<std::string> macros;   ///< names the body defines
  std::string body;
};

/// Separates the leading #include lines from the body. Errors: an #include inside the body.
Result<SplitTemplate> split(std::string_view text, const std::string& file) {
  SplitTemplate parts;
  bool in_head = true, in_comment = false;
  int number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    const std::string_view content = trimmed(line);
    const bool comment =
        in_comment || content.empty() || content.starts_with("//") || content.starts_with("/*");
    if (const std::size_t open = line.rfind("/*"), close = line.rfind("*/");
        in_comment || (open != std::string_view::npos && content.starts_with("/*")))
      in_comment =
          close == std::string_view::npos || (open != std::string_view::npos && open > close);
    if (!comment) {
      if (const auto header = after_directive(line, "include")) {
        if (!in_head)
          return fail(ErrorKind::invalid_input, "A template includes a header below its first code",
                      "move the #include to the top: the code goes into a namespace",
                      fmt::format("{}:{}", file, number));
        parts.includes.emplace_back(*header);
        continue;
      }
      in_head = false;
      if (const auto definition = after_directive(line, "define")) {
        const std::string name(definition->substr(0, definition->find_first_of(" \t(")));
        if (std::find(parts.macros.begin(), parts.macros.end(), name) == parts.macros.end())
          parts.macros.push_back(name);
      }
    }
    if (!in_head || !content.empty())
      parts.body.append(line).append("\n");
  }
  return parts;
}

/// "const float* a0, float* a1, int64_t m" and "a0, a1, m". Axes keep their names, prefixed so that
/// they cannot meet a macro or keyword.
struct Signature {
  std::string parameters, arguments;
};

Result<Signature> signature_of(const Definition& definition) {
  Signature s;
  int tensors = 0;
  const auto add = [&](std::string_view type, const std::string& name) {
    s.parameters += fmt::format("{}{} {}", s.parameters.empty() ? "" : ", ", type, name);
    s.arguments += fmt::format("{}{}", s.arguments.empty() ? "" : ", ", name);
  };
  for (const TensorSpec& input : definition.inputs)
    add(input.is_scalar() ? std::string(c_scalar_type(input.dtype))
                          : fmt::format("const {}*", c_type(input.dtype)),
        fmt::format("a{}", tensors++));
  for (const TensorSpec& output : definition.outputs) {
    if (output.is_scalar())
      return fail(
          ErrorKind::unsupported,
          fmt::format("Output \"{}\" of {} is a Python scalar", output.name, definition.name),
          "give the output a shape ([] for one element): kernels write through pointers",
          definition.file);
    add(fmt::format("{}*", c_type(output.dtype)), fmt::format("a{}", tensors++));
  }
  for (const Axis& axis : definition.axes) {
    if (!is_identifier(axis.name)) // it becomes part of the source
      return fail(
          ErrorKind::invalid_input,
          fmt::format("The axis name `{}` of {} is no identifier", axis.name, definition.name),
          "use letters, digits and _", definition.file);
    if (axis.is_variable())
      add("int64_t", "kw_axis_" + axis.name);
  }
  return s;
}

/// How `when` spells an axis in the generated C++.
std::string axis_cpp(const Definition& definition, std::string_view name) {
  const Axis* axis = definition.axis(std::string(name));
  if (axis == nullptr)
    return {};
  return axis->is_variable() ? fmt::format("double(kw_axis_{})", name)
                             : fmt::format("double({})", *axis->value);
}

Result<std::string> variant_text(const Variant& variant, const SplitTemplate& parts, int number) {
  const Space& space = *variant.space;
  if (variant.choice.size() != space.parameters.size())
    return fail(ErrorKind::invalid_input,
                fmt::format("A configuration of {} values for the {} parameters of \"{}\"",
                            variant.choice.size(), space.parameters.size(), space.name),
                "make configurations with the space they are for", space.file);
  std::string defines, undefines;
  const auto define = [&](const std::string& name, const std::string& value) {
    defines += fmt::format("#define {} {}\n", name, value);
    undefines += fmt::format("#undef {}\n", name);
  };
  define("KW_NAMESPACE", fmt::format("kw_variant_{}", number));
  define("KW_ENTRY", "kw_entry");
  for (std::size_t p = 0; p < space.parameters.size(); ++p) {
    const Parameter& parameter = space.parameters[p];
    const int c = variant.choice[p];
    if (c < 0 || c >= static_cast<int>(parameter.values.size()))
      return fail(
          ErrorKind::invalid_input,
          fmt::format("Value number {} of parameter \"{}\" does not exist", c, parameter.name),
          "make configurations with the space they are for", space.file);
    if (parameter.words)
      for (std::size_t i = 0; i < parameter.values.size(); ++i)
        define(fmt::format("KW_P_{}_{}", parameter.name, parameter.values[i]), std::to_string(i));
    define("KW_P_" + parameter.name,
           parameter.words ? std::to_string(c) : parameter.values[static_cast<std::size_t>(c)]);
  }
  for (const std::string& macro : parts.macros)
    undefines += fmt::format("#undef {}\n", macro);
  return defines + parts.body + undefines;
}

std::string described(const Branch& branch) {
  if (branch.foreign != nullptr)
    return branch.when.empty() ? branch.foreign->name
                               : fmt::format("if {}: {}", branch.when, branch.foreign->name);
  std::string text = branch.variant.space->name;
  for (std::size_t p = 0; p < branch.variant.choice.size(); ++p) {
    const Parameter& parameter = branch.variant.space->parameters[p];
    text += fmt::format(" {}={}", parameter.name,
                        parameter.values[static_cast<std::size_t>(branch.variant.choice[p])]);
  }
  return branch.when.empty() ? text : fmt::format("if {}: {}", branch.when, text);
}

/// What a build compiles on its own (compile/build.cpp).
constexpr std::string_view unit_endings[] = {".cpp", ".cc", ".cxx", ".c++", ".C", ".c"};

bool is_unit(std::string_view path) {
  return std::any_of(std::begin(unit_endings), std::end(unit_endings),
                     [&](std::string_view ending) { return path.ends_with(ending); });
}

/// The sources of a foreign solution as one unit, its entry called `name`.
Result<std::vector<SourceFile>> foreign_unit(const Solution& solution, const std::string& name) {
  if (solution.spec.language != "cpp" ||
      solution.spec.binding.value_or("kernwright") != "kernwright" ||
      !solution.spec.destination_passing_style || !is_identifier(solution.spec.entry_function()))
    return fail(ErrorKind::unsupported,
                fmt::format("`{}` cannot be a branch of a dispatcher: its entry is no plain C++ "
                            "function with the calling convention of kernels",
                            solution.name),
                "give it an extern \"C\" entry (docs/guide.md)", solution.file);
  std::string unit = fmt::format("#define {} {}\n", solution.spec.entry_function(), name);
  std::vector<SourceFile> files;
  for (const SourceFile& source : solution.sources) {
    // What is included must not be compiled on its own as well.
    const std::string path = name + "/" + source.path + (is_unit(source.path) ? ".inc" : "");
    if (is_unit(source.path))
      unit += fmt::format("#include \"{}\"\n", path);
    files.push_back({.path = path, .content = source.content});
  }
  files.push_back({.path = name + ".cpp", .content = std::move(unit)});
  return files;
}

/// The entry that all branches from templates export, else that of the first foreign one.
Result<std::string> common_entry(std::span<const Branch> branches) {
  const Space* first = nullptr;
  for (const Branch& branch : branches) {
    if (branch.foreign != nullptr)
      continue;
    const Space& space = *branch.variant.space;
    if (first != nullptr && space.entry != first->entry)
      return fail(ErrorKind::invalid_input,
                  fmt::format("Space \"{}\" exports {}, but \"{}\" exports {}", space.name,
                              space.entry, first->name, first->entry),
                  "give all spaces of one definition the same `entry`", space.file);
    first = &space;
  }
  return first != nullptr ? first->entry : branches.front().foreign->spec.entry_function();
}

} // namespace

Result<Solution> instantiate(const Definition& definition, const Variant& variant) {
  const Branch only{.when = "", .variant = variant};
  return instantiate_dispatch(definition, std::span(&only, 1));
}

Result<Solution> instantiate_dispatch(const Definition& definition,
                                      std::span<const Branch> branches) {
  if (branches.empty())
    return fail(ErrorKind::invalid_input, "A dispatch needs at least one branch",
                "give the configuration to use");
  KW_TRY(const std::string entry, common_entry(branches));
  KW_TRY(const Signature signature, signature_of(definition));
  std::vector<std::string> includes = {"<stdint.h>"};
  std::vector<SourceFile> foreign;
  std::string variants, calls, summary;
  bool conditional = false;
  for (std::size_t i = 0; i < branches.size(); ++i) {
    const Branch& branch = branches[i];
    std::string callee = fmt::format("kw_variant_{}::kw_entry", i);
    if (branch.foreign != nullptr) {
      callee = fmt::format("kw_foreign_{}", i);
      KW_TRY(std::vector<SourceFile> files, foreign_unit(*branch.foreign, callee));
      std::move(files.begin(), files.end(), std::back_inserter(foreign));
      variants += fmt::format("\nextern \"C\" int {}({});\n", callee, signature.parameters);
    } else {
      KW_TRY(const SplitTemplate parts,
             split(branch.variant.template_text, branch.variant.space->template_file));
      for (const std::string& header : parts.includes)
        if (std::find(includes.begin(), includes.end(), header) == includes.end())
          includes.push_back(header);
      KW_TRY(const std::string text, variant_text(branch.variant, parts, static_cast<int>(i)));
      variants += "\n" + text;
    }
    std::string condition;
    if (!branch.when.empty()) {
      KW_TRY(const Expr when, Expr::parse(branch.when));
      KW_TRY(const std::string cpp,
             to_cpp(when, [&](std::string_view name) { return axis_cpp(definition, name); }));
      condition = fmt::format("if ({} != 0)\n    ", cpp);
      conditional = true;
    }
    calls += fmt::format("  {}return {}({});\n", condition, callee, signature.arguments);
    summary += (i == 0 ? "" : "; ") + described(branch);
    if (branch.when.empty())
      break; // nothing gets past it
  }

  // It becomes a // comment: a newline or trailing backslash would let it out.
  for (char& c : summary)
    if (c < ' ' || c == '\\')
      c = '_';
  std::string source = "// Generated by Kernwright. " + summary + "\n";
  for (const std::string& header : includes)
    source += fmt::format("#include {}\n", header);
  source += variants + "\n";
  if (conditional)
    source += expression_prelude();
  source += fmt::format("extern \"C\" int {}({}) {{\n{}", entry, signature.parameters, calls);
  source += branches.back().when.empty() ? "}\n" : "  return 1; // outside the contract\n}\n";

  Solution solution;
  std::string all = definition.name + "\n" + source;
  for (const SourceFile& file : foreign)
    all += "\n" + file.path + "\n" + file.content;
  solution.name = fmt::format("kw-{}-{}", definition.name, sha256_hex(all).substr(0, 6));
  solution.definition = definition.name;
  solution.author = "kernwright";
  solution.description = summary;
  solution.spec.entry_point = "kernel.cpp::" + entry;
  solution.spec.binding = "kernwright";
  solution.sources = {{"kernel.cpp", std::move(source)}};
  std::move(foreign.begin(), foreign.end(), std::back_inserter(solution.sources));
  return solution;
}

} // namespace kw
