// SPDX-License-Identifier: Apache-2.0
#include "controller/journal.hpp"

#include "controller/effect_result.hpp"
#include "os/files.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kw {
namespace {

constexpr std::string_view schema = "kernwright.journal/1";

std::string header() {
  return dump_json(Json{{"schema", schema}});
}

std::string line_of(const std::string& what, const std::string& key, const std::string& result) {
  const std::string head = dump_json(Json{{"effect", what}, {"key", key}});
  return fmt::format("{},\"result\":{}}}", std::string_view(head).substr(0, head.size() - 1),
                     result);
}

} // namespace

Result<Journal> Journal::open(const std::string& path) {
  Journal journal;
  journal.path_ = path;
  if (is_file(path)) {
    KW_TRY(journal.effects_, read(path, true));
  }
  return journal;
}

Status Journal::answer_from(const std::string& path) {
  KW_TRY(answers_, read(path, false));
  return {};
}

Result<std::vector<Journal::Effect>> Journal::read(const std::string& path, bool mend) {
  KW_TRY(std::string text, read_file(path));
  if (const std::size_t end = text.rfind('\n') + 1; end != text.size()) { // torn by a kill
    text.resize(end);
    if (mend)
      KW_CHECK(write_file_atomic(path, text));
  }
  return parse(text, path);
}

Result<Journal> Journal::from_text(std::string_view text, const std::string& name) {
  Journal journal;
  KW_TRY(journal.effects_, parse(text, name));
  return journal;
}

Result<std::vector<Journal::Effect>> Journal::parse(std::string_view text,
                                                    const std::string& path) {
  std::vector<Effect> effects;
  int line = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string where = fmt::format("{}:{}", path, ++line);
    const std::string_view one = text.substr(at, end - at);
    at = end + 1;
    const auto damaged = [&](std::string why) {
      return fail(ErrorKind::invalid_input, std::move(why),
                  "start a new run: the archive still knows what this one tried", where);
    };
    const Result<Json> parsed = parse_json({.file = path, .text = one});
    if (!parsed || !parsed->is_object())
      return damaged("The journal of the run is damaged");
    if (line == 1) {
      if (text_in(*parsed, "schema") != schema)
        return damaged(fmt::format("The journal is not of the schema \"{}\"", schema));
      continue;
    }
    Effect effect{.what = text_in(*parsed, "effect"), .key = text_in(*parsed, "key"), .result = {}};
    if (effect.what.empty() || !parsed->contains("result"))
      return damaged("A line of the journal names no effect or has no result");
    effect.result = dump_json((*parsed)["result"]);
    effects.push_back(std::move(effect));
  }
  return effects;
}

Status Journal::append(const Effect& effect) {
  if (path_.empty())
    return {};
  if (effects_.empty())
    KW_CHECK(write_file_atomic(path_, header() + "\n"));
  return append_line_durable(path_, line_of(effect.what, effect.key, effect.result));
}

Result<Json> Journal::match(const Effect& known, std::string_view what, std::string_view key,
                            std::size_t step) const {
  if (known.what == what && known.key == key)
    return parse_json({.file = path_, .text = known.result});
  return fail(ErrorKind::invalid_input,
              fmt::format("The run would go on otherwise than it did: step {} was \"{} {}\" and "
                          "is now \"{} {}\". The kernel templates, the workloads or Kernwright "
                          "itself have changed since",
                          step, known.what, known.key, what, key),
              "start a new run: it begins with what this one found out", path_);
}

Result<Json> Journal::once(std::string_view what, std::string_view key,
                           const std::function<Result<Json>()>& live) {
  if (replaying()) {
    KW_TRY(Json result, match(effects_[next_], what, key, next_ + 1));
    ++next_;
    return result;
  }
  KW_TRY(Json result,
         next_ < answers_.size() ? match(answers_[next_], what, key, next_ + 1) : live());
  Effect effect{.what = std::string(what), .key = std::string(key), .result = dump_json(result)};
  KW_CHECK(append(effect));
  effects_.push_back(std::move(effect));
  next_ = effects_.size();
  return result;
}

} // namespace kw
