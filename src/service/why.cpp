// SPDX-License-Identifier: Apache-2.0
#include "service/why.hpp"

#include "archive/sqlite_archive.hpp"
#include "controller/direction.hpp"
#include "formats/verdict_json.hpp"
#include "service/history.hpp"

#include <cmath>
#include <fmt/format.h>
#include <map>
#include <sstream>

namespace kw {
namespace {

std::vector<std::pair<std::string, std::string>> settings(const std::string& text) {
  std::vector<std::pair<std::string, std::string>> out;
  std::istringstream words(text);
  for (std::string word; words >> word;)
    if (const std::size_t at = word.find('='); at != std::string::npos && at > 0)
      out.emplace_back(word.substr(0, at), word.substr(at + 1));
  return out;
}

} // namespace

std::vector<std::string> changed_parameters(const std::string& before, const std::string& after) {
  std::map<std::string, std::string> was;
  for (const auto& [name, value] : settings(before))
    was[name] = value;
  std::vector<std::string> out;
  for (const auto& [name, value] : settings(after)) {
    const auto old = was.find(name);
    if (old == was.end())
      out.push_back(fmt::format("{}: {}", name, value));
    else if (old->second != value)
      out.push_back(fmt::format("{}: {} -> {}", name, old->second, value));
  }
  return out;
}

Result<Why> why(const Workspace& workspace, const std::string& id) {
  KW_TRY(const std::unique_ptr<Archive> archive, open_sqlite_archive(workspace.state_dir));
  KW_TRY(const ArchivedProbe entry, find_entry(*archive, id));
  Why out;
  KW_TRY(out.probe, decode_probe(entry.json));
  if (!out.probe.parent.empty()) {
    if (const Result<ArchivedProbe> parent = archive->get_probe(out.probe.parent)) {
      out.against = parent->row.hypothesis.empty() ? parent->row.solution : parent->row.hypothesis;
      out.changed = changed_parameters(parent->row.hypothesis, out.probe.hypothesis);
    }
  }
  if (!out.probe.run.empty()) {
    KW_TRY(
        const std::vector<ProbeRow> rows,
        archive->list_probes({.definition = {}, .run = out.probe.run, .decision = {}, .limit = 0}));
    for (const ProbeRow& row : rows)
      if (row.parent == out.probe.id) {
        ++out.children;
        out.kept += row.decision == "keep" || row.decision == "promote" ? 1 : 0;
      }
  }
  return out;
}

std::vector<std::string> sentences(const Why& why) {
  const Probe& p = why.probe;
  std::vector<std::string> out;
  const bool fine = p.verdict.finding == Finding::none;
  const std::string label = p.decision == "keep"      ? "kept: it leads its regime from here on"
                            : p.decision == "promote" ? "promoted"
                            : p.decision == "archive" ? "archived only"
                            : p.decision.empty()      ? "not decided"
                                                      : "rejected";
  out.push_back(fmt::format("{}{}", label, p.reason.empty() ? "" : ": " + p.reason));
  if (!fine)
    out.push_back(fmt::format("finding {}", name(p.verdict.finding)));
  if (p.estimate)
    out.push_back(
        fmt::format("estimated {:.2f}x of the baseline{} (a screen of the search, no claim)",
                    std::exp(*p.estimate), p.regime.empty() ? "" : " where " + p.regime));
  out.push_back(fmt::format("proposed by {}{}", p.proposer.empty() ? "nobody named" : p.proposer,
                            p.hypothesis.empty() ? "" : ": " + p.hypothesis));
  if (const Direction* direction = find_direction(p.direction))
    out.push_back(fmt::format("direction {}: {}", direction->id, direction->does));
  if (!why.against.empty()) {
    std::string changes;
    for (const std::string& change : why.changed)
      changes += (changes.empty() ? "" : ", ") + change;
    out.push_back(fmt::format("compared with {}{}", why.against,
                              changes.empty() ? "" : "; it changes " + changes));
  } else if (!p.regime.empty()) {
    out.push_back("compared with the baseline: nothing led its regime yet");
  }
  if (p.decision == "keep")
    out.push_back(fmt::format("{} later attempt{} compared with it, {} of them kept", why.children,
                              why.children == 1 ? " was" : "s were", why.kept));
  return out;
}

} // namespace kw
