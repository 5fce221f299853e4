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

void HeldTensor::fill(const DrawSpec& spec, InputClass base, InputClass cls, const Seed& seed,
                      std::uint64_t trial, std::uint32_t tensor, int workers,
                      std::span<std::byte> out) {
  const std::int64_t elements = count(spec);
  const auto part = [&](std::span<std::byte> of, std::int64_t first, std::int64_t n) {
    const std::size_t at = byte_size(spec.dtype, first);
    return of.subspan(at, byte_size(spec.dtype, first + n) - at);
  };
  if (base_.size() != out.size() || seed_ != seed || spec_.shape != spec.shape ||
      spec_.dtype != spec.dtype) {
    base_.resize(out.size());
    spec_ = spec, seed_ = seed;
    parallel_ranges(workers, elements, elements_per_thread,
                    [&](std::int64_t begin, std::int64_t end) {
                      draw_range(spec, base, seed, base_trial, tensor, begin, end - begin,
                                 part(base_, begin, end - begin));
                    });
  }
  parallel_ranges(workers, elements, elements_per_thread,
                  [&](std::int64_t begin, std::int64_t end) {
                    const std::span<std::byte> to = part(out, begin, end - begin);
                    std::memcpy(to.data(), part(base_, begin, end - begin).data(), to.size());
                  });
  const std::vector<HeldRun> runs = held_runs(spec, seed, trial, tensor);
  for (const HeldRun& run : runs)
    draw_range(spec, cls, seed, trial, tensor, run.first, run.count,
               part(out, run.first, run.count));
}

} // namespace kw
