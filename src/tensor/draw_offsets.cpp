// SPDX-License-Identifier: Apache-2.0
// Kind "offsets": where each of n sequences begins in a packed axis of `limit` elements, and in the
// last place its end. A row (last axis) of n + 1 elements begins with 0, ends with `limit` and
// never falls. Lengths of a row, by a secret choice:
//   cuts      sorted random cuts
//   equal     as equal as can be
//   halving   each half of the one before
//   one long  one element each, one sequence has the rest
//   empties   about half have none
//   edges     first and last empty, beside each a sequence of one element
// They do not depend on the input class, so that every class meets every one of them.
#include "tensor/convert.hpp"
#include "tensor/draw_plan.hpp"

#include <algorithm>
#include <vector>

namespace kw {
namespace {

using Lengths = std::vector<std::int64_t>;

std::int64_t below(std::uint32_t word, std::int64_t n) {
  return static_cast<std::int64_t>((static_cast<unsigned __int128>(n) * word) >> 32);
}

/// Shares `total` among those with weight; to the first if none has any.
Lengths in_proportion(std::int64_t total, const std::vector<std::uint32_t>& weights) {
  std::uint64_t all = 0, sum = 0;
  for (const std::uint32_t w : weights)
    all += w;
  Lengths out(weights.size());
  std::int64_t done = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    sum += weights[i];
    const std::int64_t end =
        all == 0 ? total
                 : static_cast<std::int64_t>(static_cast<unsigned __int128>(total) * sum / all);
    out[i] = end - done;
    done = end;
  }
  return out;
}

Lengths cuts(std::int64_t total, const std::vector<std::uint32_t>& words) {
  Lengths at;
  for (std::size_t i = 1; i < words.size(); ++i)
    at.push_back(below(words[i], total + 1));
  std::sort(at.begin(), at.end());
  at.push_back(total);
  for (std::size_t i = at.size(); i-- > 1;)
    at[i] -= at[i - 1];
  return at;
}

/// One token each as far as they go, the rest to sequence `chosen`.
Lengths one_long(std::int64_t total, std::size_t n, std::size_t chosen) {
  Lengths out(n, 0);
  for (std::size_t i = 0; i < n && total > 0; ++i)
    if (i != chosen)
      out[i] = 1, --total;
  out[chosen] += total;
  return out;
}

Lengths edges(std::int64_t total, const std::vector<std::uint32_t>& words) {
  const std::size_t n = words.size();
  std::vector<std::uint32_t> weights = words;
  Lengths ones(n, 0);
  if (n > 1)
    weights.front() = 0;
  if (n > 2)
    weights.back() = 0;
  if (n > 4 && total >= 2) {
    weights[1] = weights[n - 2] = 0;
    ones[1] = ones[n - 2] = 1;
    total -= 2;
  }
  if (std::all_of(weights.begin(), weights.end(), [](std::uint32_t w) { return w == 0; }))
    weights[n / 2] = 1;
  Lengths out = in_proportion(total, weights);
  for (std::size_t i = 0; i < n; ++i)
    out[i] += ones[i];
  return out;
}

Lengths lengths(std::int64_t total, const RandomWords& choice,
                const std::vector<std::uint32_t>& words) {
  const std::size_t n = words.size();
  std::vector<std::uint32_t> weights(n, 1);
  switch (choice[0] % 8) {
  case 0:
    return in_proportion(total, weights);
  case 1:
    return one_long(total, n,
                    static_cast<std::size_t>(below(choice[1], static_cast<std::int64_t>(n))));
  case 2:
  case 3:
    for (std::size_t i = 0; i < n; ++i)
      weights[i] = words[i] & 1u ? words[i] >> 1 : 0;
    return in_proportion(total, weights);
  case 4:
    return edges(total, words);
  case 5:
    for (std::size_t i = 0; i < n; ++i)
      weights[i] = i < 31 ? 0x80000000u >> i : 1;
    return in_proportion(total, weights);
  default:
    return cuts(total, words);
  }
}

} // namespace

void draw_offsets(const DrawPlan& plan, std::int64_t first, std::int64_t count,
                  std::span<std::byte> out) {
  const std::int64_t total = std::max<std::int64_t>(plan.spec.limit, 0), columns = plan.columns;
  std::vector<std::uint32_t> words(static_cast<std::size_t>(columns - 1));
  std::vector<double> row(static_cast<std::size_t>(columns));
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t at = (first + done) / columns, column = (first + done) % columns;
    const std::int64_t piece = std::min(count - done, columns - column);
    row[0] = static_cast<double>(columns == 1 ? total : 0);
    if (columns > 1) {
      // Word by word: rows share no block of the stream whatever their length.
      for (std::int64_t i = 0; i + 1 < columns; ++i)
        words[static_cast<std::size_t>(i)] =
            plan.stream.at(Channel::words, static_cast<std::uint64_t>(at * columns + i))[0];
      const Lengths each = lengths(total, plan.row_words(at), words);
      std::int64_t end = 0;
      for (std::size_t i = 0; i < each.size(); ++i)
        row[i + 1] = static_cast<double>(end += each[i]);
    }
    from_double(plan.spec.dtype,
                std::span<const double>(row).subspan(static_cast<std::size_t>(column),
                                                     static_cast<std::size_t>(piece)),
                out.subspan(byte_size(plan.spec.dtype, done)));
    done += piece;
  }
}

} // namespace kw
