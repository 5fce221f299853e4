// SPDX-License-Identifier: Apache-2.0
// The rules about one loop. Order matters: what keeps a loop from vectors or makes it wait explains
// its time before the number of its loads does.
#include "controller/bottleneck.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace kw {
namespace {

using namespace bottleneck;

/// Of several models the fastest: each lacks units that others have, none invents them.
struct Prediction {
  double cycles = 0, throughput = 0;
  std::string port; ///< busiest unit as the fastest model names it
};

std::optional<Prediction> predicted(const ObjectLoop& l) {
  if (l.pipeline.empty())
    return std::nullopt;
  const auto by = [](double PipelineEstimate::* field) {
    return [field](const PipelineEstimate& a, const PipelineEstimate& b) {
      return a.*field < b.*field;
    };
  };
  const auto fastest =
      std::min_element(l.pipeline.begin(), l.pipeline.end(), by(&PipelineEstimate::cycles));
  const auto widest =
      std::min_element(l.pipeline.begin(), l.pipeline.end(), by(&PipelineEstimate::throughput));
  return Prediction{fastest->cycles, widest->throughput, fastest->port};
}

bool waits_for_results(const Prediction& p) {
  return p.throughput > 0 && p.cycles >= chain_over_units * p.throughput;
}

/// clang's reason for a loop that begins there is the order of a sum.
bool is_ordered_sum(const ObjectLoop& l, const Profile& p) {
  return std::any_of(p.remarks.begin(), p.remarks.end(), [&](const LoopRemark& r) {
    return !r.vectorized && r.code == "reduction_order" && r.file == l.file &&
           std::abs(r.line - l.line) <= 1;
  });
}

std::string place(const ObjectLoop& l) {
  return l.line > 0 ? fmt::format("the loop at {}:{}", l.file, l.line)
                    : "the loop in " + l.function;
}

double figure_of(const Profile& p, const char* name) {
  const ProfileFigure* f = p.figure(name);
  return f == nullptr ? 0 : f->value;
}

/// Operations that wait: calls, loads that wait for loads, locks, chains.
std::optional<LoopCause> waiting(const ObjectLoop& l, const Profile& p) {
  if (l.calls > 0)
    return LoopCause{"vectorisation", 0.9, place(l) + " calls a function in every turn",
                     "write the function as a polynomial in vectors"};
  if (l.chased > 0)
    return LoopCause{"latency", 0.85,
                     place(l) + " loads from where the load of the turn before points",
                     "follow several chains side by side; keep what is followed in a nearer cache"};
  if (l.atomics > 0)
    return LoopCause{p.threads > 1 ? "threading" : "latency", 0.8,
                     place(l) + " locks a line in every turn",
                     "a counter per thread, joined at the end"};
  const std::optional<Prediction> model = predicted(l);
  if (model && l.branches <= 1 && waits_for_results(*model)) {
    const std::string evidence =
        fmt::format("{} takes {:.1f} cycles a turn by the model, {:.1f} if no result were waited "
                    "for",
                    place(l), model->cycles, model->throughput);
    if (l.packed == 0 && is_ordered_sum(l, p))
      return LoopCause{"vectorisation", 0.8, evidence,
                       "several sums side by side, joined after the loop"};
    return LoopCause{"dependency", 0.8, evidence,
                     "more chains side by side: several accumulators, rows or elements at once"};
  }
  return std::nullopt;
}

} // namespace

std::optional<LoopCause> cause_of(const ObjectLoop& l, const Profile& p) {
  if (std::optional<LoopCause> cause = waiting(l, p))
    return cause;
  const int all = l.packed + l.scalar;
  if (all > 0 && l.scalar >= scalar_share * all)
    return LoopCause{"vectorisation", 0.9,
                     fmt::format("{} of {} floating-point instructions of {} are scalar", l.scalar,
                                 all, place(l)),
                     "several sums side by side, joined after the loop; no branches in it"};
  if (all > 0 && l.divides >= many_divides * all)
    return LoopCause{"compute", 0.8,
                     fmt::format("{} of {} floating-point instructions of {} divide or take roots, "
                                 "some ten cycles each",
                                 l.divides, all, place(l)),
                     "multiply by a reciprocal taken once, or refine an approximate one"};
  if (l.gathers > 0)
    return LoopCause{
        "latency", 0.7,
        fmt::format("{} goes to places that it has loaded: an access per element", place(l)),
        "lay the data out in the order in which it is used"};
  const std::optional<Prediction> model = predicted(l);
  if (!model && all > 0 && l.accumulators > 0 && l.stores == 0 &&
      l.accumulators <= few_sums * enough_sums)
    return LoopCause{"dependency", 0.8,
                     fmt::format("{} carries {} sum{} from turn to turn; {} side by side hide the "
                                 "latency of a multiply-add",
                                 place(l), l.accumulators, l.accumulators == 1 ? "" : "s",
                                 enough_sums),
                     "more accumulators: unroll, or compute several rows at once"};
  const bool bandwidth_explains = figure_of(p, "bandwidth_share") >= under_ceiling;
  const double moves = std::max(l.loads / 2.0, 1.0 * l.stores);
  if (all > 0 && moves >= moves_over_work * all / 2) {
    const std::string evidence =
        fmt::format("{} loads {} and stores {} times for {} floating-point instructions", place(l),
                    l.loads, l.stores, all);
    if (bandwidth_explains && p.level != "L1")
      return LoopCause{"memory", 0.7, evidence,
                       "fewer bytes, or blocks that stay in a nearer cache"};
    return LoopCause{"load_store", 0.7, evidence,
                     "keep running values in registers: smaller tiles, more work per value loaded"};
  }
  if (model && l.packed > 0 && l.branches <= 1 && !bandwidth_explains)
    return LoopCause{
        "compute", 0.6,
        fmt::format("{} keeps {} busy by the model: {:.1f} cycles a turn, and waits for "
                    "nothing",
                    place(l), model->port.empty() ? "its units" : model->port, model->cycles),
        "fewer or cheaper operations"};
  return std::nullopt;
}

} // namespace kw
