// SPDX-License-Identifier: Apache-2.0
#include "service/history.hpp"

#include "archive/sqlite_archive.hpp"
#include "formats/verdict_json.hpp"
#include "report/escape.hpp"
#include "report/verdict_text.hpp"

#include <fmt/format.h>

namespace kw {
namespace {

Result<std::unique_ptr<Archive>> open_for_reading(const Workspace& workspace) {
  return open_sqlite_archive(workspace.state_dir, {.read_only = true});
}

} // namespace

Result<ArchiveListing> read_history(const Workspace& workspace, const ProbeFilter& filter) {
  KW_TRY(const std::unique_ptr<Archive> archive, open_for_reading(workspace));
  ArchiveListing out;
  KW_TRY(out.probes, archive->list_probes(filter));
  KW_TRY(const std::vector<SealedRecord> sealed, archive->records());
  for (const SealedRecord& s : sealed)
    if (filter.definition.empty() || s.record.definition == filter.definition)
      out.records.push_back(s.record);
  return out;
}

Result<std::vector<Run>> read_runs(const Workspace& workspace, const std::string& definition) {
  KW_TRY(const std::unique_ptr<Archive> archive, open_for_reading(workspace));
  KW_TRY(std::vector<Run> runs, archive->list_runs());
  std::erase_if(runs,
                [&](const Run& r) { return !definition.empty() && r.definition != definition; });
  return runs;
}

Result<ArchivedProbe> find_entry(Archive& archive, const std::string& id) {
  if (const Result<Record> record = archive.find_record(id))
    return archive.get_probe(record->probe);
  return archive.get_probe(id);
}

Result<std::string> show_entry(const Workspace& workspace, const std::string& id, bool json,
                               bool coloured) {
  KW_TRY(const std::unique_ptr<Archive> archive, open_for_reading(workspace));
  KW_TRY(const ArchivedProbe found, find_entry(*archive, id));
  if (json)
    return found.json;
  KW_TRY(const Probe probe, decode_probe(found.json));
  std::string out = render_verdict(
      probe.verdict, VerdictView{.name = probe.solution.name,
                                 .next_command = "kernwright replay " + probe.id.substr(0, 12),
                                 .colour = coloured});
  std::string facts =
      fmt::format("\nprobe       {}\ndefinition  {}\nproposer    {}  {}\ndecision    {}: "
                  "{}\nseed        {} (committed as {:.16})\n"
                  "machine     {}; {}\nstarted     {}, {:.0f} ms\n",
                  probe.id, probe.definition, probe.proposer, probe.hypothesis, probe.decision,
                  probe.reason, probe.seed, probe.seed_commitment, probe.environment.hardware,
                  probe.environment.compiler, probe.started_at, probe.wall_ms);
  for (const SourceFile& source : probe.solution.sources)
    facts += fmt::format("\n--- {}\n{}", source.path, source.content);
  return out + terminal_text(facts); // names, reasons and sources are the candidate's text
}

Result<ChainReport> audit(const Workspace& workspace) {
  KW_TRY(const std::unique_ptr<Archive> archive, open_for_reading(workspace));
  return archive->verify_chain();
}

Status export_archive(const Workspace& workspace, const std::string& folder) {
  KW_TRY(const std::unique_ptr<Archive> from, open_for_reading(workspace));
  KW_TRY(const std::unique_ptr<Archive> to, open_sqlite_archive(folder));
  return copy_archive(*from, *to);
}

} // namespace kw
