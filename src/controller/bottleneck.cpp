// SPDX-License-Identifier: Apache-2.0
#include "controller/bottleneck.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace kw {
namespace {

using namespace bottleneck;

class Classifier {
 public:
  explicit Classifier(const Profile& profile) : p_(profile) {}

  BottleneckState run() {
    const double flops = value("flop_share"), bytes = value("bandwidth_share");
    if (const double nearest = std::max(flops, bytes); nearest > 0)
      state_.headroom = 1 / nearest;
    if (value("call") > 0 && value("call") < short_call_ns) {
      say("launch", 0.9,
          fmt::format("a call takes {:.1f} us: below {:.0f} us most of it is the call itself",
                      value("call") / 1e3, short_call_ns / 1e3),
          "do more work in one call: fuse with what comes before or after");
    } else if (flops >= at_ceiling && bytes >= at_ceiling) {
      say("mixed", 0.8, shares(), "only less work helps: fewer operations and fewer bytes");
    } else if (flops >= at_ceiling) {
      say("compute", 0.9, shares(), "fewer or cheaper operations; wider or narrower types");
    } else if (bytes >= at_ceiling) {
      say("memory", 0.9, shares(),
          "fewer bytes: fuse passes, keep rows in the cache, narrower "
          "types; non-temporal stores for what is not read again");
    } else {
      inside();
    }
    return std::move(state_);
  }

 private:
  [[nodiscard]] double value(const char* name) const {
    const ProfileFigure* f = p_.figure(name);
    return f == nullptr ? 0 : f->value;
  }
  [[nodiscard]] std::string shares() const {
    return fmt::format("{:.0f} % of the FLOP ceiling, {:.0f} % of the bandwidth that fits its "
                       "footprint",
                       100 * value("flop_share"), 100 * value("bandwidth_share"));
  }
  void say(const char* word, double confidence, std::string evidence, std::string next) {
    state_.word = word;
    state_.confidence = confidence;
    state_.evidence.push_back(std::move(evidence));
    advise(std::move(next));
  }
  void advise(std::string next) {
    if (!next.empty() &&
        std::find(state_.next.begin(), state_.next.end(), next) == state_.next.end())
      state_.next.push_back(std::move(next));
  }

  /// Far from both ceilings: something in the loops keeps it there.
  void inside() {
    if (p_.figure("flop_share") != nullptr)
      state_.evidence.push_back("far from both ceilings: " + shares());
    const double reorder = value("fast_math");
    if (reorder > 0 && reorder <= reorder_helps) {
      say("vectorisation", 0.85,
          fmt::format("with sums in any order it takes {:.2f} of the time: the order of the source "
                      "keeps the compiler from vectors",
                      reorder),
          "several sums side by side, joined after the loop");
      return remarks();
    }
    std::map<std::string, double> time; // by word: share of the samples, or 1 for the hot loop
    const Cause* worst = nullptr;
    std::vector<std::pair<Cause, double>> causes;
    for (const ObjectLoop& l : p_.loops)
      if (const std::optional<Cause> cause = cause_of(l); cause && weight(l) > 0)
        causes.emplace_back(*cause, weight(l));
    for (const auto& [cause, share] : causes)
      time[cause.word] += share;
    double most = 0;
    for (const auto& [cause, share] : causes)
      if (time[cause.word] > most)
        most = time[cause.word], worst = &cause;
    if (worst == nullptr) {
      state_.evidence.emplace_back("no rule fits what was measured");
      state_.next.emplace_back("look at the hot loop below; profile other shapes");
      return;
    }
    for (const auto& [cause, share] : causes)
      if (cause.word == worst->word) {
        state_.evidence.push_back(cause.evidence);
        advise(cause.next);
      }
    state_.word = worst->word;
    state_.confidence = worst->confidence * std::min(most, 1.0);
    if (state_.word == "vectorisation")
      remarks();
  }

  struct Cause {
    std::string word;
    double confidence = 0;
    std::string evidence, next;
  };

  /// Samples say how much a loop matters; without them the one marked hot stands for all.
  [[nodiscard]] double weight(const ObjectLoop& l) const {
    const bool sampled = std::any_of(p_.loops.begin(), p_.loops.end(),
                                     [](const ObjectLoop& o) { return o.share > 0; });
    return sampled ? l.share : l.hot ? l.confidence : 0;
  }

  static std::optional<Cause> cause_of(const ObjectLoop& l) {
    const int all = l.packed + l.scalar;
    const std::string where =
        l.line > 0 ? fmt::format("the loop at {}:{}", l.file, l.line) : "the loop in " + l.function;
    if (l.calls > 0)
      return Cause{"vectorisation", 0.9, fmt::format("{} calls a function in every turn", where),
                   "write the function as a polynomial in vectors"};
    if (all > 0 && l.scalar >= scalar_share * all)
      return Cause{"vectorisation", 0.9,
                   fmt::format("{} of {} floating-point instructions of {} are scalar", l.scalar,
                               all, where),
                   "several sums side by side, joined after the loop; no branches in it"};
    if (all > 0 && l.divides >= many_divides * all)
      return Cause{"latency", 0.8,
                   fmt::format("{} of {} floating-point instructions of {} divide or take roots, "
                               "some ten cycles each",
                               l.divides, all, where),
                   "multiply by a reciprocal taken once, or refine an approximate one"};
    if (l.gathers > 0)
      return Cause{"latency", 0.7,
                   fmt::format("{} gathers or scatters: an access per element", where),
                   "lay the data out in the order in which it is used"};
    if (all > 0 && l.accumulators > 0 && l.stores == 0 && l.accumulators <= few_sums * enough_sums)
      return Cause{"dependency", 0.8,
                   fmt::format("{} carries {} sum{} from turn to turn; {} side by side hide the "
                               "latency of a multiply-add",
                               where, l.accumulators, l.accumulators == 1 ? "" : "s", enough_sums),
                   "more accumulators: unroll, or compute several rows at once"};
    const double moves = std::max(l.loads / 2.0, 1.0 * l.stores);
    if (all > 0 && moves >= moves_over_work * all / 2)
      return Cause{"load_store", 0.7,
                   fmt::format("{} loads {} and stores {} times for {} floating-point instructions",
                               where, l.loads, l.stores, all),
                   "keep running values in registers: smaller tiles, more work per value loaded"};
    return std::nullopt;
  }

  void remarks() {
    for (const LoopRemark& r : p_.remarks) {
      if (r.vectorized)
        continue;
      state_.evidence.push_back(fmt::format("{}:{}: {}", r.file, r.line, r.text));
      advise(advice_for(r.code));
    }
  }
  static std::string advice_for(const std::string& code) {
    if (code == "reduction_order")
      return "several sums side by side, joined after the loop";
    if (code == "call")
      return "write the function as a polynomial in vectors";
    if (code == "control_flow")
      return "turn the branch into a select: compute both, keep one";
    if (code == "dependence")
      return "split the loop where one turn needs another's result, or scan in blocks";
    if (code == "trip_count")
      return "a loop whose end is known before it starts";
    if (code == "access_pattern")
      return "read along the last axis, copy what is strided into a buffer first";
    return {};
  }

  const Profile& p_;
  BottleneckState state_;
};

} // namespace

BottleneckState classify(const Profile& profile) {
  return Classifier(profile).run();
}

} // namespace kw
