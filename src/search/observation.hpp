// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "search/space.hpp"

#include <limits>
#include <optional>

namespace kw {

/// What one evaluation showed. `cost` is any quantity that is better when lower (time relative to
/// the baseline, say). An invalid run (does not build, is wrong, crashes) has none, and is final.
struct Observation {
  std::optional<double> cost;
  bool valid = true;

  /// For comparisons: infinite unless there is a valid, finite cost.
  [[nodiscard]] double rank() const {
    return valid && cost && *cost == *cost ? *cost : std::numeric_limits<double>::infinity();
  }
};

struct Trial {
  Config config;
  Observation observation;
};

} // namespace kw
