// SPDX-License-Identifier: Apache-2.0
// What an ablation tries a definition on: the medoid of each regime, unless it takes too long.
#pragma once

#include "service/ablation.hpp"
#include "service/judging.hpp"

#include <string>

namespace kw {

/// Hash of everything of a task that decides what a search finds: definition, templates, baseline.
Result<std::string> ablation_sources(const Definition& definition);

/// Errors: no such definition, no templates.
Result<Task> find_ablation_task(const Workspace& workspace, const std::string& asked);

/// Times the baseline, so it wants the timing lease. Errors: as before; an unusable baseline.
Result<AblationTask> plan_ablation_task(const Workspace& workspace, const std::string& asked,
                                        const AblationOptions& options,
                                        const JudgingOptions& judging);

} // namespace kw
