// SPDX-License-Identifier: Apache-2.0
#include "formats/decoding.hpp"

#include "base/strings.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kw {
namespace {
constexpr std::size_t max_per_document = 100; // each position costs a scan of the text
}

void Decoding::error(std::string_view pointer, std::string message, std::string remedy) {
  if (errors_.size() < max_per_document)
    errors_.push_back({ErrorKind::invalid_input, std::move(message), std::move(remedy),
                       locate(source_, pointer)});
}

void Decoding::warn(std::string_view pointer, std::string message, std::string remedy) {
  if (warnings_.size() < max_per_document)
    warnings_.push_back({ErrorKind::invalid_input, std::move(message), std::move(remedy),
                         locate(source_, pointer)});
}

std::string Decoding::unknown_keys(const ObjectReader& reader, std::span<const std::string> known) {
  std::string rest = reader.unknown_keys();
  if (rest.empty())
    return rest;
  const auto parsed = parse_json({.file = {}, .text = rest});
  KW_ASSERT(parsed && parsed->is_object());
  for (const auto& [key, value] : parsed->items()) {
    const std::string meant = nearest_name(key, known);
    warn(reader.pointer(key), fmt::format("unknown key `{}`: kept, but nothing reads it", key),
         meant.empty() ? "" : fmt::format("did you mean `{}`?", meant));
  }
  return rest;
}

void Decoding::warn_null(ObjectReader& reader, std::string_view key) {
  if (const Json* v = reader.any(key); v != nullptr && v->is_null())
    warn(reader.pointer(key), fmt::format("`{}` is null, which flashinfer-bench refuses", key),
         "leave the key out");
}

bool Decoding::finish() {
  for (Error& e : errors_)
    issues_.push_back({Severity::error, std::move(e)});
  for (Error& w : warnings_)
    issues_.push_back({Severity::warning, std::move(w)});
  const bool good = errors_.empty();
  errors_.clear();
  warnings_.clear();
  return good;
}

Json parse_object(Decoding& decoding) {
  auto parsed = parse_json(decoding.source());
  if (!parsed) {
    decoding.errors().push_back(std::move(parsed.error()));
    return nullptr;
  }
  if (!parsed->is_object()) {
    decoding.error("", "the document must be a JSON object",
                   "docs/formats.md shows the keys of each kind of file");
    return nullptr;
  }
  return std::move(*parsed);
}

void merge_unknown(Json& object, const std::string& text) {
  if (text.empty())
    return;
  const auto parsed = parse_json({.file = {}, .text = text});
  if (!parsed || !parsed->is_object())
    return;
  for (const auto& [key, value] : parsed->items())
    if (!object.contains(key))
      object[key] = value;
}

} // namespace kw
