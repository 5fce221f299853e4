// SPDX-License-Identifier: Apache-2.0
#include "controller/direction.hpp"

#include <algorithm>

namespace kw {

const std::vector<Direction>& directions() {
  static const std::vector<Direction> all = {
      {"more-chains",
       "registers",
       "More independent operations side by side, so that none waits for the one before.",
       {"dependency", "latency", "vectorisation", "compute"},
       {"unroll"},
       1.3},
      {"register-tile",
       "registers",
       "More rows and columns per value loaded, as far as the registers reach.",
       {"load_store", "compute", "dependency", "memory", "mixed"},
       {"register_tile", "unroll"},
       1.3},
      {"wider-vectors",
       "vectors",
       "Another vector width or number of lanes.",
       {"vectorisation", "compute", "latency"},
       {"vector"},
       1.5},
      {"cheaper-arithmetic",
       "arithmetic",
       "Another formula or a lower degree for the same value within the tolerance.",
       {"compute", "latency", "mixed", "vectorisation"},
       {"arithmetic"},
       1.15},
      {"cache-blocking",
       "caches",
       "Blocks that stay in the cache in which they are used again.",
       {"memory", "load_store", "mixed", "compute"},
       {"cache_tile", "order"},
       1.2},
      {"fewer-passes",
       "caches",
       "Keep what a later pass needs, or compute it again, instead of a round trip to memory.",
       {"memory", "mixed", "load_store"},
       {"passes"},
       1.15},
      {"past-the-cache",
       "memory",
       "Stores that do not read the line first, for results that nobody reads soon.",
       {"memory", "mixed"},
       {"stores"},
       1.2},
      {"prefetch",
       "memory",
       "Ask for data earlier: distance and cache level.",
       {"memory", "latency", "mixed"},
       {"prefetch"},
       1.1},
      {"task-grain",
       "threads",
       "More or less work per task.",
       {"launch", "threading", "tail"},
       {"task"},
       1.1},
  };
  return all;
}

const Direction* find_direction(std::string_view id) {
  const auto found = std::find_if(directions().begin(), directions().end(),
                                  [&](const Direction& d) { return d.id == id; });
  return found == directions().end() ? nullptr : &*found;
}

std::optional<Focus> focus_of(const Direction& direction, const SpaceSet& set,
                              const Config& anchor) {
  Focus focus{.anchor = anchor, .freed = {}};
  const std::vector<Parameter>& parameters = set.spaces()[anchor.space].parameters;
  for (std::size_t p = 0; p < parameters.size(); ++p)
    if (parameters[p].values.size() > 1 && std::find(direction.roles.begin(), direction.roles.end(),
                                                     parameters[p].role) != direction.roles.end())
      focus.freed.push_back(p);
  return focus.freed.empty() ? std::nullopt : std::optional(std::move(focus));
}

} // namespace kw
