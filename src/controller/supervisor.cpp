// SPDX-License-Identifier: Apache-2.0
#include "controller/supervisor.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace kw {
namespace {

using namespace supervision;

bool gained(const RoundResult& r) {
  return r.after - r.before >= noise;
}

/// Rounds since the last gain, or since the last recovery, whichever is later: a recovery gets as
/// many rounds as the search had before it.
int idle_rounds(const std::vector<RoundResult>& rounds) {
  int idle = 0;
  for (auto r = rounds.rbegin(); r != rounds.rend() && !gained(*r); ++r)
    ++idle;
  return idle;
}

std::optional<std::pair<std::string, std::string>> detect(const std::vector<RoundResult>& rounds,
                                                          int patience) {
  const int idle = idle_rounds(rounds);
  const auto last = [&](int n) {
    return rounds.end() - std::min<std::ptrdiff_t>(n, std::ssize(rounds));
  };
  if (idle >= patience && idle >= regressed_rounds &&
      std::all_of(last(regressed_rounds), rounds.end(), [](const RoundResult& r) {
        return r.valid > 0 && r.best_seen < r.before - regression;
      }))
    return std::pair{"regression",
                     fmt::format("the best of each of the last {} rounds is at least {:.0f} % "
                                 "behind the champion",
                                 regressed_rounds, 100 * -std::expm1(-regression))};
  if (idle >= patience)
    return std::pair{"stall",
                     fmt::format("{} rounds without a gain of {:.0f} %", idle, 100 * noise)};
  if (static_cast<int>(rounds.size()) >= 2 * stalled_rounds) {
    double all = 0, all_seconds = 0, recent = 0, recent_seconds = 0;
    for (const RoundResult& r : rounds)
      all += std::max(0.0, r.after - r.before), all_seconds += r.seconds;
    for (auto r = last(stalled_rounds); r != rounds.end(); ++r)
      recent += std::max(0.0, r->after - r->before), recent_seconds += r->seconds;
    if (idle > 0 && recent_seconds > 0 && all_seconds > 0 &&
        recent / recent_seconds < diminished * all / all_seconds && idle >= patience - 1)
      return std::pair{"diminishing returns",
                       fmt::format("the last {} rounds gained {:.2f} % a second, the run {:.2f} %",
                                   stalled_rounds, 100 * recent / recent_seconds,
                                   100 * all / all_seconds)};
  }
  return std::nullopt;
}

} // namespace

std::string_view name(Recovery recovery) {
  switch (recovery) {
  case Recovery::change_family:
    return "change family";
  case Recovery::restart_from_branch:
    return "restart from an archived branch";
  case Recovery::change_proposer:
    return "change proposer";
  case Recovery::ask:
    return "ask somebody";
  case Recovery::hand_over:
    break;
  }
  return "hand over";
}

bool is_cycle(const std::vector<RoundResult>& rounds, std::string_view signature,
              std::string_view direction) {
  int idle = 0;
  for (const RoundResult& r : rounds)
    if (r.signature == signature && r.direction == direction)
      idle = gained(r) ? 0 : idle + 1;
  return idle >= cycle_times;
}

std::optional<Intervention> supervise(const std::vector<RoundResult>& rounds,
                                      const std::vector<Recovery>& taken, int proposers,
                                      bool attended) {
  // Every recovery so far had the same patience as the search before it.
  const int patience = stalled_rounds * (1 + static_cast<int>(taken.size()));
  const auto found = detect(rounds, patience);
  if (!found)
    return std::nullopt;
  for (const Recovery next : {Recovery::change_family, Recovery::restart_from_branch,
                              Recovery::change_proposer, Recovery::ask, Recovery::hand_over}) {
    if (std::find(taken.begin(), taken.end(), next) != taken.end() ||
        (next == Recovery::change_proposer && proposers < 2) ||
        (next == Recovery::ask && !attended))
      continue;
    return Intervention{.detector = found->first, .evidence = found->second, .recovery = next};
  }
  return std::nullopt;
}

} // namespace kw
