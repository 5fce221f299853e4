// SPDX-License-Identifier: Apache-2.0
#include "service/profile_sweeps.hpp"

#include "controller/recorder.hpp"
#include "judge/shape_constraints.hpp"
#include "os/cpu.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <utility>

namespace kw {
namespace {

/// Shorter calls are mostly the call itself (docs/profile.md).
constexpr double trusted_call_ns = 5000;

double confidence_of(double ns) {
  return ns >= trusted_call_ns ? 0.8 : 0.3;
}

bool over(const SweepSetting& setting) {
  return std::chrono::steady_clock::now() >= setting.until || setting.judging.stop();
}

/// Shapes along one axis of a workload.
class AxisLine {
 public:
  static Result<AxisLine> open(const Definition& definition, const Workload& base,
                               const std::string& axis) {
    const Axis* found = definition.axis(axis);
    if (found == nullptr || !found->is_variable()) {
      std::vector<std::string> variable;
      for (const Axis& a : definition.axes)
        if (a.is_variable())
          variable.push_back(a.name);
      return fail(ErrorKind::invalid_input,
                  fmt::format("`{}` has no variable axis `{}`", definition.name, axis),
                  fmt::format("sweep one of: {}", fmt::join(variable, ", ")));
    }
    for (const auto& [name, input] : base.inputs)
      if (std::holds_alternative<SafetensorsInput>(input))
        return fail(ErrorKind::unsupported,
                    fmt::format("the workload brings its input `{}`, which has one size", name),
                    "sweep over a workload whose inputs are drawn");
    AxisLine out(definition, base, axis);
    KW_TRY(out.constraints_, shape_constraints(definition));
    return out;
  }

  /// The largest shape whose calls touch at most `bytes`; nothing where not even one fits.
  [[nodiscard]] std::optional<std::pair<Workload, double>> within(double bytes) const {
    std::int64_t fits = 0, too_much = std::int64_t{1} << 40;
    while (too_much - fits > 1) {
      const std::int64_t middle = fits + (too_much - fits) / 2;
      const auto bound = at(middle);
      (bound && touched(*bound) <= bytes ? fits : too_much) = middle;
    }
    // Constraints such as a multiple of eight: the next legal one below.
    constexpr std::int64_t steps = 64;
    for (std::int64_t v = fits; v > std::max<std::int64_t>(0, fits - steps); --v)
      if (const auto bound = at(v); bound && constraints_.hold(bound->axes))
        return std::pair(bound->workload, touched(*bound));
    return std::nullopt;
  }

 private:
  AxisLine(const Definition& definition, const Workload& base, const std::string& axis)
      : definition_(definition), base_(base), axis_(axis) {}

  [[nodiscard]] std::optional<BoundWorkload> at(std::int64_t value) const {
    Workload w = base_;
    for (auto& [name, old] : w.axes)
      if (name == axis_)
        old = value;
    w.uuid = fmt::format("sweep-{}-{}", axis_, value);
    Bindings constant;
    for (const Axis& a : definition_.axes)
      if (!a.is_variable())
        constant[a.name] = static_cast<double>(*a.value);
    if (!constraints_.solve(constant, w.axes))
      return std::nullopt;
    Result<BoundWorkload> bound = bind_workload(definition_, w, nullptr);
    return bound ? std::optional(std::move(*bound)) : std::nullopt;
  }
  static double touched(const BoundWorkload& w) { return w.bytes_read + w.bytes_written; }

  const Definition& definition_;
  Workload base_;
  std::string axis_;
  ShapeConstraints constraints_;
};

std::int64_t value_of(const Workload& w, const std::string& axis) {
  for (const auto& [name, value] : w.axes)
    if (name == axis)
      return value;
  return 0;
}

/// Median call of every workload of `task`, in order, until the time is over or a call fails.
Result<std::vector<double>> call_times(const SweepSetting& setting, const Task& task, int threads,
                                       std::vector<std::string>& missing) {
  JudgingOptions judging = setting.judging;
  judging.workloads.clear();
  judging.threads = threads;
  KW_TRY(const Bench bench, open_bench(setting.workspace, task, judging, setting.builder));
  bench.judge->begin(fresh_seed());
  Verdict verdict;
  KW_TRY(Subject subject, bench.judge->admit(setting.solution, verdict));
  std::vector<double> out;
  for (std::size_t i = 0; subject.loaded() && i < bench.judge->workloads().size(); ++i) {
    if (over(setting)) {
      missing.push_back(fmt::format("{} of {} points: the time is over (--budget)",
                                    bench.judge->workloads().size() - i,
                                    bench.judge->workloads().size()));
      break;
    }
    KW_TRY(const double ns, bench.judge->call_ns(subject, i, setting.calls, verdict));
    if (verdict.finding != Finding::none) {
      missing.push_back(fmt::format("points from {} on: the kernel is wrong there: {}",
                                    bench.judge->workloads()[i].axes_text,
                                    verdict.correctness.summary));
      break;
    }
    out.push_back(ns);
  }
  return out;
}

} // namespace

std::vector<double> sweep_footprints(std::size_t l1, std::size_t l2, std::size_t last) {
  std::set<double> out;
  for (const auto& [bytes, beyond] : {std::pair{l1, 2.0}, {l2, 2.0}, {l2, 8.0}, {last, 2.0}})
    for (const double share : {0.5, beyond})
      out.insert(share * static_cast<double>(bytes));
  out.insert(static_cast<double>(l2) / 4);
  out.insert(largest_sweep);
  std::erase_if(out, [](double b) { return b <= 0 || b > largest_sweep; });
  return {out.begin(), out.end()};
}

std::vector<int> thread_counts(int most) {
  std::vector<int> out;
  for (int n = 1; n < most; n *= 2)
    out.push_back(n);
  out.push_back(most);
  return out;
}

Status sweep_sizes(const SweepSetting& setting, const std::string& axis, const Ceilings& ceilings,
                   Profile& profile) {
  const Definition& definition = setting.task.definition;
  KW_TRY(const AxisLine line, AxisLine::open(definition, setting.task.workloads.front(), axis));
  const CpuInfo& cpu = cpu_info();
  const int threads = std::max(profile.threads, 1);
  Task warm = setting.task;
  warm.workloads.clear();
  warm.definition.ext.protocol = "warm";
  std::vector<double> bytes;
  for (const double footprint :
       sweep_footprints(cpu.cache_bytes(1), cpu.cache_bytes(2), cpu.last_level_bytes())) {
    auto shape = line.within(footprint);
    if (!shape || (!bytes.empty() && shape->second <= bytes.back()))
      continue;
    warm.workloads.push_back(std::move(shape->first));
    bytes.push_back(shape->second);
  }
  const auto note = [&](const Workload& w, double touched, const std::string& level, double ns,
                        const char* source) {
    profile.sweep.push_back({.axis = axis,
                             .value = value_of(w, axis),
                             .bytes = touched,
                             .level = level,
                             .ns = ns,
                             .ns_per_byte = ns / touched,
                             .source = source,
                             .confidence = confidence_of(ns)});
  };
  std::vector<std::string> missing;
  if (!warm.workloads.empty()) {
    KW_TRY(const std::vector<double> ns, call_times(setting, warm, threads, missing));
    for (std::size_t i = 0; i < ns.size(); ++i)
      note(warm.workloads[i], bytes[i], ceilings.level_of(bytes[i], threads), ns[i],
           "judge, warm calls");
  }
  constexpr double cold_bytes = 16 << 20;
  if (auto shape = line.within(cold_bytes); shape && missing.empty()) {
    Task cold = warm;
    cold.definition.ext.protocol = "cold";
    cold.workloads = {shape->first};
    KW_TRY(const std::vector<double> ns, call_times(setting, cold, threads, missing));
    if (!ns.empty())
      note(shape->first, shape->second, "DRAM", ns.front(), "judge, caches emptied");
  }
  for (const std::string& m : missing)
    profile.missing.push_back("the size sweep: " + m);
  if (profile.sweep.empty())
    profile.missing.push_back("the size sweep: no size of " + axis + " fits");
  return {};
}

Status scale_threads(const SweepSetting& setting, int most, Profile& profile) {
  Task task = setting.task;
  task.workloads.resize(1);
  std::vector<std::string> missing;
  for (const int threads : thread_counts(most)) {
    if (!missing.empty())
      break;
    KW_TRY(const std::vector<double> ns, call_times(setting, task, threads, missing));
    if (ns.empty())
      break;
    const double one = profile.scaling.empty() ? ns.front() : profile.scaling.front().ns;
    const double speedup = ns.front() > 0 ? one / ns.front() : 0;
    profile.scaling.push_back({.threads = threads,
                               .ns = ns.front(),
                               .speedup = speedup,
                               .efficiency = speedup / threads,
                               .source = "judge",
                               .confidence = confidence_of(ns.front())});
  }
  for (const std::string& m : missing)
    profile.missing.push_back("thread scaling: " + m);
  return {};
}

} // namespace kw
