// SPDX-License-Identifier: Apache-2.0
#include "service/campaign.hpp"

#include "archive/sqlite_archive.hpp"
#include "base/json.hpp"
#include "base/strings.hpp"
#include "os/clock.hpp"
#include "os/files.hpp"
#include "service/campaign_rows.hpp"
#include "service/replay.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace kw {
namespace {

constexpr const char* schema = "kernwright.campaign/1";

/// Rows that are done, kept after each.
class Progress {
 public:
  static Result<Progress> open(std::string path, bool fresh) {
    Progress p(std::move(path));
    if (fresh || !is_file(p.path_))
      return p;
    KW_TRY(const std::string text, read_file(p.path_));
    KW_TRY(const Json json, parse_json({.file = p.path_, .text = text}));
    if (!json.is_object() || !json.contains("rows") || !json["rows"].is_array())
      return fail(ErrorKind::invalid_input, "The progress of the campaign is damaged",
                  "start it anew with --fresh", p.path_);
    for (const Json& one : json["rows"]) {
      KW_TRY(CampaignRow row, campaign_row_from_json(one));
      p.rows_.emplace(row.definition, std::move(row));
    }
    p.since_ = json.value("since", std::string{});
    return p;
  }

  [[nodiscard]] const CampaignRow* done(const std::string& definition) const {
    const auto found = rows_.find(definition);
    return found == rows_.end() ? nullptr : &found->second;
  }
  Status add(const CampaignRow& row) {
    rows_.insert_or_assign(row.definition, row);
    return save();
  }
  Status save() const {
    Json rows = Json::array();
    for (const auto& [definition, row] : rows_)
      rows.push_back(to_json(row));
    return write_file_atomic(path_, dump_json({{"since", since_}, {"rows", rows}}, 2) + "\n");
  }
  /// When the campaign began: a run that is older is none of its own.
  std::string since_;

 private:
  explicit Progress(std::string path) : path_(std::move(path)) {}
  std::string path_;
  std::map<std::string, CampaignRow> rows_;
};

/// A run of this campaign that was broken off; "" = none.
Result<std::string> unfinished(const Workspace& workspace, const std::string& definition,
                               const std::string& since) {
  KW_TRY(const std::unique_ptr<Archive> archive, open_sqlite_archive(workspace.state_dir));
  KW_TRY(const std::vector<Run> runs, archive->list_runs());
  for (auto run = runs.rbegin(); run != runs.rend(); ++run)
    if (run->definition == definition && run->started_at >= since)
      return run->state == "finished" ? std::string{} : run->id;
  return std::string{};
}

/// All trials once more on fresh inputs: one mismatch, and there is no headline.
Status replay_row(const Workspace& workspace, const CampaignRequest& request,
                  const Campaign& campaign, CampaignRow& row) {
  request.base.hooks.note(fmt::format("replaying {} with {} trials of every workload",
                                      row.definition, campaign.replay_trials));
  ReplayOptions options{.gate = {},
                        .trials = campaign.replay_trials,
                        .all_workloads = true,
                        .timing = false,
                        .fresh_seed = true,
                        .judging = request.base.judging};
  options.judging.workloads.clear();
  KW_TRY(const Replay replayed, replay(workspace, row.record, options));
  for (const WorkloadTrials& w : replayed.after.verdict.workloads)
    row.replayed += w.trials, row.replay_failures += w.failures;
  if (replayed.after.verdict.correctness.outcome != Outcome::pass) {
    row.state = "void";
    row.score = 0;
    row.reason = "the replay: " + replayed.after.verdict.correctness.summary;
  }
  return {};
}

Result<CampaignRow> run_one(const Workspace& workspace, const CampaignRequest& request,
                            const Campaign& campaign, const std::string& definition,
                            const std::string& since) {
  CampaignRow row;
  row.definition = definition;
  if (const Result<Task> task = find_task(workspace, definition); !task) {
    row.state = task.error().kind == ErrorKind::not_found ? "missing" : "failed";
    row.reason = task.error().message;
    return row;
  }
  OptimizeRequest one = request.base;
  KW_TRY(one.resume, unfinished(workspace, definition, since));
  if (one.resume.empty()) {
    one.definition = definition;
    one.options.race.objective = campaign.objective;
    one.options.final_gate = campaign.gate;
  }
  Result<OptimizeResult> result = run_optimize(workspace, one);
  if (!result) {
    row.state = result.error().kind == ErrorKind::interrupted ? "interrupted" : "failed";
    row.reason = result.error().message;
    return row;
  }
  row = campaign_row(*result);
  row.state = result->outcome.interrupted ? "interrupted"
              : result->outcome.record    ? "promoted"
                                          : "baseline stands";
  if (row.state == "promoted" && campaign.replay_trials > 0)
    KW_CHECK(replay_row(workspace, request, campaign, row));
  return row;
}

} // namespace

Result<Campaign> read_campaign(const std::string& path) {
  KW_TRY(const std::string text, read_file(path, 1 << 20));
  const JsonSource source{.file = path, .text = text};
  KW_TRY(const Json json, parse_json(source));
  std::vector<Error> errors;
  ObjectReader reader(json, source, "", errors);
  Campaign out;
  if (reader.string("schema") != schema && errors.empty())
    reader.error("schema", fmt::format("this is no \"{}\"", schema),
                 "docs/formats.md shows a campaign file");
  out.name = reader.string("name");
  out.description = reader.string_or("description", "");
  const std::string objective = reader.string_or("objective", "weighted");
  if (const auto known = objective_from_name(objective))
    out.objective = *known;
  else
    reader.error("objective", fmt::format("there is no objective \"{}\"", objective),
                 fmt::format("{}", fmt::join(objective_names(), ", ")));
  out.gate = reader.string_or("gate", out.gate);
  if (out.gate != "gate" && out.gate != "accept" && out.gate != "champion")
    reader.error("gate", fmt::format("there is no gate \"{}\" for a winner", out.gate),
                 "gate, accept or champion");
  out.replay_trials =
      static_cast<std::uint64_t>(std::max<std::int64_t>(0, reader.integer_or("replay_trials", 0)));
  std::set<std::string> seen;
  if (const Json* tracks = reader.object("tracks"); tracks != nullptr)
    for (const auto& [track, definitions] : tracks->items()) {
      ObjectReader in_track(*tracks, source, "/tracks", errors);
      for (const std::string& definition : in_track.strings_or_empty(track)) {
        if (!seen.insert(definition).second)
          reader.error("tracks", fmt::format("\"{}\" is named twice", definition),
                       "name every definition once");
        out.tracks.emplace_back(track, definition);
      }
    }
  if (!errors.empty())
    return fail(errors.front());
  if (out.tracks.empty())
    return fail(ErrorKind::invalid_input, "The campaign names no definition",
                "list them by track: {\"tracks\": {\"all\": [\"softmax_f32\"]}}", path);
  if (!is_identifier(out.name)) // it becomes a folder
    return fail(ErrorKind::invalid_input, fmt::format("\"{}\" is no name", out.name),
                "letters, digits and _", path);
  return out;
}

Result<CampaignResult> run_campaign(const Workspace& workspace, const CampaignRequest& request) {
  KW_TRY(const Campaign campaign, read_campaign(request.file));
  CampaignResult result;
  result.folder = join_path(workspace.state_dir, "campaigns/" + campaign.name);
  KW_CHECK(make_dirs(result.folder));
  KW_TRY(Progress progress,
         Progress::open(join_path(result.folder, "progress.json"), request.fresh));
  const SystemClock clock;
  if (progress.since_.empty())
    progress.since_ = clock.wall_iso8601();
  KW_CHECK(progress.save());
  CampaignReport& report = result.report;
  report.name = campaign.name, report.description = campaign.description;
  report.objective = std::string(described(campaign.objective));
  report.version = KW_VERSION, report.date = clock.wall_iso8601().substr(0, 10);
  report.command = "kernwright optimize --campaign " + base_name(request.file);
  const Environment here = describe_environment();
  report.machine = here.hardware;
  for (const auto& [track, definition] : campaign.tracks) {
    if (const CampaignRow* done = progress.done(definition)) {
      report.rows.push_back(*done);
      continue;
    }
    request.base.hooks.note(fmt::format("== {} ({} of {})", definition, report.rows.size() + 1,
                                        campaign.tracks.size()));
    KW_TRY(CampaignRow row, run_one(workspace, request, campaign, definition, progress.since_));
    row.track = track;
    result.interrupted = row.state == "interrupted" || request.base.hooks.stop();
    if (row.state == "promoted" || row.state == "baseline stands" || row.state == "void")
      KW_CHECK(progress.add(row));
    report.rows.push_back(std::move(row));
    KW_CHECK(write_file_atomic(join_path(result.folder, "results.md"), campaign_markdown(report)));
    if (result.interrupted)
      break;
  }
  KW_CHECK(write_file_atomic(join_path(result.folder, "results.md"), campaign_markdown(report)));
  return result;
}

} // namespace kw
