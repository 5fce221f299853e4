// SPDX-License-Identifier: Apache-2.0
// Opens the proposers of a run: what the command line names, and before them the reference kernels
// that are at hand.
#pragma once

#include "archive/archive.hpp"
#include "controller/optimize.hpp"
#include "service/judging.hpp"

#include <memory>
#include <string>
#include <vector>

namespace kw {

struct ProposingContext {
  Archive& archive;
  const Task& task;
  const OptimizeOptions& options;
  std::string run;    ///< id of this run: what it promoted itself is no reference
  std::string folder; ///< commands leave their calls here
  std::function<bool()> stop;
};

/// References first: those that were named, those that lie beside the definition, and what earlier
/// runs promoted for it. Then one per `options.proposers`, null for the tuner; without any, the
/// tuner alone. Errors: a proposer that cannot be opened, a reference that cannot be read, two of
/// the same kind.
Result<std::vector<std::shared_ptr<Proposer>>> open_proposers(const ProposingContext& context);

/// The licence that a source states in an SPDX line; "" = none does.
[[nodiscard]] std::string stated_licence(const Solution& solution);

} // namespace kw
