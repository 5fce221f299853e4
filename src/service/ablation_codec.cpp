// SPDX-License-Identifier: Apache-2.0
// Plan, run and race of an ablation as JSON. Format: docs/ablation.md.
#include "base/json.hpp"
#include "service/ablation_store.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kw {
namespace {

constexpr const char* plan_schema = "kernwright.ablation/1";
constexpr const char* run_schema = "kernwright.ablation-run/1";
constexpr const char* race_schema = "kernwright.ablation-race/1";

/// Parses one document and lets `read` take it in; the first thing wrong with it is the error.
template <class T, class Read>
Result<T> decode(std::string_view text, const std::string& file, const char* schema, Read read) {
  const JsonSource source{.file = file, .text = text};
  KW_TRY(const Json json, parse_json(source));
  T out;
  std::vector<Error> errors;
  const Json empty = Json::object();
  ObjectReader reader(json.is_object() ? json : empty, source, "", errors);
  if (reader.string_or("schema", "") != schema)
    return fail(ErrorKind::invalid_input, fmt::format("this is not of the schema \"{}\"", schema),
                "remove the file: what it held is done again", file);
  read(reader, source, errors, out);
  if (!errors.empty()) {
    errors.front().remedy = "remove the file: what it held is done again";
    return fail(errors.front());
  }
  return out;
}

/// Reads every object of an array member.
template <class Read>
void each(ObjectReader& reader, const char* key, const JsonSource& source,
          std::vector<Error>& errors, Read read) {
  const Json* all = reader.array(key);
  for (std::size_t i = 0; all != nullptr && i < all->size(); ++i) {
    if (!(*all)[i].is_object()) {
      reader.error(key, "an entry is no object");
      return;
    }
    ObjectReader one((*all)[i], source, fmt::format("/{}/{}", key, i), errors);
    read(one);
  }
}

int int_of(ObjectReader& reader, const char* key, int fallback, int least) {
  const std::int64_t value = reader.integer_or(key, fallback);
  if (value < least || value > 1'000'000'000)
    reader.error(key, "the number is out of range");
  return static_cast<int>(std::clamp<std::int64_t>(value, least, 1'000'000'000));
}

/// Positive numbers, else an error.
std::vector<double> positive(const Json& array, ObjectReader& reader, const char* key) {
  std::vector<double> out;
  for (const Json& value : array)
    if (value.is_number() && value.get<double>() > 0)
      out.push_back(value.get<double>());
    else
      reader.error(key, "a value is no positive number");
  return out;
}

} // namespace

std::string encode_ablation_plan(const AblationPlan& plan) {
  const AblationOptions& o = plan.options;
  Json out{{"schema", plan_schema},
           {"version", plan.version},
           {"started_at", plan.started_at},
           {"hardware", plan.hardware},
           {"compiler", plan.compiler},
           {"flags", plan.flags},
           {"arms", o.arms},
           {"seeds", o.seeds},
           {"evaluations", o.evaluations},
           {"sessions", o.sessions},
           {"references", o.references},
           {"longest_call_ms", o.longest_call_ms},
           {"least_window_ms", o.least_window_ms},
           {"wall_factor", o.limits.wall_factor},
           {"wall_seconds", o.limits.wall_seconds},
           {"tasks", Json::array()}};
  for (const AblationTask& t : plan.tasks) {
    Json workloads = Json::array();
    for (const AblationWorkload& w : t.workloads)
      workloads.push_back({{"uuid", w.uuid},
                           {"axes", w.axes},
                           {"regime", w.regime},
                           {"call_ns", w.call_ns},
                           {"medoid", w.medoid}});
    out["tasks"].push_back({{"definition", t.definition},
                            {"asked", t.asked},
                            {"sources", t.sources},
                            {"slot_seconds", t.slot_seconds},
                            {"workloads", std::move(workloads)},
                            {"left_out", t.left_out}});
  }
  return dump_json(out, 2) + "\n";
}

Result<AblationPlan> decode_ablation_plan(std::string_view text, const std::string& file) {
  return decode<AblationPlan>(
      text, file, plan_schema,
      [](ObjectReader& r, const JsonSource& source, std::vector<Error>& errors, AblationPlan& p) {
        p.version = r.string("version");
        p.started_at = r.string("started_at");
        p.hardware = r.string("hardware");
        p.compiler = r.string("compiler");
        p.flags = r.string("flags");
        AblationOptions& o = p.options;
        o.arms = r.strings_or_empty("arms");
        o.seeds = int_of(r, "seeds", o.seeds, 1);
        o.evaluations = int_of(r, "evaluations", o.evaluations, 1);
        o.sessions = int_of(r, "sessions", o.sessions, 1);
        o.references = r.strings_or_empty("references");
        o.longest_call_ms = r.number_or("longest_call_ms", o.longest_call_ms);
        o.least_window_ms = r.number_or("least_window_ms", o.least_window_ms);
        o.limits.wall_factor = r.number_or("wall_factor", o.limits.wall_factor);
        o.limits.wall_seconds = r.number_or("wall_seconds", o.limits.wall_seconds);
        each(r, "tasks", source, errors, [&](ObjectReader& one) {
          AblationTask& task = p.tasks.emplace_back();
          task.definition = one.string("definition");
          task.asked = one.string("asked");
          task.sources = one.string("sources");
          task.slot_seconds = one.number_or("slot_seconds", 0);
          task.left_out = one.strings_or_empty("left_out");
          each(one, "workloads", source, errors, [&](ObjectReader& w) {
            task.workloads.push_back({.uuid = w.string("uuid"),
                                      .axes = w.string_or("axes", ""),
                                      .regime = w.string_or("regime", ""),
                                      .call_ns = w.number_or("call_ns", 0),
                                      .medoid = w.boolean_or("medoid", true)});
          });
        });
        if (p.tasks.empty() || o.arms.empty())
          r.error("tasks", "a plan has definitions and arms");
      });
}

std::string encode_arm_run(const ArmRun& run) {
  return dump_json(Json{{"schema", run_schema},
                        {"arm", run.arm},
                        {"workloads", run.workloads},
                        {"evaluations", run.evaluations},
                        {"seconds", run.seconds},
                        {"build_seconds", run.build_seconds},
                        {"hash", run.hash},
                        {"champion", run.champion}},
                   2) +
         "\n";
}

Result<ArmRun> decode_arm_run(std::string_view text, const std::string& file) {
  return decode<ArmRun>(text, file, run_schema,
                        [](ObjectReader& r, const JsonSource&, std::vector<Error>&, ArmRun& run) {
                          run.arm = r.string("arm");
                          run.workloads = r.strings_or_empty("workloads");
                          run.evaluations = int_of(r, "evaluations", 0, 0);
                          run.seconds = r.number_or("seconds", 0);
                          run.build_seconds = r.number_or("build_seconds", 0);
                          run.hash = r.string_or("hash", "");
                          run.champion = r.string_or("champion", "");
                        });
}

std::string encode_champion_race(const ChampionRace& race) {
  Json entrants = Json::array();
  for (const ChampionRace::Entrant& e : race.entrants)
    entrants.push_back({{"hash", e.hash}, {"name", e.name}, {"fault", e.fault}});
  return dump_json(Json{{"schema", race_schema},
                        {"entrants", std::move(entrants)},
                        {"workloads", race.workloads},
                        {"weights", race.weights},
                        {"aa_sigma", race.aa_sigma},
                        {"discarded", race.discarded},
                        {"seconds", race.seconds},
                        {"rounds", race.rounds}}) +
         "\n";
}

Result<ChampionRace> decode_champion_race(std::string_view text, const std::string& file) {
  return decode<ChampionRace>(
      text, file, race_schema,
      [](ObjectReader& r, const JsonSource& source, std::vector<Error>& errors,
         ChampionRace& race) {
        std::size_t columns = 1;
        each(r, "entrants", source, errors, [&](ObjectReader& e) {
          race.entrants.push_back({.hash = e.string("hash"),
                                   .name = e.string_or("name", ""),
                                   .fault = e.string_or("fault", "")});
          columns += race.entrants.back().fault.empty() ? 1 : 0;
        });
        race.workloads = r.strings_or_empty("workloads");
        if (const Json* weights = r.array("weights"))
          race.weights = positive(*weights, r, "weights");
        race.aa_sigma = r.number_or("aa_sigma", 0);
        race.discarded = static_cast<std::uint64_t>(int_of(r, "discarded", 0, 0));
        race.seconds = r.number_or("seconds", 0);
        const Json* rounds = r.array("rounds");
        for (std::size_t i = 0; rounds != nullptr && i < rounds->size(); ++i) {
          std::vector<std::vector<double>>& round = race.rounds.emplace_back();
          for (const Json& times : (*rounds)[i])
            if (round.emplace_back(positive(times, r, "rounds")).size() != columns)
              r.error("rounds", "a round does not have a time for every contestant");
          if (round.size() != race.weights.size() || round.size() != race.workloads.size())
            r.error("rounds", "a round does not have times for every workload");
        }
      });
}

} // namespace kw
