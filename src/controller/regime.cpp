// SPDX-License-Identifier: Apache-2.0
#include "controller/regime.hpp"

#include "os/cpu.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <string_view>

namespace kw {
namespace {

/// Intensity (FLOP per byte) or footprint beyond these factors of a regime's first workload opens
/// the next regime: about the distance between a matrix-vector product and a few rows of one, and
/// between neighbouring cache levels. With several variable axes the length of a row decides, which
/// is what a row's kernel is built around.
constexpr double intensity_factor = 3, footprint_factor = 32, row_factor = 3;

struct Split {
  std::string axis; ///< "" = none
  bool by_row = false;
};

/// The only variable axis, or of several the one that is the last of the first output.
Split split_of(const std::vector<BoundWorkload>& workloads) {
  if (workloads.empty())
    return {};
  const auto& axes = workloads.front().workload.axes;
  if (axes.size() == 1)
    return {.axis = axes.front().first};
  for (const auto& [axis, value] : axes) {
    const auto is_row = [&, name = axis](const BoundWorkload& w) {
      return !w.outputs.empty() && w.axes.at(name) == static_cast<double>(w.outputs[0].row);
    };
    if (std::all_of(workloads.begin(), workloads.end(), is_row))
      return {.axis = axis, .by_row = true};
  }
  return {};
}

struct Entry {
  double at;
  std::size_t workload, group;
};

/// Whether `next` is another kind of call than `first`, and can be told apart from `before` it.
bool opens_regime(const Split& split, const std::vector<BoundWorkload>& workloads,
                  const Entry& first, const Entry& before, const Entry& next) {
  const BoundWorkload& a = workloads[first.workload];
  const BoundWorkload& b = workloads[next.workload];
  if (next.at == before.at)
    return false;
  if (next.group != first.group)
    return true;
  if (split.by_row)
    return next.at > row_factor * first.at;
  const auto bytes = [](const BoundWorkload& w) { return w.bytes_read + w.bytes_written; };
  const auto intensity = [&](const BoundWorkload& w) { return w.flops / std::max(bytes(w), 1.0); };
  return intensity(b) > intensity_factor * intensity(a) || bytes(b) > footprint_factor * bytes(a);
}

std::vector<Regime> split_along(const Split& split, const std::vector<BoundWorkload>& workloads,
                                const std::vector<Regime>& grouped) {
  std::vector<Entry> entries;
  for (std::size_t g = 0; g < grouped.size(); ++g)
    for (const std::size_t w : grouped[g].workloads)
      entries.push_back({workloads[w].axes.at(split.axis), w, g});
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.at < b.at || (a.at == b.at && a.workload < b.workload);
  });
  std::vector<Regime> out;
  std::size_t first = 0;
  for (std::size_t i = 1; i <= entries.size(); ++i) {
    if (i < entries.size() &&
        !opens_regime(split, workloads, entries[first], entries[i - 1], entries[i]))
      continue;
    Regime regime{.name = {},
                  .condition = {},
                  .workloads = {},
                  .spaces = grouped[entries[first].group].spaces};
    for (std::size_t k = first; k < i; ++k)
      regime.workloads.push_back(entries[k].workload);
    regime.axis = split.axis;
    regime.from = entries[first].at;
    regime.to = entries[i - 1].at;
    if (i < entries.size())
      regime.border = assumed_border(entries[i - 1].at, entries[i].at);
    out.push_back(std::move(regime));
    first = i;
  }
  describe_row(out);
  return out;
}

/// Workloads of equal `at` are one regime only if the same spaces apply to them: a condition over
/// one axis cannot tell them apart otherwise.
bool separable(const Split& split, const std::vector<BoundWorkload>& workloads,
               const std::vector<Regime>& grouped) {
  std::map<double, std::size_t> group_at;
  for (std::size_t g = 0; g < grouped.size(); ++g)
    for (const std::size_t w : grouped[g].workloads)
      if (group_at.emplace(workloads[w].axes.at(split.axis), g).first->second != g)
        return false;
  return true;
}

} // namespace

double assumed_border(double below, double above) {
  return std::floor(std::sqrt(below * above));
}

void describe_row(std::vector<Regime>& row) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    Regime& r = row[i];
    r.condition = r.border > 0 ? fmt::format("{} <= {:.0f}", r.axis, r.border) : "";
    r.name = !r.condition.empty() ? r.condition
             : i == 0             ? "all"
                                  : fmt::format("{} >= {:.0f}", r.axis, r.from);
  }
}

void choose_representative(Regime& regime, const std::vector<BoundWorkload>& workloads,
                           const std::function<bool(std::size_t)>& timeable) {
  std::vector<std::size_t> order = regime.workloads;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return cost(workloads[a]) < cost(workloads[b]);
  });
  regime.smallest = order.front();
  std::erase_if(order, [&](std::size_t i) { return !timeable(i); });
  double all = 0, seen = 0;
  for (const std::size_t i : order)
    all += workloads[i].workload.weight;
  for (const std::size_t i : order) {
    seen += workloads[i].workload.weight;
    regime.representative = i;
    if (seen >= all / 2)
      break;
  }
}

Bindings machine_facts(int threads) {
  const CpuInfo& cpu = cpu_info();
  const bool wide = cpu.has("avx512f");
  return {{"vector_bytes", wide              ? 64
                           : cpu.has("avx2") ? 32
                                             : 16},
          {"vector_registers", wide ? 32 : 16},
          {"threads", threads},
          {"l1_bytes", static_cast<double>(cpu.cache_bytes(1))},
          {"l2_bytes", static_cast<double>(cpu.cache_bytes(2))},
          {"l3_bytes", static_cast<double>(cpu.cache_bytes(3))}};
}

std::string axis_condition(const Space& space, const Bindings& facts) {
  if (!space.applies)
    return {};
  std::string out, word;
  bool axis = false;
  const auto flush = [&] {
    if (const auto fact = facts.find(word); fact != facts.end())
      out += fmt::format("{:.0f}", fact->second);
    else
      out += word;
    static constexpr std::string_view words[] = {"and", "or", "not", "min", "max", "ceil_div"};
    const bool name =
        !word.empty() &&
        (std::isalpha(static_cast<unsigned char>(word.front())) != 0 || word.front() == '_');
    axis = axis || (name && !facts.contains(word) &&
                    std::find(std::begin(words), std::end(words), word) == std::end(words));
    word.clear();
  };
  for (const char c : space.applies->text() + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      word += c;
      continue;
    }
    flush();
    out += c;
  }
  out.pop_back();
  return axis ? out : std::string{};
}

Result<std::vector<Regime>> find_regimes(const std::vector<BoundWorkload>& workloads,
                                         const std::vector<Space>& spaces, const Bindings& facts,
                                         bool split) {
  std::vector<Regime> regimes;
  for (std::size_t w = 0; w < workloads.size(); ++w) {
    std::vector<std::size_t> fitting;
    for (std::size_t s = 0; s < spaces.size(); ++s) {
      double applies = 1;
      if (spaces[s].applies) {
        Bindings names = facts;
        names.insert(workloads[w].axes.begin(), workloads[w].axes.end());
        KW_TRY(applies, spaces[s].applies->eval(names));
      }
      if (applies != 0)
        fitting.push_back(s);
    }
    if (fitting.empty() && !spaces.empty())
      return fail(ErrorKind::invalid_input,
                  fmt::format("no schedule space applies to workload {} ({})",
                              workloads[w].workload.uuid, workloads[w].axes_text),
                  "add a *.space.json whose `applies` covers it");
    auto found = std::find_if(regimes.begin(), regimes.end(),
                              [&](const Regime& r) { return r.spaces == fitting; });
    if (found == regimes.end()) {
      regimes.push_back({.name = {}, .condition = {}, .workloads = {}, .spaces = fitting});
      found = std::prev(regimes.end());
      for (const std::size_t s : fitting)
        if (found->name.empty())
          found->name = axis_condition(spaces[s], facts);
      if (found->name.empty())
        found->name = "all";
    }
    found->workloads.push_back(w);
  }
  if (const Split along = split_of(workloads);
      split && !along.axis.empty() && separable(along, workloads, regimes))
    regimes = split_along(along, workloads, regimes);
  for (Regime& regime : regimes) {
    regime.weight = 0;
    for (const std::size_t w : regime.workloads)
      regime.weight += workloads[w].workload.weight;
    choose_representative(regime, workloads, [](std::size_t) { return true; });
  }
  return regimes;
}

} // namespace kw
