// SPDX-License-Identifier: Apache-2.0
#include "os/parallel.hpp"

#include <algorithm>
#include <thread>
#include <vector>

namespace kw {

void parallel_ranges(int workers, std::int64_t count, std::int64_t grain,
                     const std::function<void(std::int64_t, std::int64_t)>& f) {
  const std::int64_t grains = count / std::max<std::int64_t>(grain, 1);
  const std::int64_t parts = std::clamp<std::int64_t>(grains, 1, std::max(workers, 1));
  const auto border = [&](std::int64_t part) { return part == parts ? count : part * (grains / parts) * grain; };
  std::vector<std::jthread> threads;
  for (std::int64_t part = 1; part < parts; ++part)
    threads.emplace_back([&f, begin = border(part), end = border(part + 1)] { f(begin, end); });
  f(0, border(1));
}

} // namespace kw
