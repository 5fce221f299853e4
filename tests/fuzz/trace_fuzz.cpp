// SPDX-License-Identifier: Apache-2.0
// Any lines: issues, or traces and workloads that keep their text when written and read again.
#include "formats/trace_json.hpp"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  kw::Issues issues;
  (void)kw::decode_workload(text, "w", issues);
  for (const kw::Trace& t : kw::decode_traces(text, "f", issues)) {
    if (t.is_workload()) {
      const std::string line = kw::encode_workload_line(t.workload, t.definition);
      const auto again = kw::decode_trace(line, "g", 1, issues);
      KW_ASSERT(again && kw::encode_workload_line(again->workload, again->definition) == line);
    }
    const auto line = kw::encode_trace(t);
    if (!line)
      continue;
    const auto again = kw::decode_trace(*line, "g", 1, issues);
    KW_ASSERT(again && kw::encode_trace(*again).value() == *line);
  }
  return 0;
}
