// SPDX-License-Identifier: Apache-2.0
#include "controller/regime.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace kw {
namespace {

double cost(const BoundWorkload& w) { return w.flops + 8 * (w.bytes_read + w.bytes_written); }

void choose_representatives(Regime& regime, const std::vector<BoundWorkload>& workloads) {
  std::vector<std::size_t> order = regime.workloads;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return cost(workloads[a]) < cost(workloads[b]); });
  regime.smallest = order.front();
  double seen = 0;
  for (const std::size_t i : order) {
    seen += workloads[i].workload.weight;
    regime.representative = i;
    if (seen >= regime.weight / 2)
      break;
  }
}

} // namespace

Result<std::vector<Regime>> find_regimes(const std::vector<BoundWorkload>& workloads,
                                         const std::vector<Space>& spaces) {
  std::vector<Regime> regimes;
  for (std::size_t w = 0; w < workloads.size(); ++w) {
    std::vector<std::size_t> fitting;
    for (std::size_t s = 0; s < spaces.size(); ++s) {
      double applies = 1;
      if (spaces[s].applies) {
        KW_TRY(applies, spaces[s].applies->eval(workloads[w].axes));
      }
      if (applies != 0)
        fitting.push_back(s);
    }
    if (fitting.empty())
      return fail(ErrorKind::invalid_input,
                  fmt::format("no schedule space applies to workload {} ({})", workloads[w].workload.uuid,
                              workloads[w].axes_text),
                  "add a *.space.json whose `applies` covers it");
    auto found = std::find_if(regimes.begin(), regimes.end(),
                              [&](const Regime& r) { return r.spaces == fitting; });
    if (found == regimes.end()) {
      regimes.push_back({.name = {}, .workloads = {}, .spaces = fitting});
      found = std::prev(regimes.end());
      for (const std::size_t s : fitting)
        if (spaces[s].applies && found->name.empty())
          found->name = spaces[s].applies->text();
      if (found->name.empty())
        found->name = "all";
    }
    found->workloads.push_back(w);
    found->weight += workloads[w].workload.weight;
  }
  for (Regime& regime : regimes)
    choose_representatives(regime, workloads);
  return regimes;
}

} // namespace kw
