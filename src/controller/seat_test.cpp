// SPDX-License-Identifier: Apache-2.0
#include "controller/seat.hpp"

#include <cmath>
#include <gtest/gtest.h>

namespace kw {
namespace {

RoundResult round_that_gains(double ratio) {
  return {.signature = {},
          .direction = {},
          .before = 0,
          .after = std::log(ratio),
          .tried = 3,
          .valid = 2};
}

TEST(Seat, OneProposerKeepsIt) {
  Seat seat({"tuner"});
  for (int i = 0; i < 20; ++i)
    seat.close(0, round_that_gains(1));
  EXPECT_EQ(seat.order(), (std::vector<std::size_t>{0}));
}

TEST(Seat, ABlockWithoutAGainHandsItOnWithANote) {
  Seat seat({"tuner", "command"});
  EXPECT_EQ(seat.handoff(), "");
  for (int i = 0; i < Seat::block_rounds; ++i) {
    EXPECT_EQ(seat.holder(), "tuner");
    seat.close(0, round_that_gains(1.001));
  }
  EXPECT_EQ(seat.holder(), "command");
  EXPECT_EQ(seat.order(), (std::vector<std::size_t>{1, 0}));
  EXPECT_EQ(seat.handoff(), "tuner had 4 rounds: 12 candidates, 8 of them right, 1.004x gained");
}

TEST(Seat, ABlockThatGainsKeepsIt) {
  Seat seat({"tuner", "command"});
  for (int block = 0; block < 3; ++block)
    for (int i = 0; i < Seat::block_rounds; ++i)
      seat.close(0, round_that_gains(i == 2 ? 1.1 : 1));
  EXPECT_EQ(seat.holder(), "tuner");
  for (int i = 0; i < Seat::block_rounds; ++i) // an old gain does not count for the next block
    seat.close(0, round_that_gains(1));
  EXPECT_EQ(seat.holder(), "command");
}

TEST(Seat, WhoTakesARoundInItsPlaceHasTheSeat) {
  Seat seat({"command", "tuner"});
  seat.close(1, round_that_gains(1)); // the command had nothing
  EXPECT_EQ(seat.holder(), "tuner");
  seat.pass_on();
  EXPECT_EQ(seat.holder(), "command");
  EXPECT_EQ(seat.handoff(), "tuner had 1 round: 3 candidates, 2 of them right, 1.000x gained");
}

} // namespace
} // namespace kw
