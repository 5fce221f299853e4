// SPDX-License-Identifier: Apache-2.0
#include "controller/seat.hpp"

#include <cmath>
#include <fmt/format.h>

namespace kw {

std::vector<std::size_t> Seat::order() const {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < names_.size(); ++i)
    out.push_back((holder_ + i) % names_.size());
  return out;
}

void Seat::hand_to(std::size_t next) {
  if (rounds_ > 0)
    handoff_ = fmt::format("{} had {} round{}: {} candidates, {} of them right, {:.3f}x gained",
                           names_[holder_], rounds_, rounds_ == 1 ? "" : "s", tried_, valid_,
                           std::exp(gain_));
  holder_ = next;
  rounds_ = tried_ = valid_ = 0;
  gain_ = 0;
}

void Seat::close(std::size_t by, const RoundResult& round) {
  if (by != holder_)
    hand_to(by);
  ++rounds_;
  tried_ += round.tried;
  valid_ += round.valid;
  gain_ += round.after - round.before;
  if (rounds_ < block_rounds)
    return;
  if (gain_ < supervision::noise)
    hand_to((holder_ + 1) % names_.size());
  else
    rounds_ = tried_ = valid_ = 0, gain_ = 0;
}

void Seat::pass_on() {
  hand_to((holder_ + 1) % names_.size());
}

} // namespace kw
