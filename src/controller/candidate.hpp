// SPDX-License-Identifier: Apache-2.0
// What is judged in a search: sources, and who put them forward.
#pragma once

#include "controller/proposer.hpp"
#include "search/space_set.hpp"

#include <optional>
#include <string>

namespace kw {

struct Candidate {
  Solution solution;
  std::string proposer = "tuner";
  std::string hypothesis;                ///< the tuner's: the configuration as text
  std::optional<Config> config = {};     ///< the tuner's only
  std::optional<Proposal> proposal = {}; ///< everybody else's
};

/// What a regime ships: a configuration of a template, or a solution from elsewhere.
struct Winner {
  std::optional<Config> config;
  std::optional<Proposal> proposal; ///< set where `config` is not
  std::string hypothesis, proposer;
};

} // namespace kw
