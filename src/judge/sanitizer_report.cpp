// SPDX-License-Identifier: Apache-2.0
#include "judge/sanitizer_report.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>

namespace kw {
namespace {

constexpr std::size_t max_lines = 12, max_line = 200;
constexpr std::size_t max_log = std::size_t{256} << 10;

/// Addresses differ from run to run and help nobody: "0x7f12" -> "...". The rest that does not
/// print becomes '?'.
std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size() && out.size() < max_line; ++i) {
    if (text.substr(i, 2) == "0x") {
      const std::size_t end =
          std::min(text.find_first_not_of("0123456789abcdefABCDEF", i + 2), text.size());
      out += "...";
      i = end - 1;
      continue;
    }
    out += text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
  }
  return out;
}

std::string_view trimmed(std::string_view s) {
  const std::size_t begin = s.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos)
    return {};
  return s.substr(begin, s.find_last_not_of(" \t\r") - begin + 1);
}

std::string_view after(std::string_view s, std::string_view what) {
  const std::size_t at = s.find(what);
  return at == std::string_view::npos ? std::string_view{} : s.substr(at + what.size());
}

struct Place {
  std::string file;
  int line = 0, column = 0;
};

int number(std::string_view& s) {
  int value = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
  if (error != std::errc{} || value < 0)
    return 0;
  s.remove_prefix(static_cast<std::size_t>(end - s.data()));
  return value;
}

/// The last mention of one of the solution's files with a line number: "./k.cpp:12:5",
/// "in kernel k.cpp:12". A file of that name elsewhere (an absolute path) is not it.
Place place_in(std::string_view text, const std::vector<SourceFile>& sources) {
  Place best;
  for (const SourceFile& source : sources) {
    if (source.path.empty())
      continue;
    const std::string wanted = source.path + ":";
    for (std::size_t at = text.find(wanted); at != std::string_view::npos;
         at = text.find(wanted, at + 1)) {
      std::string_view before = text.substr(0, at);
      if (before.ends_with("./"))
        before.remove_suffix(2);
      if (!before.empty() && before.back() != ' ' && before.back() != '(')
        continue;
      std::string_view rest = text.substr(at + wanted.size());
      Place here{source.path, number(rest), 0};
      if (here.line == 0)
        continue;
      if (rest.starts_with(":")) {
        rest.remove_prefix(1);
        here.column = number(rest);
      }
      best = here;
    }
  }
  return best;
}

/// Frames of the candidate, without their number and address; "" for anyone else's.
std::string own_frame(std::string_view line, const std::vector<SourceFile>& sources) {
  const Place place = place_in(line, sources);
  if (place.file.empty())
    return {};
  std::string_view function = after(line, " in ");
  if (function.empty()) { // ThreadSanitizer: "#0 body k.cpp:12 (object+0x1)"
    function = after(line, "#");
    function = after(function, " ");
  }
  function = trimmed(function.substr(0, function.find(place.file + ":")));
  if (function.ends_with("./"))
    function = trimmed(function.substr(0, function.size() - 2));
  return fmt::format("  in {} at {}:{}{}", function.empty() ? "?" : printable(function), place.file,
                     place.line, place.column > 0 ? fmt::format(":{}", place.column) : "");
}

void note_place(SanitizerReport& report, const Place& place) {
  if (!report.file.empty() || place.file.empty())
    return;
  report.file = place.file;
  report.line = place.line;
  report.column = place.column;
}

/// "... is located 0 bytes to the right of 6060-byte region [...)": the part in the middle.
void note_region(SanitizerReport& report, std::string_view line) {
  const std::string_view located = after(line, " is located ");
  if (located.empty() || !report.region.empty())
    return;
  report.region = std::string(trimmed(printable(located.substr(0, located.find('[')))));
  const std::size_t unit = located.find("-byte region");
  if (unit == std::string_view::npos)
    return;
  const std::size_t begin = located.find_last_not_of("0123456789", unit == 0 ? 0 : unit - 1);
  std::string_view digits = located.substr(begin == std::string_view::npos ? 0 : begin + 1);
  report.region_bytes = number(digits);
}

void headline(SanitizerReport& report, std::string_view line) {
  for (const char* tool : {"AddressSanitizer", "ThreadSanitizer"}) {
    std::string_view said = after(line, std::string(tool) + ": ");
    if (said.empty() || line.starts_with("SUMMARY"))
      continue;
    said = said.substr(0, said.find(" on address "));
    said = said.substr(0, said.find(" on unknown address "));
    said = trimmed(said.substr(0, said.find(" (p"))); // "(pid=12)", "(pc 0x...)"
    report.found = true;
    report.tool = tool;
    report.kind = printable(said);
    // A wide access that begins inside: libasan has no name of its own for that.
    if (report.kind == "unknown-crash")
      report.kind = "out-of-bounds access";
    return;
  }
}

// What the runtimes of g++-12 call faults of the program. Anything else they say is about
// themselves.
constexpr std::array faults{"heap-buffer-overflow",
                            "heap-use-after-free",
                            "stack-buffer-overflow",
                            "stack-buffer-underflow",
                            "stack-use-after-return",
                            "stack-use-after-scope",
                            "stack-overflow",
                            "dynamic-stack-buffer-overflow",
                            "global-buffer-overflow",
                            "use-after-poison",
                            "out-of-bounds access",
                            "negative-size-param",
                            "SEGV",
                            "BUS",
                            "FPE",
                            "ILL",
                            "TRAP",
                            "ABRT",
                            "data race"};

} // namespace

bool SanitizerReport::is_fault() const {
  if (!found || tool == "UndefinedBehaviorSanitizer")
    return found;
  return std::any_of(
             faults.begin(), faults.end(),
             [this](const char* fault) { return std::string_view(kind).starts_with(fault); }) ||
         kind.find("param-overlap") != std::string::npos;
}

std::string SanitizerReport::sentence() const {
  std::string out = tool.empty() ? kind : tool + ": " + kind;
  if (!access.empty())
    out += ", " + access;
  if (!file.empty())
    out += fmt::format(" at {}:{}", file, line);
  return region.empty() ? out : out + ", " + region;
}

std::string SanitizerReport::sentence_without_place() const {
  SanitizerReport placeless = *this;
  placeless.file.clear();
  return placeless.sentence();
}

SanitizerReport parse_sanitizer_report(std::string_view log,
                                       const std::vector<SourceFile>& sources) {
  SanitizerReport report;
  log = log.substr(0, max_log);
  const auto say = [&report](std::string text) {
    if (!text.empty() && report.lines.size() < max_lines)
      report.lines.push_back(std::move(text));
  };
  while (!log.empty()) {
    const std::size_t end = std::min(log.find('\n'), log.size());
    const std::string_view line = log.substr(0, end);
    log.remove_prefix(std::min(end + 1, log.size()));
    if (!report.found) {
      const std::size_t undefined = line.find(": runtime error: ");
      if (undefined != std::string_view::npos) {
        report.found = true;
        report.tool = "UndefinedBehaviorSanitizer";
        report.kind = printable(trimmed(after(line, ": runtime error: ")));
        // "k.cpp:3:9" and nothing else: the place as far as the sentence
        note_place(report, place_in(line.substr(0, undefined + 1), sources));
      } else {
        headline(report, line);
      }
      if (report.found)
        say(report.tool + ": " + report.kind);
      continue;
    }
    const std::string_view text = trimmed(line);
    if (text.starts_with("SUMMARY: "))
      break;
    if (text.starts_with("#")) {
      note_place(report, place_in(text, sources));
      say(own_frame(text, sources));
      continue;
    }
    const bool access = text.starts_with("READ of size") || text.starts_with("WRITE of size") ||
                        text.starts_with("Read of size") || text.starts_with("Write of size") ||
                        text.starts_with("Previous ");
    if (access) {
      const std::string_view what =
          trimmed(text.substr(0, std::min(text.find(" at 0x"), text.find(" thread T"))));
      if (report.access.empty())
        report.access = printable(what);
      say(printable(text));
    } else if (text.find(" is located ") != std::string_view::npos) {
      note_region(report, text);
      say(report.region);
    } else if (text.find("overflows this variable") != std::string_view::npos) {
      const std::size_t name = text.find('\'');
      say(printable(name == std::string_view::npos ? text : text.substr(name)));
    }
  }
  return report;
}

} // namespace kw
