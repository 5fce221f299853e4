// SPDX-License-Identifier: Apache-2.0
#include "service/proposing.hpp"

#include "controller/command_proposer.hpp"
#include "controller/directory_proposer.hpp"
#include "controller/list_proposer.hpp"
#include "controller/solution_folder.hpp"
#include "formats/verdict_json.hpp"
#include "os/files.hpp"
#include "os/interrupt.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace kw {
namespace {

/// One kernel is tried once, whoever else has it too.
class References {
 public:
  void add(Solution solution, std::string source, std::string commit = {}) {
    if (!seen_.insert(source_identity(solution)).second)
      return;
    Proposal proposal{
        .solution = std::move(solution), .source = std::move(source), .commit = std::move(commit)};
    proposal.hypothesis = proposal.solution.name;
    proposal.licence = stated_licence(proposal.solution);
    list_.push_back({.regime = {}, .proposal = std::move(proposal)});
  }
  [[nodiscard]] std::vector<ListedProposal> list() const { return list_; }

 private:
  std::set<std::string> seen_;
  std::vector<ListedProposal> list_;
};

/// "PATH@COMMIT": the commit is what the user states, nothing is looked up.
Status add_named(References& references, const std::string& named, const std::string& definition) {
  const bool whole = is_file(named) || is_dir(named); // a path may have an @ of its own
  const std::size_t at = whole ? std::string::npos : named.rfind('@');
  const std::string path = named.substr(0, at);
  KW_TRY(Solution solution, load_solution(path, definition, ""));
  if (solution.definition != definition)
    return fail(ErrorKind::invalid_input,
                fmt::format("the reference is a solution of {}, not of {}", solution.definition,
                            definition),
                "name a kernel for this definition", path);
  references.add(std::move(solution), path, at == std::string::npos ? "" : named.substr(at + 1));
  return {};
}

Result<std::vector<ListedProposal>> references_of(const ProposingContext& context) {
  const std::string& definition = context.task.definition.name;
  References references;
  for (const std::string& named : context.options.references)
    KW_CHECK(add_named(references, named, definition));
  for (const Solution& solution : context.task.solutions)
    references.add(solution, solution.file);
  KW_TRY(const std::vector<SealedRecord> records, context.archive.records());
  for (auto sealed = records.rbegin(); sealed != records.rend(); ++sealed) {
    if (sealed->record.definition != definition)
      continue;
    KW_TRY(const ArchivedProbe stored, context.archive.get_probe(sealed->record.probe));
    if (stored.row.run == context.run)
      continue; // a resumed run
    KW_TRY(Probe probe, decode_probe(stored.json));
    references.add(std::move(probe.solution), "record " + sealed->record.id);
  }
  return references.list();
}

/// The candidates of another run in their order, without its final judgement.
Result<std::unique_ptr<Proposer>> open_replay(const ProposingContext& context,
                                              const std::string& of) {
  KW_TRY(const Run run, context.archive.get_run(of));
  if (run.definition != context.task.definition.name)
    return fail(
        ErrorKind::invalid_input,
        fmt::format("run {} searched {}, not {}", of, run.definition, context.task.definition.name),
        "`kernwright archive list` shows the runs");
  KW_TRY(const std::vector<ProbeRow> rows, context.archive.list_probes({.run = of}));
  std::vector<ListedProposal> list;
  for (const ProbeRow& row : rows) {
    KW_TRY(const ArchivedProbe stored, context.archive.get_probe(row.id));
    KW_TRY(Probe probe, decode_probe(stored.json));
    if (!probe.regime.empty())
      list.push_back({.regime = probe.regime,
                      .proposal = {.solution = std::move(probe.solution),
                                   .hypothesis = probe.hypothesis,
                                   .source = "probe " + row.id}});
  }
  return make_list_proposer("replay", of, std::move(list));
}

Result<std::unique_ptr<Proposer>> open_one(const ProposingContext& context,
                                           const ProposerSpec& spec) {
  if (spec.kind == "directory")
    return make_directory_proposer(spec.argument, context.stop);
  if (spec.kind == "replay")
    return open_replay(context, spec.argument);
  return make_command_proposer({.command = spec.argument,
                                .folder = context.folder,
                                .most_seconds = context.options.proposer_seconds,
                                .cancel = &interrupt_flag()});
}

} // namespace

std::string stated_licence(const Solution& solution) {
  constexpr std::string_view tag = "SPDX-License-Identifier:";
  for (const SourceFile& source : solution.sources) {
    const std::size_t at = source.content.find(tag);
    if (at == std::string::npos)
      continue;
    const std::size_t from = source.content.find_first_not_of(" \t", at + tag.size());
    if (from == std::string::npos)
      continue;
    // An expression such as "MIT OR Apache-2.0" is one licence statement.
    std::string_view line = std::string_view(source.content).substr(from, 128);
    line = line.substr(0, line.find_first_of("\r\n"));
    line = line.substr(0, line.find("*/"));
    line = line.substr(0, line.find_last_not_of(" \t") + 1);
    if (!line.empty())
      return std::string(line);
  }
  return {};
}

Result<std::vector<std::shared_ptr<Proposer>>> open_proposers(const ProposingContext& context) {
  std::vector<std::shared_ptr<Proposer>> out;
  if (context.options.parts.references) {
    KW_TRY(std::vector<ListedProposal> list, references_of(context));
    // Also an empty list is asked: with the journal of another run that run's answer counts.
    out.push_back(make_list_proposer("reference", "reference kernels", std::move(list)));
  }
  std::set<std::string> kinds;
  for (const std::string& text : context.options.proposers) {
    KW_TRY(const ProposerSpec spec, parse_proposer(text));
    if (!kinds.insert(spec.kind).second)
      return fail(ErrorKind::unsupported,
                  fmt::format("There are two proposers of the kind `{}`", spec.kind),
                  "give one; a command may well ask several programs in turn");
    if (spec.kind == "tuner") {
      out.emplace_back();
      continue;
    }
    KW_TRY(std::unique_ptr<Proposer> proposer, open_one(context, spec));
    out.push_back(std::move(proposer));
  }
  if (kinds.empty())
    out.emplace_back();
  return out;
}

} // namespace kw
