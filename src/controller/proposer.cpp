// SPDX-License-Identifier: Apache-2.0
#include "controller/proposer.hpp"

#include "controller/effect_result.hpp"
#include "formats/definition_json.hpp"
#include "formats/solution_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kw {

Json to_json(const Proposals& proposals) {
  Json list = Json::array();
  for (const Proposal& p : proposals.proposals) {
    Json one{{"hypothesis", p.hypothesis},
             {"source", p.source},
             {"solution", Json::parse(encode_solution(p.solution))}};
    if (!p.commit.empty())
      one["commit"] = p.commit;
    if (!p.licence.empty())
      one["licence"] = p.licence;
    list.push_back(std::move(one));
  }
  return {{"proposals", std::move(list)},
          {"problems", proposals.problems},
          {"tokens", proposals.usage.tokens},
          {"cost_usd", proposals.usage.cost_usd}};
}

Result<Proposals> proposals_from_json(const Json& json) {
  const auto damaged = [] {
    return fail(ErrorKind::invalid_input, "A proposal in the journal is damaged",
                "start a new run, or remove the damaged line and all after it");
  };
  Proposals out;
  if (!json.is_object() || !json.contains("proposals") || !json["proposals"].is_array())
    return damaged();
  for (const Json& one : json["proposals"]) {
    if (!one.is_object() || !one.contains("solution"))
      return damaged();
    Issues issues;
    std::optional<Solution> solution =
        decode_solution(dump_json(one["solution"]), "journal", issues);
    if (!solution || has_errors(issues))
      return damaged();
    out.proposals.push_back({.solution = std::move(*solution),
                             .hypothesis = text_in(one, "hypothesis"),
                             .source = text_in(one, "source"),
                             .commit = text_in(one, "commit"),
                             .licence = text_in(one, "licence")});
  }
  if (json.contains("problems") && json["problems"].is_array())
    for (const Json& problem : json["problems"])
      if (problem.is_string())
        out.problems.push_back(problem.get<std::string>());
  out.usage = {.tokens = number_in(json, "tokens").value_or(0),
               .cost_usd = number_in(json, "cost_usd").value_or(0)};
  return out;
}

Json request_json(const ProposalRequest& request) {
  Json attempts = Json::array();
  for (const Attempt& a : request.attempts) {
    Json one{{"probe", a.probe},       {"proposer", a.proposer}, {"hypothesis", a.hypothesis},
             {"decision", a.decision}, {"reason", a.reason},     {"finding", a.finding}};
    if (a.speedup > 0)
      one["speedup"] = a.speedup;
    attempts.push_back(std::move(one));
  }
  return {{"schema", "kernwright.proposal_request/1"},
          {"definition", Json::parse(encode_definition(request.definition, SourceForm::inlined))},
          {"regime", {{"name", request.regime}, {"condition", request.condition}}},
          {"workload", request.axes},
          {"round", request.round},
          {"direction", {{"id", request.direction}, {"does", request.does}, {"why", request.why}}},
          {"state", {{"word", request.state}, {"headroom", request.headroom}}},
          {"champion",
           {{"speedup", request.champion_speedup},
            {"solution", Json::parse(encode_solution(request.champion))}}},
          {"attempts", std::move(attempts)},
          {"handoff", request.handoff},
          {"count", request.count},
          {"seconds_left", request.seconds_left}};
}

Result<ProposerSpec> parse_proposer(std::string_view text) {
  const std::size_t colon = text.find(':');
  ProposerSpec spec{.kind = std::string(text.substr(0, colon)),
                    .argument = colon == std::string_view::npos
                                    ? std::string{}
                                    : std::string(text.substr(colon + 1))};
  const bool plain = spec.kind == "tuner";
  const bool known =
      plain || spec.kind == "directory" || spec.kind == "command" || spec.kind == "replay";
  if (known && plain == spec.argument.empty() && (plain ? colon == std::string_view::npos : true))
    return spec;
  return fail(ErrorKind::invalid_input,
              known ? fmt::format("The proposer `{}` {}", text,
                                  plain ? "takes nothing" : "needs something after the colon")
                    : fmt::format("There is no proposer `{}`", spec.kind),
              "give tuner, directory:PATH, command:PROGRAM ARGUMENTS or replay:RUN");
}

} // namespace kw
