// SPDX-License-Identifier: Apache-2.0
// Any bytes: an error with a position, or a value whose text parses to the same text.
#include "base/json.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const kw::JsonSource source{.file = "f", .text = text};
  const auto value = kw::parse_json(source);
  // The rest of the bytes as a pointer: walking the text must be safe whatever both hold.
  const std::size_t nul = text.find('\0');
  (void)kw::locate(source, nul == std::string::npos ? "/a/0/b" : "/" + text.substr(nul + 1));
  if (!value) {
    KW_ASSERT(!value.error().message.empty() && value.error().where.starts_with("f:"));
    return 0;
  }
  const std::string once = kw::dump_json(*value);
  const auto again = kw::parse_json({.file = "g", .text = once});
  KW_ASSERT(again && kw::dump_json(*again) == once);
  if (value->is_object()) {
    std::vector<kw::Error> errors;
    kw::ObjectReader reader(*value, source, "", errors);
    for (const auto& [key, item] : value->items()) {
      (void)reader.integer(key);
      (void)reader.number_or(key, 0);
      (void)reader.boolean_or(key, false);
      (void)reader.strings_or_empty(key);
    }
    KW_ASSERT(reader.unknown_keys().empty());
  }
  return 0;
}
