// SPDX-License-Identifier: Apache-2.0
// Any bytes: issues, or a solution that keeps every rule, its text and its hashes.
#include "formats/solution_files.hpp"
#include "formats/solution_json.hpp"
#include "formats/verdict_json.hpp"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  kw::Issues issues;
  (void)kw::decode_probe(text);
  const auto s = kw::decode_solution(text, "f", issues);
  KW_ASSERT(s.has_value() == !kw::has_errors(issues));
  if (!s)
    return 0;
  KW_ASSERT(kw::check_solution(*s));
  const std::string written = kw::encode_solution(*s);
  kw::Issues more;
  const auto again = kw::decode_solution(written, "g", more);
  KW_ASSERT(again && kw::encode_solution(*again) == written &&
            kw::fib_hash(*again) == kw::fib_hash(*s));
  return 0;
}
