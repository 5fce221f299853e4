// SPDX-License-Identifier: Apache-2.0
// Whose turn it is among several proposers: one has the seat for a block of rounds, keeps it while
// its blocks gain, and hands it on otherwise. Pure.
#pragma once

#include "controller/supervisor.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace kw {

class Seat {
 public:
  static constexpr int block_rounds = supervision::stalled_rounds;

  explicit Seat(std::vector<std::string> names) : names_(std::move(names)) {}

  /// Indices in the order in which they are asked for this round: the holder first.
  [[nodiscard]] std::vector<std::size_t> order() const;
  /// A round of `by` is over. The seat goes to whoever took the round in the holder's place; at the
  /// end of a block without a gain it goes on to the next.
  void close(std::size_t by, const RoundResult& round);
  /// The supervisor wants another proposer, now.
  void pass_on();
  /// What the holder should know of those before it; "" = nobody was.
  [[nodiscard]] const std::string& handoff() const { return handoff_; }
  [[nodiscard]] const std::string& holder() const { return names_[holder_]; }

 private:
  void hand_to(std::size_t next);

  std::vector<std::string> names_;
  std::size_t holder_ = 0;
  int rounds_ = 0, tried_ = 0, valid_ = 0; ///< of the block under way
  double gain_ = 0;                        ///< ln
  std::string handoff_;
};

} // namespace kw
