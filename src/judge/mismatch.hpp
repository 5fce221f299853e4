// SPDX-License-Identifier: Apache-2.0
// What a wrong output looks like, for its author: first wrong element, where the wrong ones lie,
// which row and tile are worst.
#pragma once

#include "judge/binding.hpp"
#include "model/verdict.hpp"
#include "tensor/compare.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kw {

/// Indices along every axis of the element at a flat index.
[[nodiscard]] std::vector<std::int64_t> coordinates(std::uint64_t flat,
                                                    const std::vector<std::int64_t>& shape);
/// The kernel never wrote the first bad element nor at least half of the bad ones: that says more
/// than where they lie. A poisoned element may be right by chance, so `bad` need not hold them all.
[[nodiscard]] bool never_written(const BoundOutput& output, std::span<const std::byte> got,
                                 std::uint64_t first_bad, std::uint64_t bad, std::uint32_t poison);
/// A number as messages show it: NaN has no sign worth printing.
[[nodiscard]] std::string figure(double v);

/// All but trial, workload and input class. `want`: the oracle's values of all elements, empty
/// where only samples were compared; `poison`: what the output held before the call.
[[nodiscard]] Mismatch describe_mismatch(const BoundOutput& output, std::span<const std::byte> got,
                                         std::span<const double> want, const CompareResult& result,
                                         std::uint32_t poison);

/// "96 of 4096 elements of `y` wrong on rows=8 (inputs: normal), all in columns ...; first at ..."
[[nodiscard]] std::string mismatch_detail(const Mismatch& mismatch, const std::string& axes_text);

} // namespace kw
