// SPDX-License-Identifier: Apache-2.0
#include "controller/steering.hpp"

#include "controller/direction.hpp"
#include "controller/effect_result.hpp"
#include "os/files.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>

namespace kw {
namespace {

constexpr std::string_view kinds[] = {"prefer", "block", "note", "hand-over", "approve", "decline"};
constexpr double most_minutes = 24 * 60;

bool names_direction(std::string_view kind) {
  return kind == "prefer" || kind == "block";
}

} // namespace

Status check_steering(const Steering& s) {
  if (std::find(std::begin(kinds), std::end(kinds), s.kind) == std::end(kinds))
    return fail(ErrorKind::invalid_input, fmt::format("There is no steering `{}`", s.kind),
                "prefer, block, note, hand-over, approve or decline");
  if (names_direction(s.kind) && find_direction(s.direction) == nullptr) {
    std::string all;
    for (const Direction& d : directions())
      all += fmt::format("{}{}", all.empty() ? "" : ", ", d.id);
    return fail(ErrorKind::invalid_input, fmt::format("There is no direction `{}`", s.direction),
                all);
  }
  if (!names_direction(s.kind) && !s.direction.empty())
    return fail(ErrorKind::invalid_input, fmt::format("`{}` takes no direction", s.kind),
                "leave it out");
  if (!(s.minutes >= 0 && s.minutes <= most_minutes))
    return fail(ErrorKind::invalid_input, "minutes are between 0 and a day", "correct them");
  return {};
}

Json to_json(const Steering& s) {
  Json json{{"kind", s.kind}};
  if (!s.direction.empty())
    json["direction"] = s.direction;
  if (!s.text.empty())
    json["text"] = s.text;
  json["by"] = s.by;
  json["at"] = s.at;
  json["minutes"] = s.minutes;
  return json;
}

Result<Steering> steering_from_json(const Json& json) {
  Steering s{.kind = text_in(json, "kind"),
             .direction = text_in(json, "direction"),
             .text = text_in(json, "text"),
             .by = text_in(json, "by"),
             .at = text_in(json, "at"),
             .minutes = number_in(json, "minutes").value_or(0)};
  KW_CHECK(check_steering(s));
  return s;
}

Status append_steering(const std::string& path, const Steering& steering) {
  KW_CHECK(check_steering(steering));
  return append_line_durable(path, dump_json(to_json(steering)));
}

Result<SteeringLines> read_steering(const std::string& path, std::size_t from) {
  SteeringLines out;
  if (!is_file(path))
    return out;
  KW_TRY(const std::string text, read_file(path, 1 << 20));
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    if (end == std::string::npos)
      break; // being written
    if (out.lines++ >= from) {
      const std::string line = text.substr(at, end - at);
      const Result<Json> json = parse_json({.file = path, .text = line});
      const Result<Steering> steering =
          json ? steering_from_json(*json) : Result<Steering>(fail(json.error()));
      if (steering)
        out.steerings.push_back(*steering);
    }
    at = end + 1;
  }
  return out;
}

} // namespace kw
