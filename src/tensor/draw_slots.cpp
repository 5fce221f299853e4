// SPDX-License-Identifier: Apache-2.0
// Kind "slots": which places of a cache a row (last axis) refers to: n different ones of
// 0 .. limit - 1, then -1 up to its end. n is at most the smaller of row and limit, between the
// shares `low` and `high` of it. Two things are chosen per row:
//   how many  `normal`: three rows of four are full, since that is the common and the dearest case;
//             the rest has any number of entries, one about a multiple of 64, or hardly any.
//             `mask_edges`: none, one, a few, all but one, all, about a multiple of 64.
//   which     mostly a random permutation; else a run that ascends from somewhere, one that
//   descends
//             from the last slot, or both ends of the cache inwards (0, limit - 1, 1, ...)
// In one trial of eight all rows make the second choice alike: those of equal n are equal.
//
// Permutations are Feistel networks over the least even number of bits that holds the limit, with
// cycle walking (Black and Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002): an
// entry follows from row and column alone, and no two of a row meet.
#include "tensor/convert.hpp"
#include "tensor/draw_plan.hpp"
#include "tensor/permutation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace kw {
namespace {

constexpr std::int64_t largest_limit = std::int64_t{1}
                                       << 53; ///< places are stored by way of double

std::int64_t below(std::uint32_t word, std::int64_t n) {
  return static_cast<std::int64_t>((static_cast<unsigned __int128>(n) * word) >> 32);
}

std::int64_t entries(const DrawSpec& spec, InputClass cls, std::int64_t most,
                     const RandomWords& words) {
  constexpr std::int64_t page = 64;
  const auto any = [&](std::int64_t least, std::int64_t largest) {
    return least + below(words[1], largest - least + 1);
  };
  const auto at_page = [&] { return (1 + any(0, most / page)) * page - 1 + words[2] % 3; };
  const std::uint32_t choice = words[0] % 16;
  std::int64_t n = most;
  if (cls == InputClass::mask_edges) {
    constexpr std::array<std::uint32_t, 5> ends{4, 7, 9, 11, 13};
    n = choice < ends[0]   ? 0
        : choice < ends[1] ? 1
        : choice < ends[2] ? any(2, 5)
        : choice < ends[3] ? most - 1
        : choice < ends[4] ? at_page()
                           : most;
  } else if (choice >= 12) {
    n = choice < 14 ? any(0, most) : choice == 14 ? at_page() : any(0, 3);
  }
  const auto share = [&](double s) {
    return static_cast<std::int64_t>(
        std::floor(std::clamp(s, 0.0, 1.0) * static_cast<double>(most)));
  };
  return std::clamp(n, std::min(share(spec.low), share(spec.high)), share(spec.high));
}

} // namespace

void draw_slots(const DrawPlan& plan, std::int64_t first, std::int64_t count,
                std::span<std::byte> out) {
  const std::int64_t limit = std::clamp<std::int64_t>(plan.spec.limit, 0, largest_limit),
                     most = std::min(limit, plan.columns);
  const bool alike = plan.tensor_words[0] % 8 == 0;
  std::vector<double> row;
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t at = (first + done) / plan.columns, column = (first + done) % plan.columns,
                       piece = std::min(count - done, plan.columns - column);
    const auto block = static_cast<std::uint64_t>(alike ? 0 : at) * 3;
    const RandomWords choice = plan.stream.at(Channel::words, block);
    const Permutation shuffled(limit, plan.stream.at(Channel::words, block + 1),
                               plan.stream.at(Channel::words, block + 2));
    const std::int64_t n = entries(plan.spec, plan.cls, most, plan.row_words(at)),
                       start = below(choice[1], limit - n + 1);
    row.assign(static_cast<std::size_t>(piece), -1);
    for (std::int64_t i = column; i < std::min(column + piece, n); ++i) {
      std::int64_t slot = 0;
      switch (choice[0] % 8) {
      case 0:
        slot = start + i;
        break;
      case 1:
        slot = limit - 1 - i;
        break;
      case 2:
        slot = i % 2 == 0 ? i / 2 : limit - 1 - i / 2;
        break;
      default:
        slot = shuffled(i);
      }
      row[static_cast<std::size_t>(i - column)] = static_cast<double>(slot);
    }
    from_double(plan.spec.dtype, row, out.subspan(byte_size(plan.spec.dtype, done)));
    done += piece;
  }
}

} // namespace kw
