// SPDX-License-Identifier: Apache-2.0
#include "controller/known.hpp"

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

Json to_json(const std::vector<KnownAttempt>& known) {
  Json out = Json::array();
  for (const KnownAttempt& k : known) {
    Json one{{"probe", k.probe},           {"hash", k.solution_hash}, {"regime", k.regime},
             {"hypothesis", k.hypothesis}, {"finding", k.finding},    {"decision", k.decision},
             {"reason", k.reason}};
    if (k.estimate)
      one["estimate"] = *k.estimate;
    out.push_back(std::move(one));
  }
  return out;
}

Result<std::vector<KnownAttempt>> known_from_json(const Json& json) {
  std::vector<KnownAttempt> out;
  try {
    for (const Json& one : json) {
      KnownAttempt k{.probe = one.at("probe").get<std::string>(),
                     .solution_hash = one.at("hash").get<std::string>(),
                     .regime = one.at("regime").get<std::string>(),
                     .hypothesis = one.at("hypothesis").get<std::string>(),
                     .estimate = {},
                     .finding = one.at("finding").get<std::string>(),
                     .decision = one.at("decision").get<std::string>(),
                     .reason = one.at("reason").get<std::string>()};
      if (one.contains("estimate"))
        k.estimate = one.at("estimate").get<double>();
      out.push_back(std::move(k));
    }
  } catch (const Json::exception& e) {
    return fail(ErrorKind::invalid_input,
                std::string("The journal's list of earlier attempts is damaged: ") + e.what(),
                "start a new run");
  }
  return out;
}

Memory::Memory(std::vector<KnownAttempt> known) : known_(std::move(known)) {
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
