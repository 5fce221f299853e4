// SPDX-License-Identifier: Apache-2.0
// Any bytes: issues, or a definition that is written, read back and written to the same text.
#include "formats/definition_json.hpp"
#include "formats/trace_set.hpp"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  kw::Issues issues;
  const auto rule = size % 2 == 0 ? kw::ReferenceRule::required : kw::ReferenceRule::may_be_in_file;
  auto d = kw::decode_definition({reinterpret_cast<const char*>(data), size}, "f", issues, rule);
  KW_ASSERT(d.has_value() == !kw::has_errors(issues));
  if (!d)
    return 0;
  if (d->reference.empty())
    d->reference = "def run(): pass";
  for (const kw::SourceForm form : {kw::SourceForm::by_name, kw::SourceForm::inlined}) {
    const std::string text = kw::encode_definition(*d, form);
    kw::Issues more;
    const auto again = kw::decode_definition(text, "g", more);
    KW_ASSERT(again && kw::encode_definition(*again, form) == text);
  }
  d->ext_json.clear(); // the record alone must be writable as well
  kw::Issues more;
  KW_ASSERT(kw::decode_definition(kw::encode_definition(*d, kw::SourceForm::by_name), "h", more));
  kw::TraceSet set;
  set.workloads[d->name].push_back({});
  set.definitions.push_back(std::move(*d));
  (void)kw::check_set(set);
  return 0;
}
