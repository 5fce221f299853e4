// SPDX-License-Identifier: Apache-2.0
// What earlier runs found out about solutions of a definition: good ones are tried early, rejected
// ones are answered without running them again.
#pragma once

#include "base/json.hpp"
#include "base/result.hpp"
#include "model/probe.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

struct KnownAttempt {
  std::string probe;         ///< id
  std::string solution_hash; ///< full: sources, definition, toolchain, flags
  std::string regime, hypothesis;
  std::optional<double> estimate; ///< ln(speed-up over the baseline); empty = never got that far
  std::string finding;            ///< "NONE", "REJECT_WRONG", "HANG", ...
  std::string decision, reason;
};

/// How a direction fared from a state (its signature: bottleneck and template) in earlier runs.
struct KnownDirection {
  std::string signature, direction;
  int rounds = 0, gains = 0;
};

struct Knowledge {
  std::vector<KnownAttempt> attempts;     ///< oldest first
  std::vector<KnownDirection> directions; ///< one per signature and direction
};

[[nodiscard]] KnownAttempt known_attempt(const Probe& probe);
[[nodiscard]] Json to_json(const Knowledge& known);
/// Errors: damaged journal.
Result<Knowledge> knowledge_from_json(const Json& json);

/// Adds what the lines of an earlier run's decision log say of its directions. Lines that are
/// damaged or of another kind are passed over.
void learn_directions(std::string_view decisions, std::vector<KnownDirection>& into);

class Memory {
 public:
  explicit Memory(Knowledge known);
  [[nodiscard]] const std::vector<KnownAttempt>& all() const { return known_; }
  [[nodiscard]] const std::vector<KnownDirection>& directions() const { return directions_; }
  /// The newest attempt with these very sources, toolchain and flags that was rejected: for what it
  /// is (wrong, does not build, hangs), in any regime; for its speed, in the same regime only.
  [[nodiscard]] const KnownAttempt* rejected(const std::string& solution_hash,
                                             const std::string& regime) const;

 private:
  std::vector<KnownAttempt> known_; ///< oldest first
  std::vector<KnownDirection> directions_;
  std::multimap<std::string, std::size_t> by_hash_;
};

} // namespace kw
