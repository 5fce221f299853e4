// SPDX-License-Identifier: Apache-2.0
#include "controller/known.hpp"

#include "controller/effect_result.hpp"

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
  for (const Json& one : json) {
    KnownAttempt k{.probe = text_in(one, "probe"),
                   .solution_hash = text_in(one, "hash"),
                   .regime = text_in(one, "regime"),
                   .hypothesis = text_in(one, "hypothesis"),
                   .estimate = number_in(one, "estimate"),
                   .finding = text_in(one, "finding"),
                   .decision = text_in(one, "decision"),
                   .reason = text_in(one, "reason")};
    if (k.probe.empty() || k.solution_hash.empty() || k.finding.empty())
      return fail(ErrorKind::invalid_input, "The journal's list of earlier attempts is damaged",
                  "start a new run");
    out.push_back(std::move(k));
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
