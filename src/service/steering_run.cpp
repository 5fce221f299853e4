// SPDX-License-Identifier: Apache-2.0
#include "service/steering_run.hpp"

#include "archive/sqlite_archive.hpp"
#include "os/clock.hpp"
#include "os/files.hpp"

#include <fmt/format.h>

namespace kw {

std::string steering_path(const Workspace& workspace, const std::string& run) {
  return join_path(workspace.state_dir, "runs/" + run + "/steering.jsonl");
}

Status steer_run(const Workspace& workspace, const std::string& run, Steering steering) {
  KW_TRY(const std::unique_ptr<Archive> archive, open_sqlite_archive(workspace.state_dir));
  KW_TRY(const Run stored, archive->get_run(run));
  if (stored.state == "finished")
    return fail(ErrorKind::refused, fmt::format("run {} is finished", run),
                "`kernwright archive list --runs` shows the runs");
  steering.at = SystemClock().wall_iso8601();
  return append_steering(steering_path(workspace, run), steering);
}

} // namespace kw
