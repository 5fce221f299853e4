// SPDX-License-Identifier: Apache-2.0
#include "service/ablation_plan.hpp"

#include "base/hash.hpp"
#include "controller/recorder.hpp"
#include "controller/regime.hpp"
#include "formats/definition_json.hpp"
#include "os/files.hpp"
#include "service/spaces.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <map>

namespace kw {
namespace {

/// Times one call of the baseline per workload and remembers it.
class Calls {
 public:
  Calls(Judge& judge, Subject& baseline) : judge_(judge), baseline_(baseline) {}

  /// Errors: a baseline that fails its own trial.
  Result<double> ns(std::size_t workload) {
    constexpr int calls = 3;
    if (const auto known = ns_.find(workload); known != ns_.end())
      return known->second;
    Verdict verdict;
    const auto began = std::chrono::steady_clock::now();
    KW_TRY(const double ns, judge_.call_ns(baseline_, workload, calls, verdict));
    seconds_[workload] =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count() / calls;
    if (verdict.finding != Finding::none || ns <= 0)
      return fail(ErrorKind::invalid_input,
                  fmt::format("the baseline fails its own trial on {}: {}",
                              judge_.workloads()[workload].axes_text, verdict.correctness.summary),
                  "run `kernwright check --run` on the operator folder");
    return ns_[workload] = ns;
  }
  /// Wall time of one verified call.
  [[nodiscard]] double slot_seconds(std::size_t workload) const { return seconds_.at(workload); }

 private:
  Judge& judge_;
  Subject& baseline_;
  std::map<std::size_t, double> ns_, seconds_;
};

/// The medoid where its call is short enough; else the costliest workload of the regime whose call
/// is; nullopt: there is none.
Result<std::optional<std::size_t>> choose(const Regime& regime,
                                          const std::vector<BoundWorkload>& workloads,
                                          const std::function<bool(std::size_t)>& timeable,
                                          double longest_ns, Calls& calls) {
  std::vector<std::size_t> order = regime.workloads;
  const double medoid_cost = cost(workloads[regime.representative]);
  std::erase_if(order,
                [&](std::size_t w) { return !timeable(w) || cost(workloads[w]) > medoid_cost; });
  if (order.empty())
    return std::optional<std::size_t>{};
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const bool first = a == regime.representative, second = b == regime.representative;
    return first != second ? first : cost(workloads[a]) > cost(workloads[b]);
  });
  // Nothing is called to find out that it takes a hundred times as long as allowed.
  constexpr double margin = 4;
  const std::size_t cheapest = order.back();
  KW_TRY(const double least_ns, calls.ns(cheapest));
  for (const std::size_t w : order) {
    if (least_ns * cost(workloads[w]) > margin * longest_ns * cost(workloads[cheapest]))
      continue;
    KW_TRY(const double ns, calls.ns(w));
    if (ns <= longest_ns)
      return std::optional(w);
  }
  return std::optional<std::size_t>{};
}

AblationWorkload entry(const BoundWorkload& w, const Regime& regime, double ns, bool medoid) {
  return {.uuid = w.workload.uuid,
          .axes = w.axes_text,
          .regime = regime.name,
          .call_ns = ns,
          .medoid = medoid};
}

} // namespace

Result<std::string> ablation_sources(const Definition& definition) {
  Digest digest;
  digest.field(definition_hash(definition));
  KW_TRY(const std::vector<LoadedSpace> spaces, load_spaces(definition));
  for (const LoadedSpace& loaded : spaces) {
    KW_TRY(const std::string space, read_file(loaded.space.file));
    digest.field(space).field(loaded.template_text);
  }
  KW_TRY(const Solution baseline, baseline_solution(definition));
  for (const SourceFile& source : baseline.sources)
    digest.field(source.path).field(source.content);
  return digest.hex();
}

Result<Task> find_ablation_task(const Workspace& workspace, const std::string& asked) {
  KW_TRY(Task task, find_task(workspace, asked));
  KW_TRY(const std::vector<LoadedSpace> spaces, load_spaces(task.definition));
  if (spaces.empty())
    return fail(ErrorKind::unsupported,
                fmt::format("`{}` has no kernel templates, so there is nothing to search",
                            task.definition.name),
                "leave it out, or give it templates (docs/tuner.md)", task.definition.file);
  return task;
}

Result<AblationTask> plan_ablation_task(const Workspace& workspace, const std::string& asked,
                                        const AblationOptions& options,
                                        const JudgingOptions& judging) {
  KW_TRY(const Task task, find_ablation_task(workspace, asked));
  KW_TRY(const std::vector<LoadedSpace> spaces, load_spaces(task.definition));
  AblationTask out{.definition = task.definition.name,
                   .asked = asked,
                   .sources = {},
                   .workloads = {},
                   .left_out = {}};
  KW_TRY(out.sources, ablation_sources(task.definition));
  KW_TRY(const Bench bench, open_bench(workspace, task, judging));
  Judge& judge = *bench.judge;
  std::vector<Space> bare;
  for (const LoadedSpace& loaded : spaces)
    bare.push_back(loaded.space);
  KW_TRY(std::vector<Regime> regimes,
         find_regimes(judge.workloads(), bare, machine_facts(judge.definition().ext.threads)));
  KW_TRY(const Solution solution, baseline_solution(judge.definition()));
  Verdict verdict;
  judge.begin(fresh_seed());
  KW_TRY(Subject baseline, judge.admit(solution, verdict));
  if (!baseline.loaded())
    return fail(ErrorKind::invalid_input,
                fmt::format("the baseline `{}` is not usable: {} {}", solution.name,
                            verdict.build.summary, verdict.sandbox.summary),
                "run `kernwright check` on the operator folder");
  Calls calls(judge, baseline);
  const double longest_ns = options.longest_call_ms * 1e6;
  std::map<std::size_t, bool> long_enough;
  for (std::size_t w = 0; w < judge.workloads().size(); ++w) {
    constexpr double surely_long = 1e6; // operations and bytes, as `optimize` has it
    const BoundWorkload& bound = judge.workloads()[w];
    bool timeable = bound.flops + bound.bytes_read + bound.bytes_written >= surely_long;
    if (!timeable) {
      KW_TRY(timeable, judge.timeable(baseline, w));
    }
    long_enough[w] = timeable && bound.timed;
  }
  const auto timeable = [&](std::size_t w) { return long_enough.at(w); };
  for (Regime& regime : regimes) {
    choose_representative(regime, judge.workloads(), timeable);
    KW_TRY(const std::optional<std::size_t> chosen,
           choose(regime, judge.workloads(), timeable, longest_ns, calls));
    if (!chosen) {
      out.left_out.push_back(
          fmt::format("{}: calls too short to be timed, or longer than {:.3g} ms", regime.name,
                      options.longest_call_ms));
      continue;
    }
    KW_TRY(const double ns, calls.ns(*chosen));
    out.workloads.push_back(
        entry(judge.workloads()[*chosen], regime, ns, *chosen == regime.representative));
    out.slot_seconds += calls.slot_seconds(*chosen);
  }
  if (out.workloads.empty())
    return fail(ErrorKind::unsupported,
                fmt::format("no workload of `{}` can be timed whose call takes {:.3g} ms or less",
                            out.definition, options.longest_call_ms),
                "allow more with --longest-call, or leave it out", task.definition.file);
  out.slot_seconds /= static_cast<double>(out.workloads.size());
  return out;
}

} // namespace kw
