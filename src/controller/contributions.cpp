// SPDX-License-Identifier: Apache-2.0
#include "controller/contributions.hpp"

#include <algorithm>

namespace kw {
namespace {

Contribution& row_of(std::vector<Contribution>& rows, const std::string& role,
                     const std::string& who) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Contribution& c) {
    return c.role == role && c.who == who;
  });
  if (found != rows.end())
    return *found;
  return rows.emplace_back(
      Contribution{.role = role, .who = who, .source = {}, .commit = {}, .licence = {}});
}

} // namespace

std::string role_of(const std::string& proposer) {
  if (proposer == "directory")
    return "human";
  return proposer == "command" ? "agent" : proposer;
}

std::vector<Contribution> contributions(const SearchContext& context,
                                        const std::vector<RegimeSearch>& searches) {
  std::vector<Contribution> rows;
  for (const ProbeEvent& event : context.events) {
    Contribution& row = row_of(rows, role_of(event.probe.proposer), event.probe.proposer);
    ++row.proposed;
    row.right += event.probe.verdict.correctness.outcome == Outcome::pass ? 1 : 0;
    row.kept += event.probe.decision == "keep" ? 1 : 0;
  }
  std::vector<std::string> sources; // of the kernels from outside in the winner
  for (const RegimeSearch& search : searches)
    if (const std::optional<Winner> winner = search.winner()) {
      row_of(rows, role_of(winner->proposer), winner->proposer).in_winner = true;
      if (winner->proposal)
        sources.push_back(winner->proposal->source);
    }
  for (const Contribution& reference : context.references) {
    rows.push_back(reference);
    rows.back().in_winner =
        std::find(sources.begin(), sources.end(), reference.source) != sources.end();
  }
  for (const Steering& s : context.steering)
    row_of(rows, "human", s.by).minutes += s.minutes;
  return rows;
}

} // namespace kw
