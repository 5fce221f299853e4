// SPDX-License-Identifier: Apache-2.0
#include "target/cpu/remarks.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace kw {
namespace {

constexpr std::string_view mark = ": remark: ";

struct Reason {
  std::string_view words, code;
};
/// In the order in which they tell more.
constexpr std::array reasons = {
    Reason{"vectorized loop", "vectorized"},
    Reason{"reorder floating-point", "reduction_order"},
    Reason{"not be identified as reduction", "dependence"}, // a value that turns hand on
    Reason{"reduction", "reduction_order"},
    Reason{"call instruction", "call"},
    Reason{"library call", "call"},
    Reason{"control flow", "control_flow"},
    Reason{"dependent memory", "dependence"},
    Reason{"unsafe dependen", "dependence"},
    Reason{"number of loop iterations", "trip_count"},
    Reason{"array bounds", "access_pattern"},
    Reason{"stride", "access_pattern"},
    Reason{"not beneficial", "cost"},
    Reason{"cost-model", "cost"},
};

int rank(std::string_view code) {
  for (std::size_t i = 0; i < reasons.size(); ++i)
    if (reasons[i].code == code)
      return static_cast<int>(i);
  return static_cast<int>(reasons.size());
}

/// "file:12:3" -> file and line; 0 when it is no place.
int split_place(std::string_view place, std::string& file) {
  const std::size_t column = place.rfind(':');
  const std::size_t line =
      column == std::string_view::npos || column == 0 ? column : place.rfind(':', column - 1);
  if (line == std::string_view::npos)
    return 0;
  int number = 0;
  std::from_chars(place.data() + line + 1, place.data() + column, number);
  file = std::string(place.substr(0, line));
  return number;
}

/// Without the flag in brackets, the prefix every reason has, and the advice.
std::string shortened(std::string_view text) {
  if (const std::size_t flag = text.rfind(" [-R"); flag != std::string_view::npos)
    text = text.substr(0, flag);
  if (text.starts_with("loop not vectorized: "))
    text.remove_prefix(std::string_view("loop not vectorized: ").size());
  return std::string(text.substr(0, text.find(';')));
}

} // namespace

std::vector<std::string> remark_flags() {
  return {"-Rpass=loop-vectorize", "-Rpass-missed=loop-vectorize",
          "-Rpass-analysis=loop-vectorize"};
}

std::string remark_code(std::string_view text) {
  for (const Reason& r : reasons)
    if (text.find(r.words) != std::string_view::npos)
      return std::string(r.code);
  return "other";
}

std::vector<LoopRemark> parse_remarks(std::string_view log,
                                      const std::vector<std::string>& own_files,
                                      const std::string& source) {
  std::vector<LoopRemark> out;
  while (!log.empty()) {
    const std::string_view line = log.substr(0, log.find('\n'));
    log.remove_prefix(std::min(line.size() + 1, log.size()));
    const std::size_t at = line.find(mark);
    if (at == std::string_view::npos)
      continue;
    LoopRemark remark;
    remark.line = split_place(line.substr(0, at), remark.file);
    const std::string_view text = line.substr(at + mark.size());
    if (remark.line == 0 || text.starts_with("loop not vectorized [") ||
        std::find(own_files.begin(), own_files.end(), remark.file) == own_files.end())
      continue;
    remark.code = remark_code(text);
    remark.vectorized = remark.code == "vectorized";
    remark.text = shortened(text);
    remark.source = source;
    const auto same = std::find_if(out.begin(), out.end(), [&](const LoopRemark& r) {
      return r.file == remark.file && r.line == remark.line && r.vectorized == remark.vectorized;
    });
    if (same == out.end())
      out.push_back(std::move(remark));
    else if (rank(remark.code) < rank(same->code))
      *same = std::move(remark);
  }
  std::stable_sort(out.begin(), out.end(), [](const LoopRemark& a, const LoopRemark& b) {
    return a.file != b.file ? a.file < b.file : a.line < b.line;
  });
  return out;
}

} // namespace kw
