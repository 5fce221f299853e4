// SPDX-License-Identifier: Apache-2.0
// Watches the rounds of a regime: is it still getting anywhere, and if not, what to do about it.
// Pure: the rounds in, a recovery out. Thresholds are numbers, not judgement.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

/// One finished round, in ln(speed-up over the baseline).
struct RoundResult {
  int number = 0;
  std::string signature; ///< of the bottleneck state it started from
  std::string direction; ///< "" = the model's free choice
  double before = 0;     ///< champion's
  double after = 0;
  double best_seen = 0; ///< best estimate of its own candidates; meaningless if none was valid
  int tried = 0, valid = 0;
  double seconds = 0;
};

namespace supervision {
inline constexpr double noise = 0.02;     ///< the gate's least effect: less is no gain
inline constexpr int stalled_rounds = 4;  ///< without a gain
inline constexpr int cycle_times = 2;     ///< same state and direction, both without a gain
inline constexpr double regression = 0.1; ///< all candidates of the last rounds behind by this
inline constexpr int regressed_rounds = 3;
inline constexpr double diminished = 0.1; ///< gain per second of the last rounds over the mean's
} // namespace supervision

enum class Recovery { change_family, restart_from_branch, change_proposer, ask, hand_over };
[[nodiscard]] std::string_view name(Recovery recovery);

struct Intervention {
  std::string detector; ///< "stall", "regression", "diminishing returns"
  std::string evidence; ///< one sentence with its numbers
  Recovery recovery;
};

/// Whether `direction` was tried from `signature` so often without a gain that it is blocked there.
[[nodiscard]] bool is_cycle(const std::vector<RoundResult>& rounds, std::string_view signature,
                            std::string_view direction);

/// What the last rounds call for; nullopt = go on. `taken`: recoveries since the last gain, in
/// their order; each is proposed once, hand_over last. `proposers`: how many there are. `attended`:
/// whether there is somebody to ask.
[[nodiscard]] std::optional<Intervention> supervise(const std::vector<RoundResult>& rounds,
                                                    const std::vector<Recovery>& taken,
                                                    int proposers, bool attended = false);

} // namespace kw
