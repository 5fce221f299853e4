// SPDX-License-Identifier: Apache-2.0
#include "face/cli/command.hpp"
#include "report/escape.hpp"
#include "service/history.hpp"
#include "service/why.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace kw::cli {
namespace {

using nlohmann::ordered_json;

ordered_json to_json(const ProbeRow& row) {
  return {{"id", row.id},
          {"definition", row.definition},
          {"solution", row.solution},
          {"word", row.word},
          {"finding", row.finding},
          {"decision", row.decision},
          {"reason", row.reason},
          {"speedup", row.speedup},
          {"low", row.low},
          {"high", row.high},
          {"hypothesis", row.hypothesis},
          {"run", row.run},
          {"started_at", row.started_at}};
}

/// Names and reasons hold text of candidates: for a terminal, on one line.
std::string one_line(std::string_view text) {
  std::string out = terminal_text(text);
  std::replace(out.begin(), out.end(), '\n', ' ');
  return out;
}

int list(const Context& context, const ProbeFilter& filter, bool records_only) {
  const Result<Workspace> workspace = open_workspace(context.workspace);
  if (!workspace)
    return report_error(context, workspace.error());
  const Result<ArchiveListing> history = read_history(*workspace, filter);
  if (!history)
    return report_error(context, history.error());
  if (context.json) {
    ordered_json out{{"records", ordered_json::array()}, {"probes", ordered_json::array()}};
    for (const Record& r : history->records)
      out["records"].push_back({{"id", r.id},
                                {"previous", r.previous},
                                {"probe", r.probe},
                                {"definition", r.definition},
                                {"solution", r.solution_name},
                                {"speedup", r.speedup},
                                {"low", r.low},
                                {"high", r.high},
                                {"baseline", r.baseline},
                                {"sealed_at", r.sealed_at}});
    if (!records_only)
      for (const ProbeRow& row : history->probes)
        out["probes"].push_back(to_json(row));
    fmt::print("{}\n", out.dump(2, ' ', false, ordered_json::error_handler_t::replace));
    return holds;
  }
  if (!records_only && !history->probes.empty()) {
    fmt::print("{:<12}  {:<10}  {:<16}  {:<30}  {:<30}  {}\n", "probe", "word", "finding",
               "definition", "solution", "reason");
    for (const ProbeRow& p : history->probes)
      fmt::print("{:<12}  {:<10}  {:<16}  {:<30.30}  {:<30.30}  {:.90}\n", p.id.substr(0, 12),
                 p.word, p.finding, one_line(p.definition), one_line(p.solution),
                 one_line(p.reason));
    fmt::print("\n");
  }
  fmt::print("{} record(s){}\n", history->records.size(),
             records_only ? "" : fmt::format(", {} probe(s)", history->probes.size()));
  for (const Record& r : history->records)
    fmt::print("{:<12}  {:.2f}x [{:.2f}, {:.2f}] vs {}  {}  {}  {}\n", r.id.substr(0, 12),
               r.speedup, r.low, r.high, one_line(r.baseline), one_line(r.definition),
               one_line(r.solution_name), r.sealed_at);
  return holds;
}

int list_runs(const Context& context, const ProbeFilter& filter) {
  const Result<Workspace> workspace = open_workspace(context.workspace);
  if (!workspace)
    return report_error(context, workspace.error());
  const Result<std::vector<Run>> runs = read_runs(*workspace, filter.definition);
  if (!runs)
    return report_error(context, runs.error());
  if (context.json) {
    ordered_json out{{"runs", ordered_json::array()}};
    for (const Run& r : *runs)
      out["runs"].push_back({{"id", r.id},
                             {"definition", r.definition},
                             {"state", r.state},
                             {"started_at", r.started_at},
                             {"finished_at", r.finished_at},
                             {"champion", r.champion}});
    fmt::print("{}\n", out.dump(2, ' ', false, ordered_json::error_handler_t::replace));
    return holds;
  }
  fmt::print("{} run(s)\n", runs->size());
  for (const Run& r : *runs)
    fmt::print("{:<6}  {:<12}  {:<30}  {}{}\n", r.id, r.state, one_line(r.definition), r.started_at,
               r.champion.empty() ? "" : fmt::format("  probe {:.12}", r.champion));
  return holds;
}

int show(const Context& context, const std::string& id) {
  const Result<Workspace> workspace = open_workspace(context.workspace);
  if (!workspace)
    return report_error(context, workspace.error());
  const Result<std::string> text = show_entry(*workspace, id, context.json, coloured());
  if (!text)
    return report_error(context, text.error());
  fmt::print("{}\n", *text);
  return holds;
}

int explain(const Context& context, const std::string& id) {
  const Result<Workspace> workspace = open_workspace(context.workspace);
  if (!workspace)
    return report_error(context, workspace.error());
  const Result<Why> found = why(*workspace, id);
  if (!found)
    return report_error(context, found.error());
  const Probe& p = found->probe;
  if (context.json) {
    ordered_json out{{"probe", p.id},
                     {"decision", p.decision},
                     {"reason", p.reason},
                     {"finding", name(p.verdict.finding)},
                     {"run", p.run},
                     {"regime", p.regime},
                     {"proposer", p.proposer},
                     {"direction", p.direction},
                     {"hypothesis", p.hypothesis},
                     {"parent", p.parent},
                     {"against", found->against},
                     {"changed", found->changed},
                     {"children", found->children},
                     {"children_kept", found->kept}};
    if (p.estimate)
      out["estimate"] = *p.estimate;
    fmt::print("{}\n", out.dump(2, ' ', false, ordered_json::error_handler_t::replace));
    return holds;
  }
  fmt::print("{:.12}  {}\n", p.id, one_line(p.solution.name));
  for (const std::string& sentence : sentences(*found))
    fmt::print("  {}\n", one_line(sentence));
  return holds;
}

int verify(const Context& context) {
  const Result<Workspace> workspace = open_workspace(context.workspace);
  if (!workspace)
    return report_error(context, workspace.error());
  const Result<ChainReport> chain = audit(*workspace);
  if (!chain)
    return report_error(context, chain.error());
  if (context.json) {
    ordered_json out{{"intact", chain->intact()},
                     {"probes", chain->probes},
                     {"records", chain->records},
                     {"blobs", chain->blobs},
                     {"head", chain->head}};
    if (chain->broken)
      out["broken"] = {{"what", chain->broken->what},
                       {"id", chain->broken->id},
                       {"message", chain->broken->message}};
    fmt::print("{}\n", out.dump(2));
  } else if (chain->intact()) {
    fmt::print("intact: {} probes, {} records, {} blobs\nhead {}\n", chain->probes, chain->records,
               chain->blobs, chain->head.empty() ? "(no record yet)" : chain->head);
  } else {
    fmt::print("BROKEN at {} {}: {}\n", chain->broken->what, chain->broken->id,
               chain->broken->message);
  }
  return chain->intact() ? holds : does_not_hold;
}

int export_all(const Context& context, const std::string& folder) {
  const Result<Workspace> workspace = open_workspace(context.workspace);
  if (!workspace)
    return report_error(context, workspace.error());
  if (const Status done = export_archive(*workspace, folder); !done)
    return report_error(context, done.error());
  context.json ? fmt::print("{}\n", ordered_json{{"folder", folder}}.dump(2))
               : fmt::print("wrote {}\n", folder);
  return holds;
}

} // namespace

void add_archive(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("archive", "look at every attempt, kept or failed");
  command->require_subcommand(1);
  auto filter = std::make_shared<ProbeFilter>();
  filter->limit = 40;
  auto id = std::make_shared<std::string>();
  auto records_only = std::make_shared<bool>(false);

  CLI::App* list_command = command->add_subcommand("list", "records and the newest probes");
  list_command->add_option("-d,--definition", filter->definition, "only this definition");
  list_command->add_option("--run", filter->run, "only this run");
  list_command->add_option("--decision", filter->decision, "keep | reject | promote | archive")
      ->check(CLI::IsMember({"keep", "reject", "promote", "archive"}));
  list_command->add_option("--limit", filter->limit, "newest N probes, 0 = all")
      ->check(CLI::Range(0, 1'000'000'000))
      ->capture_default_str();
  CLI::Option* records = list_command->add_flag("--records", *records_only, "promotions only");
  auto runs_only = std::make_shared<bool>(false);
  list_command
      ->add_flag("--runs", *runs_only,
                 "runs of `optimize` only: their ids are for --resume and --run")
      ->excludes(records);
  list_command->callback([&context, filter, records_only, runs_only] {
    context.run = [&context, filter, records_only, runs_only] {
      return *runs_only ? list_runs(context, *filter) : list(context, *filter, *records_only);
    };
  });

  CLI::App* show_command =
      command->add_subcommand("show", "one probe or record with its verdict and source");
  show_command->add_option("id", *id, "probe or record id, or a unique prefix")->required();
  show_command->callback(
      [&context, id] { context.run = [&context, id] { return show(context, *id); }; });

  CLI::App* why_command = command->add_subcommand(
      "why", "why a probe was kept or rejected, and what it changed against what");
  why_command->add_option("id", *id, "probe or record id, or a unique prefix")->required();
  why_command->callback(
      [&context, id] { context.run = [&context, id] { return explain(context, *id); }; });

  CLI::App* verify_command =
      command->add_subcommand("verify", "re-hash everything and follow the chain");
  verify_command->callback([&context] { context.run = [&context] { return verify(context); }; });

  CLI::App* export_command =
      command->add_subcommand("export", "copy the whole archive into an empty folder");
  export_command->add_option("folder", *id, "where to")->required();
  export_command->callback(
      [&context, id] { context.run = [&context, id] { return export_all(context, *id); }; });
}

} // namespace kw::cli
