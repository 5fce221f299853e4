// SPDX-License-Identifier: Apache-2.0
#include "compile/source_rules.hpp"

#include "compile/diagnostics.hpp"
#include "compile/source_tokens.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <set>

namespace kw {
namespace {

using Kind = SourceToken::Kind;

class Scan {
 public:
  Scan(const SourceFile& file, std::vector<Diagnostic>& out)
      : file_(file), tokens_(tokenize(file.content)), out_(out) {}

  void run() {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const SourceToken& t = tokens_[i];
      if (t.kind == Kind::directive)
        directive(i);
      else if (t.kind == Kind::identifier)
        identifier(i);
    }
  }

 private:
  void refuse(int line, std::string code, std::string message, std::string instead) {
    Diagnostic d;
    d.severity = "error";
    d.file = file_.path;
    d.line = line;
    d.code = std::move(code);
    d.message = fmt::format("{}; {}", message, instead);
    d.excerpt = source_line(file_.content, line);
    out_.push_back(std::move(d));
  }

  [[nodiscard]] const SourceToken* token(std::size_t i) const {
    return i < tokens_.size() ? &tokens_[i] : nullptr;
  }
  [[nodiscard]] bool is(std::size_t i, Kind kind, std::string_view value) const {
    return i < tokens_.size() && tokens_[i].kind == kind && tokens_[i].value == value;
  }

  void directive(std::size_t i) {
    const std::string& name = tokens_[i].value;
    const int line = tokens_[i].line;
    if (name == "embed")
      refuse(line, "forbidden-embed", "#embed reads files at compile time", "write the table out");
    else if (name == "include" || name == "include_next" || name == "import")
      include(i);
    else if (name == "pragma")
      pragma(i + 1, line);
    else if (name == "line" || (!name.empty() && name[0] >= '0' && name[0] <= '9')) // # 3 "file"
      refuse(line, "forbidden-line", "#line moves diagnostics to other places", "remove it");
  }

  void include(std::size_t i) {
    const int line = tokens_[i].line;
    const SourceToken* name = token(i + 1);
    if (name == nullptr || (name->kind != Kind::text && name->kind != Kind::header)) {
      refuse(line, "forbidden-include", "#include of a macro", "name the header literally");
      return;
    }
    const std::string_view path = name->value;
    if (path.starts_with('/'))
      refuse(line, "forbidden-include", fmt::format("#include of the absolute path \"{}\"", path),
             "include headers of the solution, kernwright.h or the standard library by name");
    else if (path == ".." || path.starts_with("../") || path.find("/../") != path.npos ||
             path.ends_with("/.."))
      refuse(line, "forbidden-include", fmt::format("#include of \"{}\" climbs out with ..", path),
             "include by the path from the solution's root");
  }

  void pragma(std::size_t i, int line) {
    if (!is(i, Kind::identifier, "GCC") && !is(i, Kind::identifier, "clang"))
      return;
    static constexpr std::array banned{"optimize",    "target",        "push_options",
                                       "pop_options", "reset_options", "pch_preprocess",
                                       "dependency",  "attribute"};
    const SourceToken* what = token(i + 1);
    if (what != nullptr && what->kind == Kind::identifier &&
        std::find(banned.begin(), banned.end(), what->value) != banned.end())
      refuse(line, "forbidden-pragma",
             fmt::format("#pragma GCC {} changes the pinned flags", what->value),
             "flags are the judge's; write intrinsics for this CPU directly");
  }

  void identifier(std::size_t i) {
    const std::string& name = tokens_[i].value;
    const int line = tokens_[i].line;
    if (name == "__has_include" || name == "__has_include_next" || name == "__has_embed")
      refuse(line, "forbidden-has-include", fmt::format("{} probes for files", name),
             "include what you need: the toolchain is fixed");
    else if (name == "_Pragma")
      pragma_operator(i);
    else if (name == "asm" || name == "__asm" || name == "__asm__")
      assembler(i);
    else if (name == "__attribute__" || name == "__attribute" || name == "gnu")
      attribute(i);
  }

  void pragma_operator(std::size_t i) {
    const int line = tokens_[i].line;
    const SourceToken* text = token(i + 2);
    if (!is(i + 1, Kind::punctuation, "(") || text == nullptr || text->kind != Kind::text) {
      refuse(line, "forbidden-pragma", "_Pragma with something other than a string literal",
             "write the pragma out");
      return;
    }
    for (const char* word : {"optimize", "target", "push_options", "pch_preprocess", "dependency"})
      if (text->value.find(word) != std::string::npos &&
          text->value.find("omp") == std::string::npos)
        refuse(line, "forbidden-pragma",
               fmt::format("_Pragma(\"{}\") changes the pinned flags", text->value),
               "flags are the judge's; write intrinsics for this CPU directly");
  }

  /// The assembler concatenates adjacent literals, and so do we.
  void assembler(std::size_t i) {
    const int line = tokens_[i].line;
    std::string text;
    int depth = 0;
    for (std::size_t j = i + 1; j < tokens_.size(); ++j) {
      const SourceToken& t = tokens_[j];
      if (t.kind == Kind::text)
        text += t.value;
      else if (is(j, Kind::punctuation, "("))
        ++depth;
      else if (is(j, Kind::punctuation, ")") && --depth <= 0)
        break;
      else if (is(j, Kind::punctuation, ";") && depth == 0)
        break;
    }
    static constexpr std::array banned{".incbin", ".include", ".symver"};
    for (const char* word : banned)
      if (text.find(word) != std::string::npos) {
        refuse(line, "forbidden-asm", fmt::format("assembler directive {}", word),
               "inline assembly may hold instructions only");
        return;
      }
  }

  /// optimize(...) inside an attribute list, as a word of its own.
  void attribute(std::size_t i) {
    int depth = 0;
    for (std::size_t j = i + 1; j < tokens_.size() && j < i + 64; ++j) {
      if (is(j, Kind::punctuation, "("))
        ++depth;
      else if (is(j, Kind::punctuation, ")") && --depth <= 0)
        return;
      else if (is(j, Kind::punctuation, "]") || is(j, Kind::punctuation, ";"))
        return;
      const std::string& word = tokens_[j].value;
      if (tokens_[j].kind != Kind::identifier)
        continue;
      if (word == "optimize" || word == "__optimize__")
        return refuse(tokens_[j].line, "forbidden-attribute",
                      "attribute optimize changes the pinned flags",
                      "remove it: everything is built with -O3");
    }
  }

  const SourceFile& file_;
  std::vector<SourceToken> tokens_;
  std::vector<Diagnostic>& out_;
};

bool bad_path(const std::string& path) {
  // The compiler takes "-x" for an option and "@x" for a file that holds options.
  if (path.empty() || path.size() > 255 || path.starts_with('/') || path.starts_with('-') ||
      path.starts_with('@'))
    return true;
  for (const char c : path)
    if (c < 0x21 || c > 0x7e || c == '\\' || c == '"' || c == '\'')
      return true;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string part = path.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..")
      return true;
    begin = end + 1;
  }
  return false;
}

} // namespace

std::vector<Diagnostic> check_source_rules(const std::vector<SourceFile>& sources) {
  std::vector<Diagnostic> out;
  for (const SourceFile& file : sources)
    Scan(file, out).run();
  return out;
}

std::vector<Diagnostic> check_source_paths(const std::vector<SourceFile>& sources) {
  std::vector<Diagnostic> out;
  std::set<std::string> seen;
  const auto refuse = [&out](const std::string& path, std::string message) {
    Diagnostic d;
    d.severity = "error";
    d.file = path;
    d.code = "forbidden-path";
    d.message = std::move(message);
    out.push_back(std::move(d));
  };
  for (const SourceFile& file : sources) {
    if (bad_path(file.path))
      refuse(file.path,
             fmt::format("\"{}\" is no usable source path; use a relative path of printable "
                         "characters without blanks, . or .., that begins neither with - nor @",
                         file.path));
    else if (!seen.insert(file.path).second)
      refuse(file.path,
             fmt::format("\"{}\" occurs twice in the solution; give each file its own path",
                         file.path));
  }
  return out;
}

} // namespace kw
