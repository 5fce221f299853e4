// SPDX-License-Identifier: Apache-2.0
// Writing the FlashInfer-Bench layout, strictly: whatever stands there loads in every tool of that
// ecosystem. What their schema has no place for goes into sidecar/, next to the traces.
#pragma once

#include "base/result.hpp"
#include "model/probe.hpp"
#include "model/trace.hpp"

#include <string>
#include <vector>

namespace kw {

/// The legal status of a verdict for one workload: PASSED for a correct candidate that was timed on
/// it; our richer findings map to the nearest legal word and name themselves in the log.
/// Errors: refused, when the verdict is no statement about the candidate (infrastructure failure,
/// or correct but never timed on this workload, which the format cannot say).
Result<Trace> to_trace(const Probe& probe, const Definition& definition, const Workload& workload);

/// Writes definitions (sources inlined), workloads, solutions and traces below `folder`, made if
/// absent. Files are replaced atomically; traces are appended, a line that is there is not written
/// twice. Safetensors inputs are copied from set.root. Checks every record before the first write.
/// Errors: a record breaks a rule of the format, a name is no file name, a blob is missing.
Status export_trace_set(const TraceSet& set, const std::string& folder);

/// Appends the whole probe (verdict included, "kernwright.probe/1") to
/// folder/sidecar/<author>/<op_type>/<definition>.jsonl.
Status append_sidecar(const Probe& probe, const Definition& definition, const std::string& folder);

} // namespace kw
