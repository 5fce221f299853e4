// SPDX-License-Identifier: Apache-2.0
#include "controller/known.hpp"

#include "controller/effect_result.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace kw {

KnownAttempt known_attempt(const Probe& probe) {
  return {.probe = probe.id,
          .solution_hash = probe.solution_hash,
          .regime = probe.regime,
          .hypothesis = probe.hypothesis,
          .estimate = probe.estimate,
          .finding = std::string(name(probe.verdict.finding)),
          .decision = probe.decision,
          .reason = probe.reason};
}

namespace {

Json to_json(const KnownAttempt& k) {
  Json one{{"probe", k.probe},           {"hash", k.solution_hash}, {"regime", k.regime},
           {"hypothesis", k.hypothesis}, {"finding", k.finding},    {"decision", k.decision},
           {"reason", k.reason}};
  if (k.estimate)
    one["estimate"] = *k.estimate;
  return one;
}

KnownDirection direction_in(const Json& line) {
  return {.signature = text_in(line, "signature"),
          .direction = text_in(line, "direction"),
          .rounds = static_cast<int>(number_in(line, "rounds").value_or(0)),
          .gains = static_cast<int>(number_in(line, "gains").value_or(0))};
}

void add(const KnownDirection& more, std::vector<KnownDirection>& into) {
  for (KnownDirection& d : into)
    if (d.signature == more.signature && d.direction == more.direction) {
      d.rounds += more.rounds, d.gains += more.gains;
      return;
    }
  into.push_back(more);
}

} // namespace

Json to_json(const Knowledge& known) {
  Json attempts = Json::array(), directions = Json::array();
  for (const KnownAttempt& k : known.attempts)
    attempts.push_back(to_json(k));
  for (const KnownDirection& d : known.directions)
    directions.push_back({{"signature", d.signature},
                          {"direction", d.direction},
                          {"rounds", d.rounds},
                          {"gains", d.gains}});
  return {{"attempts", std::move(attempts)}, {"directions", std::move(directions)}};
}

Result<Knowledge> knowledge_from_json(const Json& json) {
  const auto damaged = [] {
    return fail(ErrorKind::invalid_input, "The journal's list of earlier attempts is damaged",
                "start a new run");
  };
  if (!json.is_object() || !json.contains("attempts") || !json["attempts"].is_array() ||
      !json.contains("directions") || !json["directions"].is_array())
    return damaged();
  Knowledge out;
  for (const Json& one : json["attempts"]) {
    KnownAttempt k{.probe = text_in(one, "probe"),
                   .solution_hash = text_in(one, "hash"),
                   .regime = text_in(one, "regime"),
                   .hypothesis = text_in(one, "hypothesis"),
                   .estimate = number_in(one, "estimate"),
                   .finding = text_in(one, "finding"),
                   .decision = text_in(one, "decision"),
                   .reason = text_in(one, "reason")};
    if (k.probe.empty() || k.solution_hash.empty() || k.finding.empty())
      return damaged();
    out.attempts.push_back(std::move(k));
  }
  for (const Json& one : json["directions"]) {
    const KnownDirection d = direction_in(one);
    if (d.signature.empty() || d.direction.empty() || d.rounds < d.gains || d.gains < 0)
      return damaged();
    out.directions.push_back(d);
  }
  return out;
}

void learn_directions(std::string_view decisions, std::vector<KnownDirection>& into) {
  for (std::size_t at = 0; at < decisions.size();) {
    const std::size_t end = std::min(decisions.find('\n', at), decisions.size());
    const std::string_view line = decisions.substr(at, end - at);
    at = end + 1;
    if (line.find("\"account\"") == std::string_view::npos)
      continue;
    const Result<Json> json = parse_json({.file = "decisions", .text = line});
    if (!json || text_in(*json, "decision") != "account")
      continue;
    const KnownDirection d = direction_in(*json);
    if (!d.signature.empty() && !d.direction.empty() && d.gains >= 0 && d.rounds >= d.gains)
      add(d, into);
  }
}

Memory::Memory(Knowledge known)
    : known_(std::move(known.attempts)), directions_(std::move(known.directions)) {
  for (std::size_t i = 0; i < known_.size(); ++i)
    by_hash_.emplace(known_[i].solution_hash, i);
}

const KnownAttempt* Memory::rejected(const std::string& solution_hash,
                                     const std::string& regime) const {
  const KnownAttempt* newest = nullptr;
  const auto [first, last] = by_hash_.equal_range(solution_hash);
  for (auto i = first; i != last; ++i) {
    const KnownAttempt& k = known_[i->second];
    const bool same = k.finding != "NONE" || k.regime == regime;
    if (same && k.decision != "keep" && k.decision != "promote")
      newest = &k;
    else if (same)
      newest = nullptr; // kept later on: worth another look
  }
  return newest;
}

} // namespace kw
