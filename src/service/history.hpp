// SPDX-License-Identifier: Apache-2.0
// Reading the archive: lists, one entry, the audit, a full copy.
#pragma once

#include "archive/archive.hpp"
#include "base/result.hpp"
#include "service/workspace.hpp"

#include <string>
#include <vector>

namespace kw {

struct ArchiveListing {
  std::vector<ProbeRow> probes;
  std::vector<Record> records;
};

Result<ArchiveListing> read_history(const Workspace& workspace, const ProbeFilter& filter);
/// Runs of `optimize`, of one definition or ("") of all.
Result<std::vector<Run>> read_runs(const Workspace& workspace, const std::string& definition);
/// A probe (or the probe of a record) for people, or its stored JSON.
Result<std::string> show_entry(const Workspace& workspace, const std::string& id, bool json,
                               bool coloured);
Result<ChainReport> audit(const Workspace& workspace);
Status export_archive(const Workspace& workspace, const std::string& folder);
/// A stored probe by its own id or that of a record that names it.
Result<ArchivedProbe> find_entry(Archive& archive, const std::string& id);

} // namespace kw
