// SPDX-License-Identifier: Apache-2.0
// The error stream of a side run is written by the candidate's process: arbitrary bytes.
#include "judge/sanitizer_report.hpp"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::vector<kw::SourceFile> sources{{"k.cpp", ""}, {"sub/part.hpp", ""}, {"", ""}};
  const kw::SanitizerReport report = kw::parse_sanitizer_report(text, sources);
  if (report.lines.size() > 12 || report.line < 0 || report.column < 0 ||
      (report.is_fault() && !report.found))
    std::abort();
  for (const std::string& line : report.lines)
    for (const char c : line)
      if (c < ' ' || c > '~')
        std::abort();
  if (!report.file.empty() && report.file != "k.cpp" && report.file != "sub/part.hpp")
    std::abort();
  return report.sentence().size() > 2000 ? (std::abort(), 0) : 0;
}
