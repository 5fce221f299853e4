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

constexpr double least_share = 0.1; ///< of the samples, for loops with one cause
constexpr const char* fewer_bytes = "fewer bytes: fuse passes, keep rows in the cache, narrower "
                                    "types; non-temporal stores for what is not read again";

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
    } else if (bytes < at_ceiling && among_threads()) {
      // A tail may leave two thirds of the units at work: asked before the FLOP ceiling.
    } else if (flops >= at_ceiling && bytes >= at_ceiling) {
      say("mixed", 0.8, shares(), "only less work helps: fewer operations and fewer bytes");
    } else if (flops >= at_ceiling) {
      say("compute", 0.9, shares(), "fewer or cheaper operations; wider or narrower types");
    } else if (bytes >= at_ceiling && p_.level == "L1") {
      say("load_store", 0.9, shares(), "fewer loads and stores: more work per value loaded");
    } else if (bytes >= at_ceiling) {
      say("memory", 0.9, shares(), fewer_bytes);
    } else {
      inside();
    }
    if (state_.word == "memory")
      state_.level = p_.level;
    return std::move(state_);
  }

 private:
  [[nodiscard]] double value(const char* name) const {
    const ProfileFigure* f = p_.figure(name);
    return f == nullptr ? 0 : f->value;
  }
  [[nodiscard]] bool has(const char* name) const { return p_.figure(name) != nullptr; }

  /// What only several threads can be held up by.
  bool among_threads() {
    if (p_.threads < 2)
      return false;
    // Threads in a queue for a line take turns unevenly: the loop says more than the balance.
    for (const ObjectLoop& l : p_.loops)
      if (l.hot && l.atomics > 0 && weight(l) >= hot_share) {
        const std::optional<LoopCause> cause = cause_of(l, p_);
        say(cause->word.c_str(), cause->confidence, cause->evidence, cause->next);
        return true;
      }
    const double busy = value("thread_balance");
    const std::string evidence = fmt::format(
        "on average a thread computes for {:.0f} % of the time that the busiest does", 100 * busy);
    const bool uneven = has("thread_balance") && busy < even_threads;
    if (uneven && value("least_thread") < idle_thread) {
      say("threading", 0.8, evidence + ": not all take part",
          "hand out tasks by kw_parallel_for, at least one per thread");
      return true;
    }
    if (value("task_overhead") >= task_overhead) {
      say("launch", 0.8,
          fmt::format("helper threads spend {:.0f} % of their samples where tasks are handed out",
                      100 * value("task_overhead")),
          "more work per task");
      return true;
    }
    if (uneven) {
      say("tail", 0.8, evidence, "smaller tasks, the largest first, or tasks of equal size");
      return true;
    }
    if (has("thread_efficiency") && value("thread_efficiency") < scales) {
      say("threading", 0.8,
          fmt::format("{} threads are {:.2f} times as fast as one", p_.threads,
                      p_.threads * value("thread_efficiency")),
          "no locks, atomics or lines that several threads write; sums per thread, joined at the "
          "end");
      return true;
    }
    return false;
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
    const LoopCause* worst = nullptr;
    std::vector<std::pair<LoopCause, double>> causes;
    for (const ObjectLoop& l : p_.loops)
      if (const std::optional<LoopCause> cause = cause_of(l, p_); cause && weight(l) > 0)
        causes.emplace_back(*cause, weight(l));
    for (const auto& [cause, share] : causes)
      time[cause.word] += share;
    double most = 0;
    for (const auto& [cause, share] : causes)
      if (time[cause.word] > most)
        most = time[cause.word], worst = &cause;
    if (most < least_share) // next to no time is spent where the cause is
      worst = nullptr;
    if (worst == nullptr && has(("cliff_" + p_.level).c_str())) {
      say("memory", 0.6,
          fmt::format("a byte takes {:.1f} times as long as in the level before {}",
                      value(("cliff_" + p_.level).c_str()), p_.level),
          "blocks that stay in a nearer cache");
      return;
    }
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

  /// Samples say how much a loop matters; without them the one marked hot stands for all.
  [[nodiscard]] double weight(const ObjectLoop& l) const {
    const bool sampled = std::any_of(p_.loops.begin(), p_.loops.end(),
                                     [](const ObjectLoop& o) { return o.share > 0; });
    return sampled ? l.share : l.hot ? l.confidence : 0;
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
