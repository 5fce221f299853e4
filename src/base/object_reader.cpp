// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"

#include "base/strings.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

namespace kw {
namespace {

// Finding a position scans the text, so a hostile file with a million faults must not ask for a
// million of them. Nobody reads further either.
constexpr std::size_t max_errors = 100;

std::string kind_of(const Json& v) {
  if (v.is_null())
    return "null";
  if (v.is_boolean())
    return "a boolean";
  if (v.is_number())
    return "a number";
  if (v.is_string())
    return "a string";
  return v.is_array() ? "an array" : "an object";
}

std::optional<std::int64_t> to_integer(double d) {
  if (d == std::trunc(d) && std::fabs(d) < 0x1p63)
    return static_cast<std::int64_t>(d);
  return std::nullopt;
}

std::optional<double> number_from_text(std::string_view text) {
  text = trim(text);
  if (text.starts_with('+'))
    text.remove_prefix(1);
  double d = 0; // from_chars knows "inf", "infinity" and "nan" in any case
  const auto r = std::from_chars(text.data(), text.data() + text.size(), d);
  if (text.empty() || r.ec != std::errc{} || r.ptr != text.data() + text.size())
    return std::nullopt;
  return d;
}

} // namespace

std::optional<std::int64_t> lenient_integer(const Json& v) {
  if (v.is_boolean())
    return v.get<bool>() ? 1 : 0;
  if (v.is_number_unsigned()) {
    const auto u = v.get<std::uint64_t>();
    return u <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())
               ? std::optional(static_cast<std::int64_t>(u))
               : std::nullopt;
  }
  if (v.is_number_integer())
    return v.get<std::int64_t>();
  if (v.is_number_float())
    return to_integer(v.get<double>());
  if (!v.is_string())
    return std::nullopt;
  const std::string& s = v.get_ref<const std::string&>();
  const std::string_view text = trim(s);
  std::int64_t i = 0;
  const auto r = std::from_chars(text.data(), text.data() + text.size(), i);
  if (!text.empty() && r.ec == std::errc{} && r.ptr == text.data() + text.size())
    return i;
  if (const auto d = number_from_text(text))
    return to_integer(*d);
  return std::nullopt;
}

std::optional<double> lenient_number(const Json& v) {
  if (v.is_boolean())
    return v.get<bool>() ? 1.0 : 0.0;
  if (v.is_number())
    return v.get<double>();
  if (v.is_string())
    return number_from_text(v.get_ref<const std::string&>());
  return std::nullopt;
}

Json number_to_json(double value) {
  if (std::isnan(value))
    return "NaN";
  if (std::isinf(value))
    return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

std::string pointer_to(std::string_view pointer, std::string_view name) {
  std::string out(pointer);
  out += '/';
  for (const char c : name) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out += c;
  }
  return out;
}

ObjectReader::ObjectReader(const Json& object, const JsonSource& source, std::string pointer,
                           std::vector<Error>& errors)
    : object_(object), source_(source), pointer_(std::move(pointer)), errors_(errors) {}

const Json* ObjectReader::find(std::string_view key) {
  seen_.emplace_back(key);
  if (!object_.is_object())
    return nullptr;
  const auto at = object_.find(std::string(key));
  return at == object_.end() ? nullptr : &*at;
}

std::string ObjectReader::pointer(std::string_view key) const {
  return key.empty() ? pointer_ : pointer_to(pointer_, key);
}

void ObjectReader::error(std::string_view key, std::string message, std::string remedy) {
  if (errors_.size() >= max_errors)
    return;
  errors_.push_back({ErrorKind::invalid_input, std::move(message), std::move(remedy),
                     locate(source_, pointer(key))});
}

const Json* ObjectReader::any(std::string_view key) {
  return find(key);
}

std::string ObjectReader::string(std::string_view key) {
  const Json* v = find(key);
  if (v == nullptr) {
    error({}, fmt::format("the key `{}` is missing", key), fmt::format("add \"{}\": \"...\"", key));
    return {};
  }
  if (!v->is_string()) {
    error(key, fmt::format("`{}` must be a string, not {}", key, kind_of(*v)));
    return {};
  }
  if (v->get_ref<const std::string&>().empty())
    error(key, fmt::format("`{}` must not be empty", key), "give it a value");
  return v->get<std::string>();
}

std::string ObjectReader::string_or(std::string_view key, std::string fallback) {
  const Json* v = find(key);
  if (v == nullptr || v->is_null())
    return fallback;
  if (!v->is_string()) {
    error(key, fmt::format("`{}` must be a string, not {}", key, kind_of(*v)));
    return fallback;
  }
  return v->get<std::string>();
}

std::int64_t ObjectReader::integer(std::string_view key) {
  const Json* v = find(key);
  if (v == nullptr) {
    error({}, fmt::format("the key `{}` is missing", key),
          fmt::format("add \"{}\": <integer>", key));
    return 0;
  }
  const auto i = lenient_integer(*v);
  if (!i)
    error(key, fmt::format("`{}` must be a 64-bit integer, not {}", key,
                           v->is_number() ? dump_json(*v) : kind_of(*v)));
  return i.value_or(0);
}

std::int64_t ObjectReader::integer_or(std::string_view key, std::int64_t fallback) {
  const Json* v = find(key);
  return v == nullptr || v->is_null() ? fallback : integer(key);
}

double ObjectReader::number_or(std::string_view key, double fallback) {
  const Json* v = find(key);
  if (v == nullptr || v->is_null())
    return fallback;
  const auto d = lenient_number(*v);
  if (!d)
    error(key, fmt::format("`{}` must be a number, not {}", key, kind_of(*v)));
  return d.value_or(fallback);
}

bool ObjectReader::boolean_or(std::string_view key, bool fallback) {
  const Json* v = find(key);
  if (v == nullptr || v->is_null())
    return fallback;
  if (v->is_boolean())
    return v->get<bool>();
  if (v->is_number()) {
    const double d = v->get<double>();
    if (d == 0 || d == 1)
      return d == 1;
  }
  if (v->is_string()) { // the words pydantic takes
    std::string s = v->get<std::string>();
    std::ranges::transform(
        s, s.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    for (const char* yes : {"true", "t", "yes", "y", "on", "1"})
      if (s == yes)
        return true;
    for (const char* no : {"false", "f", "no", "n", "off", "0"})
      if (s == no)
        return false;
  }
  error(key, fmt::format("`{}` must be true or false", key));
  return fallback;
}

std::vector<std::string> ObjectReader::strings_or_empty(std::string_view key) {
  std::vector<std::string> out;
  const Json* v = find(key);
  if (v == nullptr || v->is_null())
    return out;
  if (!v->is_array()) {
    error(key, fmt::format("`{}` must be an array of strings, not {}", key, kind_of(*v)));
    return out;
  }
  for (std::size_t i = 0; i < v->size(); ++i) {
    const Json& item = (*v)[i];
    if (item.is_string() && !item.get_ref<const std::string&>().empty()) {
      out.push_back(item.get<std::string>());
      continue;
    }
    if (errors_.size() < max_errors)
      errors_.push_back({ErrorKind::invalid_input,
                         fmt::format("`{}` must hold non-empty strings", key),
                         {},
                         locate(source_, pointer_to(pointer(key), std::to_string(i)))});
  }
  return out;
}

const Json* ObjectReader::object(std::string_view key) {
  const Json* v = find(key);
  if (v == nullptr) {
    error({}, fmt::format("the key `{}` is missing", key), fmt::format("add \"{}\": {{...}}", key));
    return nullptr;
  }
  if (!v->is_object()) {
    error(key, fmt::format("`{}` must be an object, not {}", key, kind_of(*v)));
    return nullptr;
  }
  return v;
}

const Json* ObjectReader::object_or_null(std::string_view key) {
  const Json* v = find(key);
  return v == nullptr || v->is_null() ? nullptr : object(key);
}

const Json* ObjectReader::array(std::string_view key) {
  const Json* v = find(key);
  if (v == nullptr) {
    error({}, fmt::format("the key `{}` is missing", key), fmt::format("add \"{}\": [...]", key));
    return nullptr;
  }
  if (!v->is_array()) {
    error(key, fmt::format("`{}` must be an array, not {}", key, kind_of(*v)));
    return nullptr;
  }
  return v;
}

std::string ObjectReader::unknown_keys() const {
  if (!object_.is_object())
    return {};
  Json rest = Json::object();
  auto& members = rest.get_ref<Json::object_t&>();
  for (const auto& [key, value] : object_.items())
    if (std::ranges::find(seen_, key) == seen_.end())
      members.Json::object_t::Container::emplace_back(key, value);
  return members.empty() ? std::string{} : dump_json(rest);
}

} // namespace kw
