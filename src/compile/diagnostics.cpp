// SPDX-License-Identifier: Apache-2.0
#include "compile/diagnostics.hpp"

#include "compile/symbol_advice.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kw {
namespace {

using Json = nlohmann::json;

// A broken template can produce tens of thousands of messages; nobody reads beyond these.
constexpr std::size_t max_diagnostics = 200;
constexpr std::size_t max_message = 2000;

std::string text_of(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : std::string{};
}
int number_of(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_number_integer() ? it->get<int>() : 0;
}

class Parser {
 public:
  Parser(const std::vector<SourceFile>& sources, const PathRedactions& redactions)
      : sources_(sources), redactions_(redactions) {}

  CompilerMessages run(std::string_view log) {
    while (!log.empty()) {
      const std::string_view line = log.substr(0, log.find('\n'));
      log.remove_prefix(std::min(log.size(), line.size() + 1));
      if (line.starts_with('[') && json_line(line))
        continue;
      text_line(line);
    }
    return std::move(out_);
  }

 private:
  std::string redact(std::string s) const {
    for (const auto& [from, to] : redactions_)
      for (std::size_t at = s.find(from); !from.empty() && at != std::string::npos;
           at = s.find(from, at + to.size()))
        s.replace(at, from.size(), to);
    if (s.size() > max_message)
      s = head_and_tail(std::move(s), max_message);
    return s;
  }

  void add(Diagnostic d) {
    if (out_.diagnostics.size() >= max_diagnostics)
      return;
    if (d.excerpt.empty() && d.line > 0)
      d.excerpt = excerpt(d);
    out_.text += diagnostics_text({d});
    out_.diagnostics.push_back(std::move(d));
  }

  [[nodiscard]] std::string excerpt(const Diagnostic& d, int length = 1) const {
    for (const SourceFile& file : sources_)
      if (file.path == d.file) {
        std::string line = source_line(file.content, d.line);
        if (line.empty())
          return {};
        const std::size_t column = static_cast<std::size_t>(std::max(d.column, 1)) - 1;
        if (d.column <= 0 || column > line.size())
          return line;
        std::string caret;
        for (std::size_t i = 0; i < column; ++i) // tabs stay tabs, so that the caret stays in place
          caret += line[i] == '\t' ? '\t' : ' ';
        caret += '^';
        caret.append(static_cast<std::size_t>(
                         std::clamp<int>(length - 1, 0, static_cast<int>(line.size() - column))),
                     '~');
        return line + "\n" + caret;
      }
    return {};
  }

  bool json_line(std::string_view line) {
    const Json root = Json::parse(line, nullptr, false);
    if (!root.is_array())
      return false;
    for (const Json& item : root)
      json_item(item, 0);
    return true;
  }

  void json_item(const Json& item, int depth) {
    if (!item.is_object() || depth > 4)
      return;
    Diagnostic d;
    d.severity = text_of(item, "kind");
    if (d.severity.find("error") != std::string::npos || d.severity == "sorry, unimplemented")
      d.severity = "error";
    else if (d.severity != "warning")
      d.severity = "note";
    d.code = text_of(item, "option");
    d.message = redact(text_of(item, "message"));
    int length = 1;
    if (const auto at = item.find("locations");
        at != item.end() && at->is_array() && !at->empty()) {
      const Json& first = at->front();
      const auto caret = first.is_object() ? first.find("caret") : first.end();
      if (first.is_object() && caret != first.end() && caret->is_object()) {
        d.file = redact(text_of(*caret, "file"));
        d.line = number_of(*caret, "line");
        d.column = number_of(*caret, "byte-column");
        const auto finish = first.find("finish");
        if (finish != first.end() && finish->is_object() && number_of(*finish, "line") == d.line)
          length = number_of(*finish, "byte-column") - d.column + 1;
      }
    }
    if (d.line > 0)
      d.excerpt = excerpt(d, length);
    add(std::move(d));
    if (const auto children = item.find("children"); children != item.end() && children->is_array())
      for (const Json& child : *children)
        json_item(child, depth + 1);
  }

  /// "file:line:column: error: message [-Wx]" (clang, assembler), linker lines, or neither.
  void text_line(std::string_view line) {
    if (line.empty())
      return;
    const std::string clean = redact(std::string(line));
    if (located_line(clean) || linker_line(clean))
      return;
    out_.text += clean + "\n";
  }

  bool located_line(const std::string& line) {
    // The assembler writes them with a capital.
    for (const char* severity :
         {"fatal error", "Fatal error", "error", "Error", "warning", "Warning", "note"}) {
      const std::string mark = fmt::format(": {}: ", severity);
      const std::size_t at = line.find(mark);
      if (at == std::string::npos)
        continue;
      Diagnostic d;
      d.severity = line.find("arning: ", at) == at + 3    ? "warning"
                   : std::string_view(severity) == "note" ? "note"
                                                          : "error";
      d.message = line.substr(at + mark.size());
      split_location(std::string_view(line).substr(0, at), d);
      if (d.message.ends_with(']'))
        if (const std::size_t open = d.message.rfind(" ["); open != std::string::npos) {
          d.code = d.message.substr(open + 2, d.message.size() - open - 3);
          d.message.resize(open);
        }
      add(std::move(d));
      return true;
    }
    return false;
  }

  static void split_location(std::string_view place, Diagnostic& d) {
    const auto number_after_colon = [&place]() {
      const std::size_t colon = place.rfind(':');
      int value = 0;
      if (colon == std::string_view::npos)
        return 0;
      const char* end = place.data() + place.size();
      const auto [stop, ec] = std::from_chars(place.data() + colon + 1, end, value);
      if (ec != std::errc() || stop != end)
        return 0;
      place = place.substr(0, colon);
      return value;
    };
    const int last = number_after_colon();
    const int before = number_after_colon();
    d.line = before > 0 ? before : last;
    d.column = before > 0 ? last : 0;
    d.file = place;
  }

  bool linker_line(const std::string& line) {
    static constexpr std::string_view undefined = "undefined reference to `";
    Diagnostic d;
    d.severity = "error";
    if (const std::size_t at = line.find(undefined); at != std::string::npos) {
      const std::size_t begin = at + undefined.size();
      const std::string symbol = line.substr(begin, line.find('\'', begin) - begin);
      const SymbolAdvice advice = advise(symbol);
      d.code = "undefined-reference";
      d.message = fmt::format("undefined reference to {}: {}; {}", readable(symbol), advice.what,
                              advice.instead);
      const SymbolUse use = find_use(symbol, sources_);
      d.file = use.file;
      d.line = use.line;
    } else if (line.find("multiple definition of") != std::string::npos ||
               line.find("relocation ") != std::string::npos ||
               line.find("final link failed") != std::string::npos) {
      d.code = "link";
      d.message = line;
    } else if (line.find("terminated program") != std::string::npos ||
               line.find("out of memory") != std::string::npos ||
               line.find("virtual memory exhausted") != std::string::npos) {
      d.code = "compiler-stopped";
      d.message = line;
    } else {
      return false;
    }
    // The linker repeats itself for every use.
    for (const Diagnostic& known : out_.diagnostics)
      if (known.message == d.message)
        return true;
    add(std::move(d));
    return true;
  }

  const std::vector<SourceFile>& sources_;
  const PathRedactions& redactions_;
  CompilerMessages out_;
};

} // namespace

CompilerMessages parse_compiler_output(std::string_view log, const std::vector<SourceFile>& sources,
                                       const PathRedactions& redactions) {
  return Parser(sources, redactions).run(log);
}

std::string diagnostics_text(const std::vector<Diagnostic>& diagnostics) {
  std::string out;
  for (const Diagnostic& d : diagnostics) {
    if (!d.file.empty())
      out += d.file;
    if (d.line > 0)
      out += fmt::format(":{}", d.line);
    if (d.line > 0 && d.column > 0)
      out += fmt::format(":{}", d.column);
    out += fmt::format("{}{}: {}", d.file.empty() ? "" : ": ", d.severity, d.message);
    if (!d.code.empty())
      out += fmt::format(" [{}]", d.code);
    out += '\n';
    std::string_view rest = d.excerpt;
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      out += fmt::format("    {}\n", line);
    }
  }
  return out;
}

std::string source_line(std::string_view content, int line) {
  for (int i = 1; i < line; ++i) {
    const std::size_t end = content.find('\n');
    if (end == std::string_view::npos)
      return {};
    content.remove_prefix(end + 1);
  }
  return std::string(content.substr(0, std::min<std::size_t>(content.find('\n'), 200)));
}

std::string head_and_tail(std::string text, std::size_t limit) {
  if (text.size() <= limit)
    return text;
  static constexpr std::string_view mark = "\n... left out ...\n";
  if (limit <= mark.size())
    return text.substr(0, limit);
  const std::size_t half = (limit - mark.size()) / 2;
  return text.substr(0, half) + std::string(mark) + text.substr(text.size() - half);
}

} // namespace kw
