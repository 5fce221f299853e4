// SPDX-License-Identifier: Apache-2.0
// Outputs of places (tensor/ranking.hpp) within a trial, and what a campaign learns about them.
#pragma once

#include "judge/binding.hpp"
#include "model/verdict.hpp"
#include "tensor/ranking.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kw {

/// Output `output` of `workload`, which ranks an input; `outputs` are all that an arm returned,
/// `scores` the content of that input.
[[nodiscard]] RankingResult check_places(const BoundWorkload& workload, std::size_t output,
                                         std::span<const std::span<const std::byte>> outputs,
                                         std::span<const std::byte> scores);

/// What a right answer says about its rows; `oracle` are the oracle's places.
[[nodiscard]] RankingEvidence evidence(const RankingResult& right, const BoundOutput& places,
                                       std::span<const std::byte> got,
                                       std::span<const double> oracle);
void add(std::optional<RankingEvidence>& sum, const std::optional<RankingEvidence>& one);

/// The oracle's places of the rows that have one right answer.
[[nodiscard]] std::vector<double> only_answers(const BoundWorkload& workload, std::size_t output,
                                               std::span<const std::byte> scores,
                                               std::span<const double> oracle);

/// "ranked rows: 4,000, 700 tied at the boundary (...)"; "" where no output ranks anything.
[[nodiscard]] std::string ranking_sentence(const std::vector<WorkloadTrials>& workloads);

} // namespace kw
