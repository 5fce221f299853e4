// SPDX-License-Identifier: Apache-2.0
// One document on its way from text to a record: collects errors and warnings with positions.
#pragma once

#include "base/json.hpp"
#include "formats/issue.hpp"

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace kw {

class Decoding {
 public:
  Decoding(JsonSource source, Issues& issues) : source_(std::move(source)), issues_(issues) {}

  [[nodiscard]] const JsonSource& source() const { return source_; }
  [[nodiscard]] std::vector<Error>& errors() { return errors_; }

  void error(std::string_view pointer, std::string message, std::string remedy = {});
  void warn(std::string_view pointer, std::string message, std::string remedy = {});

  /// Warns about each key nobody asked for and returns them as JSON text ("" if none). `known` are
  /// the keys to suggest from.
  std::string unknown_keys(const ObjectReader& reader, std::span<const std::string> known);
  /// null where upstream wants the key absent instead.
  void warn_null(ObjectReader& reader, std::string_view key);

  /// Hands everything over; true when there was no error.
  bool finish();
  [[nodiscard]] bool failed() const { return !errors_.empty(); }

 private:
  JsonSource source_;
  Issues& issues_;
  std::vector<Error> errors_;
  std::vector<Error> warnings_;
};

/// Parses and hands back the object, or reports and returns a null value.
Json parse_object(Decoding& decoding);

/// Merges the members of `text` (a JSON object kept from reading, may be "") into `object`; members
/// that are there already win.
void merge_unknown(Json& object, const std::string& text);

} // namespace kw
