// SPDX-License-Identifier: Apache-2.0
#include "controller/effect_result.hpp"

#include <nlohmann/json.hpp>

namespace kw {
namespace {

const Json* field(const Json& result, const char* key) {
  if (!result.is_object())
    return nullptr;
  const auto found = result.find(key);
  return found == result.end() ? nullptr : &*found;
}

} // namespace

std::optional<double> number_in(const Json& result, const char* key) {
  const Json* value = field(result, key);
  return value != nullptr && value->is_number() ? std::optional(value->get<double>())
                                                : std::nullopt;
}

std::string text_in(const Json& result, const char* key) {
  const Json* value = field(result, key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string{};
}

bool flag_in(const Json& result, const char* key) {
  const Json* value = field(result, key);
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

} // namespace kw
