// SPDX-License-Identifier: Apache-2.0
// Bounded moves: what a bottleneck suggests to change, one thing at a time, and what it may bring.
#pragma once

#include "search/tuner.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

struct Direction {
  std::string_view id;     ///< "wider-register-tile"
  std::string_view family; ///< technique: "registers", "caches", "memory", "arithmetic", "model"
  std::string_view does;   ///< one sentence for people and for proposers that read
  std::vector<std::string_view> states; ///< BottleneckState words it answers
  std::vector<std::string_view> roles;  ///< parameters it may change (search/space.hpp)
  double expected; ///< speed-up where it works, from experience with the shipped templates
};

/// In the order in which they are tried where nothing is known of them yet.
[[nodiscard]] const std::vector<Direction>& directions();
[[nodiscard]] const Direction* find_direction(std::string_view id); ///< nullptr: no such one

/// The part of the space around `anchor` that the direction allows; nullopt where the template has
/// no parameter of its roles.
[[nodiscard]] std::optional<Focus> focus_of(const Direction& direction, const SpaceSet& set,
                                            const Config& anchor);

} // namespace kw
