// SPDX-License-Identifier: Apache-2.0
// What people say changes the next round of a regime.
#include "controller/hearing.hpp"
#include "controller/regime_search.hpp"

#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kw {

Status RegimeSearch::listen(RoundPlanner& planner, double wait_seconds) {
  KW_TRY(const std::vector<Steering> said,
         hear(*context_, fmt::format("{} after {}", regime_->name, evaluations_), wait_seconds));
  for (const Steering& s : said) {
    context_->hooks.note(fmt::format("{}: {} {}{}", s.by, s.kind, s.direction,
                                     s.text.empty() ? "" : " (" + s.text + ")"));
    if (s.kind == "prefer")
      planner.prefer(s.direction);
    else if (s.kind == "block")
      planner.block(s.direction);
    else if (s.kind == "hand-over")
      planner.end();
  }
  return {};
}

/// At a plateau nothing else has ended: says where the search stands and waits.
Status RegimeSearch::ask_somebody(const RoundPlan& plan, RoundPlanner& planner) {
  context_->hooks.note(fmt::format("{}: {} ({}). Best so far {:.2f}x of the baseline, state {}. "
                                   "What next? `kernwright steer RUN "
                                   "--prefer DIRECTION`, `--block DIRECTION`, `--hand-over` or "
                                   "`--note TEXT`; going on in {:.0f} "
                                   "s",
                                   regime_->name, plan.intervention->detector,
                                   plan.intervention->evidence, std::exp(champion_log_),
                                   planner.state_word(), context_->options.attended_seconds));
  return listen(planner, context_->options.attended_seconds);
}

} // namespace kw
