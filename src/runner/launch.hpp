// SPDX-License-Identifier: Apache-2.0
// Starting arms (inside this folder only).
#pragma once

#include "runner/session_core.hpp"

namespace kw {

/// Candidates through the zygote, trusted kinds directly. Fills `report`.
Result<Arm> launch_arm(const std::shared_ptr<SessionCore>& core, const ArmSpec& spec,
                       LoadReport& report);

/// Calls an arm whose only entry is the runner's empty function: what the doorbell itself costs.
Result<Calibration> calibrate_doorbell(const std::shared_ptr<SessionCore>& core);

/// How a process ended, in the terms of a report; `message` is what the arm said while loading.
void describe_end(const Arm::State& arm, int signal, int exit_code, bool killed, CallEnd& end,
                  int& report_signal, std::string& detail);

/// Source text of the Python side of the protocol.
[[nodiscard]] std::string python_peer_source();

} // namespace kw
