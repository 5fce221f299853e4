// SPDX-License-Identifier: Apache-2.0
// JSON from outside passes one decode layer that checks types and says where (file:line:column).
// Key order is preserved: the order of `inputs` and `outputs` is the calling convention.
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

using Json = nlohmann::ordered_json;

/// Where a piece of JSON text came from, for messages. `text` must outlive the source.
struct JsonSource {
  std::string file;      ///< as shown to the user
  std::string_view text; ///< the whole document
  int first_line = 1;    ///< line number of text[0] (JSON Lines)
};

/// Parses one document. Depth is bounded (256); duplicate keys, NaN/Infinity tokens are handled as
/// documented in json.cpp. The error names line and column.
Result<Json> parse_json(const JsonSource& source);

/// "file:line:column" of the value at `pointer` (RFC 6901, e.g. "/axes/m/value"); falls back to its
/// nearest existing ancestor.
std::string locate(const JsonSource& source, std::string_view pointer);

/// "file:line:column" of a byte offset into the text; columns count characters, from 1.
std::string position(const JsonSource& source, std::size_t offset);

/// Text of a value, one line unless `indent` >= 0. Never throws: bytes that are not UTF-8 become
/// U+FFFD. NaN and infinities come out as null; encoders that mean them write strings.
std::string dump_json(const Json& value, int indent = -1);

/// Numbers as pydantic's lax mode takes them: strings that spell one, integral floats as integers,
/// true and false as 1 and 0. Empty when `value` is nothing of the kind.
std::optional<std::int64_t> lenient_integer(const Json& value);
std::optional<double> lenient_number(const Json& value);

/// A number as JSON: non-finite values as the strings "NaN", "Infinity", "-Infinity".
Json number_to_json(double value);

/// Extends an RFC 6901 pointer by one name.
std::string pointer_to(std::string_view pointer, std::string_view name);

/// A typed view of one JSON object that collects errors instead of throwing.
/// Reads are lenient as pydantic's lax mode is: numeric strings count as numbers.
class ObjectReader {
 public:
  ObjectReader(const Json& object, const JsonSource& source, std::string pointer,
               std::vector<Error>& errors);
  ObjectReader(const ObjectReader&) = delete;
  ObjectReader& operator=(const ObjectReader&) = delete;

  std::string string(std::string_view key);                          ///< required, length >= 1
  std::string string_or(std::string_view key, std::string fallback); ///< absent or null -> fallback
  std::int64_t integer(std::string_view key);
  std::int64_t integer_or(std::string_view key, std::int64_t fallback);
  double number_or(std::string_view key,
                   double fallback); ///< accepts "NaN", "Infinity", "-Infinity"
  bool boolean_or(std::string_view key, bool fallback);
  std::vector<std::string> strings_or_empty(std::string_view key);
  const Json* object(std::string_view key);         ///< required object, else error and nullptr
  const Json* object_or_null(std::string_view key); ///< absent/null -> nullptr without error
  const Json* array(std::string_view key);
  const Json* any(std::string_view key); ///< absent -> nullptr; marks the key as known

  void error(std::string_view key, std::string message, std::string remedy = {});
  [[nodiscard]] std::string pointer(std::string_view key = {}) const;
  /// Keys never asked for, as a JSON object in text form ("" if none): kept for round-trips.
  [[nodiscard]] std::string unknown_keys() const;

 private:
  const Json* find(std::string_view key);
  const Json& object_;
  const JsonSource& source_;
  std::string pointer_;
  std::vector<Error>& errors_;
  std::vector<std::string> seen_;
};

} // namespace kw
