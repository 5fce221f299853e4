// SPDX-License-Identifier: Apache-2.0
#include "judge/held.hpp"

#include "os/parallel.hpp"
#include "tensor/random.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace kw {
namespace {

constexpr std::uint64_t base_trial = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint32_t run_streams = 3000; ///< beside those of tensors and scalars
constexpr std::int64_t elements_per_run = 1 << 16, fewest_runs = 8, elements_per_thread = 1 << 20;
constexpr std::uint32_t longest_power = 12;

std::int64_t count(const DrawSpec& spec) {
  std::int64_t n = 1;
  for (const std::int64_t extent : spec.shape)
    n *= extent;
  return n;
}

std::uint64_t wide(std::uint32_t high, std::uint32_t low) {
  return static_cast<std::uint64_t>(high) << 32 | low;
}

} // namespace

std::vector<HeldRun> held_runs(const DrawSpec& spec, const Seed& seed, std::uint64_t trial,
                               std::uint32_t tensor) {
  const std::int64_t elements = count(spec), unit = spec.dtype == DType::float4_e2m1 ? 2 : 1;
  std::vector<HeldRun> runs;
  if (elements < unit)
    return runs;
  const RandomStream stream = RandomStream::of(seed, trial, tensor + run_streams);
  const std::int64_t wanted = std::max(fewest_runs, elements / elements_per_run);
  runs.reserve(static_cast<std::size_t>(wanted));
  for (std::int64_t i = 0; i < wanted; ++i) {
    const RandomWords w = stream.at(Channel::words, static_cast<std::uint64_t>(i));
    const std::int64_t length = std::int64_t{1} << (w[2] % (longest_power + 1));
    const auto at =
        static_cast<std::int64_t>(wide(w[0], w[1]) % static_cast<std::uint64_t>(elements / unit)) *
        unit;
    runs.push_back({at, std::min(std::max(length, unit), elements - at)});
  }
  return runs;
}

std::vector<HeldRun> reached_runs(std::span<const std::int64_t> indices, std::int64_t rows,
                                  std::int64_t row) {
  std::vector<std::int64_t> named(indices.begin(), indices.end());
  std::erase_if(named, [&](std::int64_t i) { return i < 0 || i >= rows; });
  std::ranges::sort(named);
  std::vector<HeldRun> runs;
  for (const std::int64_t i : named) {
    if (!runs.empty() && i * row < runs.back().first + runs.back().count)
      continue; // named twice
    if (!runs.empty() && i * row == runs.back().first + runs.back().count)
      runs.back().count += row;
    else
      runs.push_back({i * row, row});
  }
  return runs;
}

void HeldTensor::fill(const HeldDraw& draw, std::vector<HeldRun> runs, int workers,
                      std::span<std::byte> out) {
  const DrawSpec& spec = draw.spec;
  const std::int64_t elements = count(spec);
  const auto part = [&](std::span<std::byte> of, std::int64_t first, std::int64_t n) {
    const std::size_t at = byte_size(spec.dtype, first);
    return of.subspan(at, byte_size(spec.dtype, first + n) - at);
  };
  const std::int64_t period = draw.period == 0 ? elements : std::min(draw.period, elements);
  if (base_.size() != byte_size(spec.dtype, period) || seed_ != draw.seed ||
      spec_.shape != spec.shape || spec_.dtype != spec.dtype) {
    base_.resize(byte_size(spec.dtype, period));
    spec_ = spec, seed_ = draw.seed;
    forget();
    parallel_ranges(workers, period, elements_per_thread,
                    [&](std::int64_t begin, std::int64_t end) {
                      draw_range(spec, draw.base, draw.seed, base_trial, draw.tensor, begin,
                                 end - begin, part(base_, begin, end - begin));
                    });
  }
  const auto put_back = [&](std::int64_t first, std::int64_t n) {
    for (std::int64_t at = first; at < first + n;) {
      const std::int64_t phase = at % period, length = std::min(period - phase, first + n - at);
      const std::span<std::byte> to = part(out, at, length);
      std::memcpy(to.data(), part(base_, phase, length).data(), to.size());
      at += length;
    }
  };
  if (filled_.data() == out.data() && filled_.size() == out.size())
    for (const HeldRun& run : runs_)
      put_back(run.first, run.count);
  else
    parallel_ranges(workers, elements, elements_per_thread,
                    [&](std::int64_t begin, std::int64_t end) { put_back(begin, end - begin); });
  filled_ = out, runs_ = std::move(runs);
  std::int64_t own = 0;
  for (const HeldRun& run : runs_)
    own += run.count;
  const auto drawn = static_cast<std::int64_t>(runs_.size());
  const std::int64_t at_once =
      std::max<std::int64_t>(1, drawn * elements_per_thread / (8 * std::max<std::int64_t>(own, 1)));
  // Held runs may overlap, but they agree on what they draw there.
  parallel_ranges(workers, drawn, at_once, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const HeldRun& run = runs_[static_cast<std::size_t>(i)];
      draw_range(spec, draw.cls, draw.seed, draw.trial, draw.tensor, run.first, run.count,
                 part(out, run.first, run.count));
    }
  });
}

} // namespace kw
