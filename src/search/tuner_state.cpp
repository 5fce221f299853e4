// SPDX-License-Identifier: Apache-2.0
// A tuner is stored as its options and its journal of asks and tells. Replaying them makes the same
// random draws and the same moves, so nothing of a strategy's inside needs a format.
#include "base/json.hpp"
#include "search/tuner.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kw {
namespace {
constexpr std::string_view state_schema = "kernwright.tuner/1";

Result<Focus> parse_focus(const SpaceSet& set, const std::string& around,
                          const std::vector<std::string>& freed) {
  Focus focus;
  KW_TRY(focus.anchor, set.parse(around));
  const std::vector<Parameter>& parameters = set.spaces()[focus.anchor.space].parameters;
  for (std::size_t p = 0; p < parameters.size(); ++p)
    if (std::find(freed.begin(), freed.end(), parameters[p].name) != freed.end())
      focus.freed.push_back(p);
  return focus;
}
} // namespace

std::string Tuner::state() const {
  const SpaceSet& set = history_.set;
  Json prior = Json::array(), journal = Json::array();
  for (const Prior& p : options_.prior)
    if (set.legal(p.config) && std::isfinite(p.cost))
      prior.push_back({{"config", set.text(p.config)}, {"cost", p.cost}});
  for (const Event& event : journal_) {
    Json entry;
    if (!event.observation) {
      entry["ask"] = set.text(event.config);
      if (event.focus) {
        entry["around"] = set.text(event.focus->anchor);
        Json& freed = entry["freed"] = Json::array();
        for (const std::size_t p : event.focus->freed)
          freed.push_back(set.spaces()[event.focus->anchor.space].parameters[p].name);
      }
    } else {
      entry["tell"] = set.text(event.config);
      entry["valid"] = event.observation->valid;
      if (event.observation->cost && std::isfinite(*event.observation->cost))
        entry["cost"] = *event.observation->cost;
    }
    journal.push_back(std::move(entry));
  }
  // The seed as text: JSON readers elsewhere round 64-bit numbers.
  const Json document = {{"schema", state_schema},
                         {"algorithm", name(options_.algorithm)},
                         {"seed", std::to_string(options_.seed)},
                         {"prior", std::move(prior)},
                         {"journal", std::move(journal)}};
  return document.dump();
}

Result<Tuner> Tuner::resume(const SpaceSet& set, std::string_view state) {
  const std::string remedy = "start a new run; its results can be given as priors";
  const auto damaged = [&](std::string message) {
    return fail(ErrorKind::invalid_input, std::move(message), remedy, "tuner state");
  };
  const JsonSource source{"tuner state", state};
  KW_TRY(const Json document, parse_json(source));
  if (!document.is_object())
    return damaged("The stored state of the tuner is not a JSON object");
  std::vector<Error> errors;
  ObjectReader reader(document, source, "", errors);
  if (const std::string schema = reader.string("schema"); schema != state_schema)
    return damaged(fmt::format("The stored state has the schema \"{}\" instead of \"{}\"", schema,
                               state_schema));
  TunerOptions options;
  const std::string algorithm = reader.string("algorithm");
  const std::string seed = reader.string("seed");
  const Json* prior = reader.array("prior");
  const Json* journal = reader.array("journal");
  if (!errors.empty())
    return fail(errors.front());
  if (const auto known = algorithm_from_name(algorithm))
    options.algorithm = *known;
  else
    return damaged(fmt::format("There is no tuning algorithm \"{}\"", algorithm));
  if (seed.empty() || seed.size() > 20 || seed.find_first_not_of("0123456789") != std::string::npos)
    return damaged(fmt::format("\"{}\" is no seed", seed));
  for (const char digit : seed)
    options.seed = options.seed * 10 + static_cast<std::uint64_t>(digit - '0');

  for (std::size_t i = 0; i < prior->size(); ++i) {
    if (!(*prior)[i].is_object())
      return damaged("A prior in the stored state is not an object");
    ObjectReader entry((*prior)[i], source, fmt::format("/prior/{}", i), errors);
    const std::string text = entry.string("config");
    const double cost = entry.number_or("cost", 0);
    if (!errors.empty())
      return fail(errors.front());
    KW_TRY(Config config, set.parse(text));
    options.prior.push_back({std::move(config), cost});
  }
  Tuner tuner(set, std::move(options));
  for (std::size_t i = 0; i < journal->size(); ++i) {
    if (!(*journal)[i].is_object())
      return damaged("An entry of the stored journal is not an object");
    ObjectReader entry((*journal)[i], source, fmt::format("/journal/{}", i), errors);
    const std::string ask = entry.string_or("ask", ""), tell = entry.string_or("tell", "");
    const std::string around = entry.string_or("around", "");
    const std::vector<std::string> freed = entry.strings_or_empty("freed");
    Observation observation;
    observation.valid = entry.boolean_or("valid", false);
    if (const double cost = entry.number_or("cost", std::nan("")); std::isfinite(cost))
      observation.cost = cost;
    if (!errors.empty())
      return fail(errors.front());
    KW_TRY(const Config config, set.parse(ask.empty() ? tell : ask));
    if (!ask.empty()) {
      std::optional<Focus> focus;
      if (!around.empty()) {
        KW_TRY(focus, parse_focus(set, around, freed));
      }
      if ((focus ? tuner.ask(*focus) : tuner.ask()) != config)
        return damaged(fmt::format("Replaying the stored run proposes another configuration than "
                                   "\"{}\" at step {}: the spaces or the tuner have changed",
                                   ask, i));
    } else {
      tuner.tell(config, observation);
    }
  }
  return tuner;
}

} // namespace kw
