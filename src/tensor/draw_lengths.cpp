// SPDX-License-Identifier: Apache-2.0
// Sequences in a paged cache: how long each is, and in which pages it lies.
//
// Kind "lengths": 0 .. limit tokens for every element, where `limit` is what the pages of one
// sequence hold. In `normal` every other sequence ends in its last page, since somebody's length is
// why the table is as wide as it is, and a call has at least so much to do; of the rest half have
// any length, the others one about an edge. In `mask_edges` all are about an edge: empty, one
// token, a multiple of the page and its neighbours, one of `edges` and its neighbours, the longest.
//
// Kind "block_table": row r (last axis) has the pages of sequence r in order, all different, and
// behind them either -1 or further pages that the sequence does not own: a kernel must not look
// there. Pages are a random permutation, an ascending run, or a descending one from the last page;
// in one trial of eight all rows have the same, as sequences with a common beginning do.
#include "tensor/convert.hpp"
#include "tensor/draw_plan.hpp"
#include "tensor/permutation.hpp"

#include <algorithm>
#include <vector>

namespace kw {
namespace {

std::int64_t below(std::uint32_t word, std::int64_t n) {
  return static_cast<std::int64_t>((static_cast<unsigned __int128>(n) * word) >> 32);
}

std::int64_t length_of(const LengthSpec& spec, InputClass cls, const RandomStream& stream,
                       std::int64_t sequence) {
  const RandomWords words = stream.at(Channel::rows, static_cast<std::uint64_t>(sequence));
  const std::int64_t limit = std::max<std::int64_t>(spec.limit, 0),
                     page = std::max<std::int64_t>(spec.page, 1), beside = words[2] % 3;
  const auto full = [&] { return limit - below(words[1], std::min(page, limit)); };
  const auto any = [&] { return below(words[1], limit + 1); };
  const auto at_page = [&] { return page * below(words[1], limit / page + 1) - 1 + beside; };
  const auto at_edge = [&] {
    return spec.edges.empty() ? at_page() : spec.edges[words[1] % spec.edges.size()] - 1 + beside;
  };
  const std::uint32_t choice = words[0] % 16;
  std::int64_t n = 0;
  if (cls == InputClass::mask_edges)
    n = choice < 2    ? 0
        : choice < 4  ? 1
        : choice < 7  ? at_page()
        : choice < 11 ? at_edge()
        : choice < 14 ? limit - static_cast<std::int64_t>(choice % 2)
                      : any();
  else if (sequence % 2 == 0)
    n = full();
  else
    n = choice < 8    ? any()
        : choice < 11 ? full()
        : choice < 14 ? at_edge()
        : choice < 15 ? at_page()
                      : 0;
  return std::clamp<std::int64_t>(n, 0, limit);
}

} // namespace

void draw_lengths(const DrawPlan& plan, std::int64_t first, std::int64_t count,
                  std::span<std::byte> out) {
  const LengthSpec spec = plan.spec.lengths.value_or(LengthSpec{.limit = plan.spec.limit});
  std::vector<double> n(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i)
    n[static_cast<std::size_t>(i)] =
        static_cast<double>(length_of(spec, plan.cls, plan.stream, first + i));
  from_double(plan.spec.dtype, n, out);
}

void draw_block_table(const DrawPlan& plan, std::int64_t first, std::int64_t count,
                      std::span<std::byte> out) {
  const std::int64_t pages = std::max<std::int64_t>(plan.spec.limit, 0);
  const bool alike = plan.tensor_words[0] % 8 == 0;
  std::vector<double> row;
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t at = (first + done) / plan.columns, column = (first + done) % plan.columns,
                       piece = std::min(count - done, plan.columns - column);
    const auto block = static_cast<std::uint64_t>(alike ? 0 : at) * 3;
    const RandomWords choice = plan.stream.at(Channel::words, block);
    const Permutation shuffled(pages, plan.stream.at(Channel::words, block + 1),
                               plan.stream.at(Channel::words, block + 2));
    const std::int64_t start =
        below(choice[1], std::max<std::int64_t>(pages - plan.columns, 0) + 1);
    std::int64_t owned = plan.columns;
    if (const auto& lengths = plan.spec.lengths)
      owned = (length_of(*lengths, plan.cls, plan.lengths_stream, at) + lengths->page - 1) /
              lengths->page;
    const bool stale = plan.row_words(at)[0] % 2 == 0;
    row.assign(static_cast<std::size_t>(piece), -1);
    for (std::int64_t i = column; i < column + piece; ++i)
      if ((i < owned || stale) && i < pages)
        row[static_cast<std::size_t>(i - column)] =
            static_cast<double>(choice[0] % 8 == 0   ? start + i
                                : choice[0] % 8 == 1 ? pages - 1 - i
                                                     : shuffled(i));
    from_double(plan.spec.dtype, row, out.subspan(byte_size(plan.spec.dtype, done)));
    done += piece;
  }
}

} // namespace kw
