// SPDX-License-Identifier: Apache-2.0
// Solutions known beforehand, in their order: those of an earlier run ("replay"), reference kernels
// ("reference").
#pragma once

#include "controller/proposer.hpp"

#include <memory>
#include <string>
#include <vector>

namespace kw {

struct ListedProposal {
  std::string regime; ///< where it is put forward; "" = in every one
  Proposal proposal;
};

std::unique_ptr<Proposer> make_list_proposer(std::string name, std::string where,
                                             std::vector<ListedProposal> list);

} // namespace kw
