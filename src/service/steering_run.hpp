// SPDX-License-Identifier: Apache-2.0
// `kernwright steer`: what a person says to a run, from another terminal.
#pragma once

#include "base/result.hpp"
#include "controller/steering.hpp"
#include "service/workspace.hpp"

#include <string>

namespace kw {

[[nodiscard]] std::string steering_path(const Workspace& workspace, const std::string& run);
/// Fills in the time. Errors: no such run, one that is finished, what check_steering refuses.
Status steer_run(const Workspace& workspace, const std::string& run, Steering steering);

} // namespace kw
