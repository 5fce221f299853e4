// SPDX-License-Identifier: Apache-2.0
#include "compile/stored_diagnostics.hpp"

#include <nlohmann/json.hpp>

namespace kw {
namespace {

using Json = nlohmann::json;

std::string stored_text(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : std::string{};
}
int stored_number(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_number_integer() ? it->get<int>() : 0;
}

} // namespace

std::string store_diagnostics(const std::vector<Diagnostic>& diagnostics) {
  Json list = Json::array();
  for (const Diagnostic& d : diagnostics)
    list.push_back({{"severity", d.severity},
                    {"file", d.file},
                    {"line", d.line},
                    {"column", d.column},
                    {"code", d.code},
                    {"message", d.message},
                    {"excerpt", d.excerpt}});
  // Compiler text may hold bytes that are no UTF-8: replaced, never thrown about.
  return list.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::vector<Diagnostic> load_diagnostics(std::string_view text) {
  std::vector<Diagnostic> out;
  const Json list = Json::parse(text, nullptr, false);
  if (!list.is_array())
    return out;
  for (const Json& item : list) {
    if (!item.is_object())
      continue;
    Diagnostic d;
    d.severity = stored_text(item, "severity");
    d.file = stored_text(item, "file");
    d.line = stored_number(item, "line");
    d.column = stored_number(item, "column");
    d.code = stored_text(item, "code");
    d.message = stored_text(item, "message");
    d.excerpt = stored_text(item, "excerpt");
    out.push_back(std::move(d));
  }
  return out;
}

} // namespace kw
