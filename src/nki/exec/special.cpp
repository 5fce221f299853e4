// SPDX-License-Identifier: Apache-2.0
// Instructions with a meaning of their own; each works on whole partitions.
#include "nki/exec/work.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace kw::nki {
namespace {

/// splitmix64: numbers of nl.rand and dropout, the same for the same seed.
float next_uniform(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15ULL;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  z ^= z >> 31;
  return static_cast<float>(z >> 40) * 0x1p-24F;
}

} // namespace

std::vector<std::vector<float>> Work::partitions(const View& view) {
  const std::vector<std::int64_t> sizes = view.shape();
  const Region r = region_of(&view == instruction.sources[0].view() ? instruction.mask : Mask{},
                             sizes, machine.values_);
  Access a(machine, instruction, view, r);
  std::vector<std::vector<float>> rows;
  if (!a.ok() || sizes.empty())
    return rows;
  rows.resize(static_cast<std::size_t>(sizes[0]));
  std::vector<float> scratch;
  for_rows(r, [&](std::span<const std::int64_t> place, std::int64_t low, std::int64_t high) {
    const auto row = a.floats(place, low, high, scratch);
    const auto p = static_cast<std::size_t>(place.empty() ? low : place[0]);
    std::vector<float>& to = rows[p];
    std::vector<char> flags(static_cast<std::size_t>(high - low), 0);
    if (a.take_undefined(flags)) {
      undefined_.resize(std::max(undefined_.size(), p + 1), 0);
      undefined_[p] = 1, origin_ = a.origin();
    }
    for (std::int64_t i = 0; i < high - low; ++i)
      to.push_back(row.data[i * row.step]);
  });
  return rows;
}

void Work::store_partitions(const View& view, const std::vector<std::vector<float>>& rows) {
  const std::vector<std::int64_t> sizes = view.shape();
  Region r;
  r.low.assign(sizes.size(), 0);
  r.high = sizes;
  Access a(machine, instruction, view, r);
  if (!a.ok())
    return;
  std::vector<std::size_t> used(rows.size(), 0);
  for_rows(r, [&](std::span<const std::int64_t> place, std::int64_t low, std::int64_t high) {
    const auto p = static_cast<std::size_t>(place.empty() ? 0 : place[0]);
    if (p >= rows.size() || used[p] + static_cast<std::size_t>(high - low) > rows[p].size())
      return;
    a.store(place, low, high, rows[p].data() + used[p]);
    if (p < undefined_.size() && undefined_[p] != 0)
      a.undefine(std::vector<char>(static_cast<std::size_t>(high - low), 1), origin_);
    used[p] += static_cast<std::size_t>(high - low);
  });
}

// Count, mean and sum of squared distances, of even and of odd elements.
void Work::bn_stats() {
  std::vector<std::vector<float>> rows = partitions(*instruction.sources[0].view());
  for (std::vector<float>& row : rows) {
    std::vector<float> out;
    for (const std::size_t parity : {0U, 1U}) {
      double n = 0, mean = 0, squares = 0;
      for (std::size_t i = parity; i < row.size(); i += 2)
        mean += static_cast<double>(row[i]), ++n;
      mean = n > 0 ? mean / n : 0;
      for (std::size_t i = parity; i < row.size(); i += 2)
        squares += (static_cast<double>(row[i]) - mean) * (static_cast<double>(row[i]) - mean);
      for (const double v : {n, mean, squares})
        out.push_back(static_cast<float>(v));
    }
    if (!row.empty())
      row = std::move(out);
  }
  store_partitions(instruction.dst, rows);
}

// Chan, Golub, LeVeque 1979: moments of parts joined.
void Work::bn_aggr() {
  std::vector<std::vector<float>> rows = partitions(*instruction.sources[0].view());
  for (std::vector<float>& row : rows) {
    double n = 0, mean = 0, squares = 0;
    for (std::size_t i = 0; i + 3 <= row.size(); i += 3) {
      const auto count = static_cast<double>(row[i]), m = static_cast<double>(row[i + 1]),
                 s = static_cast<double>(row[i + 2]);
      if (count == 0)
        continue;
      const double all = n + count, d = m - mean;
      squares += s + d * d * n * count / all;
      mean += d * count / all;
      n = all;
    }
    if (!row.empty())
      row = {static_cast<float>(mean), static_cast<float>(n > 0 ? squares / n : 0)};
  }
  store_partitions(instruction.dst, rows);
}

void Work::max8() {
  std::vector<std::vector<float>> rows = partitions(*instruction.sources[0].view());
  for (std::vector<float>& row : rows) {
    if (row.size() < 8)
      continue;
    std::partial_sort(row.begin(), row.begin() + 8, row.end(), std::greater<>());
    row.resize(8);
  }
  store_partitions(instruction.dst, rows);
}

void Work::find_index8() {
  const std::vector<std::vector<float>> data = partitions(*instruction.sources[0].view()),
                                        wanted = partitions(*instruction.sources[1].view());
  std::vector<std::vector<float>> out(data.size());
  for (std::size_t p = 0; p < data.size() && p < wanted.size(); ++p) {
    std::vector<bool> taken(data[p].size());
    for (const float v : wanted[p]) { // equal values: one place after the other
      std::size_t at = 0;
      while (at < data[p].size() && (taken[at] || data[p][at] != v))
        ++at;
      if (at < data[p].size())
        taken[at] = true;
      out[p].push_back(at < data[p].size() ? static_cast<float>(at)
                                           : std::numeric_limits<float>::infinity());
    }
  }
  store_partitions(instruction.dst, out);
}

void Work::match_replace8() {
  std::vector<std::vector<float>> data = partitions(*instruction.sources[0].view());
  const std::vector<std::vector<float>> wanted = partitions(*instruction.sources[1].view());
  const auto by = static_cast<float>(*instruction.sources[2].number());
  std::vector<std::vector<float>> places(data.size());
  for (std::size_t p = 0; p < data.size() && p < wanted.size(); ++p)
    for (const float v : wanted[p]) {
      const auto at = std::find(data[p].begin(), data[p].end(), v);
      places[p].push_back(at == data[p].end() ? std::numeric_limits<float>::infinity()
                                              : static_cast<float>(at - data[p].begin()));
      if (at != data[p].end())
        *at = by;
    }
  store_partitions(instruction.dst, data);
  if (instruction.reduce_dst)
    store_partitions(*instruction.reduce_dst, places);
}

// Each of the eight cores gathers for its sixteen partitions, with indices read down them.
void Work::local_gather() {
  const std::vector<std::vector<float>> data = partitions(*instruction.sources[0].view()),
                                        index = partitions(*instruction.sources[1].view());
  const std::int64_t width = instruction.numbers.at(0), valid = instruction.numbers.at(1);
  std::vector<std::vector<float>> out(data.size());
  for (std::size_t core = 0; core * 16 + 16 <= data.size(); ++core) {
    std::vector<std::int64_t> at;
    for (std::size_t i = 0; i < index[core * 16].size(); ++i)
      for (std::size_t p = core * 16; p < core * 16 + 16; ++p)
        at.push_back(static_cast<std::int64_t>(index[p][i]));
    if (valid >= 0 && static_cast<std::int64_t>(at.size()) > valid)
      at.resize(static_cast<std::size_t>(valid));
    for (std::size_t p = core * 16; p < core * 16 + 16; ++p)
      for (const std::int64_t i : at)
        for (std::int64_t k = 0; k < width; ++k) {
          const std::int64_t from = i * width + k;
          if (from < 0 || from >= static_cast<std::int64_t>(data[p].size())) {
            machine.note(
                {.code = "NK-indirect-out-of-bound",
                 .message = fmt::format("index {} is outside of the {} elements of a partition",
                                        from, data[p].size()),
                 .limit = fmt::format("0 to {}", data[p].size() - 1),
                 .edit = "check the indices",
                 .place = instruction.place,
                 .api = instruction.api});
            return;
          }
          out[p].push_back(data[p][static_cast<std::size_t>(from)]);
        }
  }
  store_partitions(instruction.dst, out);
}

void Work::gather() {
  const std::vector<std::vector<float>> data = partitions(*instruction.sources[0].view()),
                                        index = partitions(*instruction.sources[1].view());
  std::vector<std::vector<float>> out(index.size());
  for (std::size_t p = 0; p < index.size() && p < data.size(); ++p)
    for (const float i : index[p]) {
      if (!(i >= 0) || i >= static_cast<float>(data[p].size())) {
        machine.note(
            {.code = "NK-indirect-out-of-bound",
             .message = fmt::format("index {:g} is outside of the {} elements of a partition", i,
                                    data[p].size()),
             .limit = fmt::format("0 to {}", data[p].size() - 1),
             .edit = "check the indices",
             .place = instruction.place,
             .api = instruction.api});
        return;
      }
      out[p].push_back(data[p][static_cast<std::size_t>(i)]);
    }
  store_partitions(instruction.dst, out);
}

void Work::shuffle() {
  const std::vector<std::vector<float>> data = partitions(*instruction.sources[0].view());
  std::vector<std::vector<float>> out(static_cast<std::size_t>(instruction.dst.dims[0].size));
  for (std::size_t p = 0; p < out.size(); ++p) {
    const std::int64_t from = instruction.numbers[p % 32];
    if (from == 255)
      continue; // stays as it is
    const std::size_t at = p / 32 * 32 + static_cast<std::size_t>(from);
    if (at < data.size())
      out[p] = data[at];
  }
  store_partitions(instruction.dst, out);
}

void Work::random() {
  const Region r = region(instruction.dst.shape());
  Access to(machine, instruction, instruction.dst, r);
  std::optional<Access> data, rate;
  float number = 0;
  if (instruction.kind == Kind::dropout) {
    data.emplace(machine, instruction, *instruction.sources[0].view(), r);
    if (const View* v = instruction.sources[1].view())
      rate.emplace(machine, instruction, *v, r);
    else
      number = static_cast<float>(*instruction.sources[1].number());
  }
  if (!to.ok())
    return;
  std::vector<float> x, a, b;
  for_rows(r, [&](std::span<const std::int64_t> place, std::int64_t low, std::int64_t high) {
    x.assign(static_cast<std::size_t>(high - low), 0.0F);
    for (float& v : x)
      v = next_uniform(machine.random_);
    if (data) {
      const auto d = data->floats(place, low, high, a);
      const Access::Floats p =
          rate ? rate->floats(place, low, high, b) : Access::Floats{&number, 0};
      for (std::size_t i = 0; i < x.size(); ++i) {
        const auto at = static_cast<std::int64_t>(i);
        x[i] = x[i] < p.data[at * p.step] ? 0 : d.data[at * d.step];
      }
    }
    to.store(place, low, high, x.data());
  });
}

void Work::dma_accumulate() {
  const Region r = region(instruction.dst.shape());
  Access to(machine, instruction, instruction.dst, r);
  std::vector<Access> from;
  from.reserve(instruction.sources.size());
  for (const Operand& s : instruction.sources)
    from.emplace_back(machine, instruction, *s.view(), r);
  if (!to.ok() || !std::ranges::all_of(from, [](const Access& a) { return a.ok(); }))
    return;
  std::vector<float> x, scratch;
  const bool on_top = instruction.accumulate;
  for_rows(r, [&](std::span<const std::int64_t> place, std::int64_t low, std::int64_t high) {
    x.assign(static_cast<std::size_t>(high - low), 0.0F);
    if (on_top) {
      const auto before = to.floats(place, low, high, scratch, true);
      for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = before.data[static_cast<std::int64_t>(i) * before.step];
    }
    for (Access& a : from) {
      const auto row = a.floats(place, low, high, scratch);
      for (std::size_t i = 0; i < x.size(); ++i)
        x[i] += row.data[static_cast<std::int64_t>(i) * row.step];
    }
    to.store(place, low, high, x.data(), on_top);
  });
}

// The result is complete after the last iteration: every one before it adds to what is there, the
// first begins anew.
void Work::loop_reduce() {
  const Region r = region(instruction.dst.shape());
  Access to(machine, instruction, instruction.dst, r),
      from(machine, instruction, *instruction.sources[0].view(), r);
  if (!to.ok() || !from.ok())
    return;
  const bool first = std::ranges::all_of(instruction.loops, [&](Variable v) {
    return machine.values_[static_cast<std::size_t>(v)] ==
           machine.begins_[static_cast<std::size_t>(v)];
  });
  std::vector<float> x, a, b;
  for_rows(r, [&](std::span<const std::int64_t> place, std::int64_t low, std::int64_t high) {
    const auto row = from.floats(place, low, high, a);
    x.assign(static_cast<std::size_t>(high - low), 0.0F);
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = row.data[static_cast<std::int64_t>(i) * row.step];
    if (!first) {
      const auto before = to.floats(place, low, high, b, true);
      for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = apply(instruction.reduce, before.data[static_cast<std::int64_t>(i) * before.step],
                     x[i]);
    }
    to.store(place, low, high, x.data(), true);
  });
}

} // namespace kw::nki
