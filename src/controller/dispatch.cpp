// SPDX-License-Identifier: Apache-2.0
#include "controller/dispatch.hpp"

#include "controller/effect_result.hpp"
#include "judge/ratios.hpp"
#include "judge/shape_constraints.hpp"
#include "search/instantiate.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kw {
namespace {

constexpr int points_per_border = 5; ///< three place it, the two between them are held out
constexpr int cost_rounds = 5;

std::string both(const std::string& a, const std::string& b) {
  return a.empty() ? b : b.empty() ? a : fmt::format("({}) and ({})", a, b);
}

/// What is instantiated or taken as it is. `winners` keeps what the branches point into.
Branch branch_of(const SearchContext& context, const RegimeSearch& search,
                 const std::string& condition, std::deque<Winner>& winners) {
  const Winner& winner = winners.emplace_back(*search.winner());
  if (!winner.config)
    return {.when = condition, .foreign = &winner.proposal->solution};
  const LoadedSpace& loaded = search.space_of(*winner.config);
  return {.when = both(condition, axis_condition(loaded.space, context.facts)),
          .variant = {.space = &loaded.space,
                      .choice = winner.config->choice,
                      .template_text = loaded.template_text}};
}

Result<Solution> alone(const SearchContext& context, const RegimeSearch& search) {
  std::deque<Winner> winners;
  const Branch branch = branch_of(context, search, "", winners);
  if (branch.foreign != nullptr)
    return *branch.foreign;
  return instantiate(context.judge.definition(), branch.variant);
}

Result<Solution> assemble(const SearchContext& context, const std::vector<RegimeSearch>& searches,
                          const std::vector<Regime>& regimes) {
  std::deque<Winner> winners;
  std::vector<Branch> branches;
  for (std::size_t i = 0; i < searches.size(); ++i) {
    // Neighbours with one kernel are one branch.
    const bool same = i + 1 < searches.size() && !regimes[i].axis.empty() &&
                      searches[i].winner()->hypothesis == searches[i + 1].winner()->hypothesis;
    if (!same)
      branches.push_back(branch_of(context, searches[i], regimes[i].condition, winners));
  }
  // Regimes come in an order in which their conditions take every call once; a branch that takes
  // everything goes last.
  std::stable_sort(branches.begin(), branches.end(), [](const Branch& a, const Branch& b) {
    return !a.when.empty() && b.when.empty();
  });
  if (branches.size() > 1)
    return instantiate_dispatch(context.judge.definition(), branches);
  return alone(context, searches.back());
}

/// The representative of the lower regime at another value of the axis; nullopt = no legal shape.
std::optional<Workload> shape_at(const Judge& judge, const Regime& lower, const std::string& axis,
                                 std::int64_t value) {
  const BoundWorkload& like = judge.workloads()[lower.representative];
  Workload out = like.workload;
  const Result<ShapeConstraints> constraints = shape_constraints(judge.definition());
  if (!constraints)
    return std::nullopt;
  for (auto& [name, size] : out.axes)
    if (name == axis)
      size = value;
  Bindings constant;
  for (const Axis& a : judge.definition().axes)
    if (!a.is_variable())
      constant[a.name] = static_cast<double>(*a.value);
  if (!constraints->solve(constant, out.axes))
    return std::nullopt;
  Bindings all = constant;
  for (const auto& [name, size] : out.axes)
    all[name] = static_cast<double>(size);
  // An equation may have given the axis itself another value.
  if (!constraints->hold(all) || all[axis] != static_cast<double>(value))
    return std::nullopt;
  out.uuid = fmt::format("between:{}={}", axis, value);
  out.weight = 1;
  return out;
}

BorderRecord assumed(const Regime& lower, std::size_t index, std::string why) {
  return {.axis = lower.axis,
          .lower = index,
          .assumed = lower.border,
          .measured = lower.border,
          .unmeasured = std::move(why)};
}

Result<BorderRecord> measure_border(SearchContext& context,
                                    const std::vector<RegimeSearch>& searches, std::size_t index) {
  const Regime& lower = searches[index].regime();
  const Regime& upper = searches[index + 1].regime();
  if (searches[index].winner()->hypothesis == searches[index + 1].winner()->hypothesis)
    return assumed(lower, index, "both sides have the same kernel");
  if (!context.hooks.crossover)
    return assumed(lower, index, "nothing can time shapes that are not listed");
  std::vector<Workload> shapes;
  std::vector<double> values;
  for (const std::int64_t value : border_values(lower.to, upper.from, points_per_border))
    if (std::optional<Workload> shape = shape_at(context.judge, lower, lower.axis, value)) {
      shapes.push_back(std::move(*shape));
      values.push_back(static_cast<double>(value));
    }
  if (shapes.empty())
    return assumed(lower, index, "there is no legal shape between them");
  KW_TRY(const Solution below, alone(context, searches[index]));
  KW_TRY(const Solution above, alone(context, searches[index + 1]));
  context.begin_effect();
  KW_TRY(const Json measured, context.journal.once("border", lower.name, [&]() -> Result<Json> {
    const Result<std::vector<double>> ratios = context.hooks.crossover(below, above, shapes);
    if (!ratios && ratios.error().kind == ErrorKind::interrupted)
      return fail(ratios.error());
    Json json = ratios ? Json{{"higher", *ratios}} : Json{{"failed", ratios.error().message}};
    context.stamp(json);
    return json;
  }));
  context.spend(measured);
  if (const std::string why = text_in(measured, "failed"); !why.empty())
    return assumed(lower, index, why);
  BorderRecord record = assumed(lower, index, "");
  const Json ratios = measured.value("higher", Json::array());
  for (std::size_t i = 0; i < values.size() && i < ratios.size(); ++i)
    if (ratios[i].is_number())
      record.points.push_back({.at = values[i],
                               .higher = ratios[i].get<double>(),
                               .held_out = values.size() > 2 && i % 2 == 1});
  record.measured = place_border(lower.to, upper.from, lower.border, record.points);
  for (const BorderPoint& p : record.points)
    if (p.held_out) {
      ++record.held_out;
      const bool to_lower = p.at <= record.measured;
      record.held_out_agree += to_lower ? p.higher <= tolerated_loss : p.higher >= -tolerated_loss;
    }
  return record;
}

/// Each regime's representative call, through the dispatcher and without it.
Result<std::vector<DispatchCost>> measure_cost(SearchContext& context,
                                               const std::vector<RegimeSearch>& searches,
                                               const Solution& dispatched) {
  std::vector<DispatchCost> out;
  Judge& judge = context.judge;
  context.begin_effect();
  KW_TRY(const Json measured,
         context.journal.once("dispatch cost", dispatched.name, [&]() -> Result<Json> {
           Json ratios = Json::array();
           Verdict verdict;
           judge.begin(fresh_seed());
           KW_TRY(Subject whole, judge.admit(dispatched, verdict));
           for (const RegimeSearch& search : searches) {
             KW_TRY(const Solution kernel, alone(context, search));
             KW_TRY(Subject single, judge.admit(kernel, verdict));
             if (!whole.loaded() || !single.loaded()) {
               ratios.push_back(nullptr); // the final judgement says why
               continue;
             }
             Verdict unused;
             KW_TRY(
                 const ScreenReading reading,
                 judge.screen(single, whole, search.regime().representative, cost_rounds, unused));
             ratios.push_back(reading.rounds > 0 ? Json(reading.ahead) : Json(nullptr));
           }
           Json json{{"ahead", std::move(ratios)}};
           context.stamp(json);
           return json;
         }));
  context.spend(measured);
  const Json ahead = measured.value("ahead", Json::array());
  for (std::size_t i = 0; i < searches.size() && i < ahead.size(); ++i)
    if (ahead[i].is_number())
      out.push_back({.regime = i,
                     .axes = judge.workloads()[searches[i].regime().representative].axes_text,
                     .ratio = std::exp(ahead[i].get<double>())});
  return out;
}

void log(SearchContext& context, const DispatchRecord& record) {
  for (const BorderRecord& b : record.borders) {
    Json points = Json::array();
    for (const BorderPoint& p : b.points)
      points.push_back({{"at", p.at}, {"higher", p.higher}, {"held_out", p.held_out}});
    Json line{{"decision", "border"},     {"axis", b.axis},   {"assumed", b.assumed},
              {"measured", b.measured},   {"points", points}, {"held_out", b.held_out},
              {"agree", b.held_out_agree}};
    if (!b.unmeasured.empty())
      line["unmeasured"] = b.unmeasured;
    context.log.add(line);
  }
  for (const DispatchCost& c : record.costs)
    context.log.add({{"decision", "dispatch cost"}, {"axes", c.axes}, {"ratio", c.ratio}});
  if (!record.refused.empty())
    context.log.add({{"decision", "no dispatch"}, {"reason", record.refused}});
}

} // namespace

std::vector<std::int64_t> border_values(double below, double above, int count) {
  std::vector<std::int64_t> out;
  for (int i = 1; i <= count; ++i) {
    const double at = below * std::pow(above / below, static_cast<double>(i) / (count + 1));
    const auto value = static_cast<std::int64_t>(std::llround(at));
    if (static_cast<double>(value) > below && static_cast<double>(value) < above &&
        (out.empty() || out.back() != value))
      out.push_back(value);
  }
  return out;
}

double place_border(double below, double above, double assumed,
                    const std::vector<BorderPoint>& points) {
  std::vector<BorderPoint> placing;
  for (const BorderPoint& p : points)
    if (!p.held_out)
      placing.push_back(p);
  if (placing.empty())
    return assumed;
  // gain of giving the first `cut` points to the lower kernel, the rest to the higher one
  double gain = 0;
  for (const BorderPoint& p : placing)
    gain += p.higher;
  double best = gain;
  std::size_t cut = 0;
  for (std::size_t i = 0; i < placing.size(); ++i) {
    gain -= 2 * placing[i].higher;
    if (gain > best)
      best = gain, cut = i + 1;
  }
  const double low = cut == 0 ? below : placing[cut - 1].at;
  const double high = cut == placing.size() ? above : placing[cut].at;
  return std::max(low, std::min(assumed_border(low, high), high - 1));
}

Result<Solution> dispatch(SearchContext& context, const std::vector<RegimeSearch>& searches,
                          DispatchRecord& record) {
  std::vector<Regime> regimes;
  for (const RegimeSearch& search : searches)
    regimes.push_back(search.regime());
  for (std::size_t i = 0; i + 1 < regimes.size(); ++i)
    if (!regimes[i].axis.empty() && regimes[i].border > 0) {
      KW_TRY(BorderRecord border, measure_border(context, searches, i));
      regimes[i].border = border.measured;
      record.borders.push_back(std::move(border));
    }
  if (std::all_of(regimes.begin(), regimes.end(), [](const Regime& r) { return !r.axis.empty(); }))
    describe_row(regimes);
  KW_TRY(Solution whole, assemble(context, searches, regimes));
  const bool several = std::any_of(searches.begin(), searches.end(), [&](const RegimeSearch& s) {
    return s.winner()->hypothesis != searches.front().winner()->hypothesis;
  });
  if (several) {
    KW_TRY(record.costs, measure_cost(context, searches, whole));
    for (const DispatchCost& c : record.costs)
      if (std::log(c.ratio) < -tolerated_loss && record.refused.empty())
        record.refused =
            fmt::format("asking costs {:.1f} % of a call at {}", 100 * (1 / c.ratio - 1), c.axes);
    if (!record.refused.empty()) {
      KW_TRY(std::optional<Solution> one, single_kernel(context, searches));
      if (one)
        whole = std::move(*one);
      else
        record.refused.clear(); // no kernel serves all: better a dear dispatch than none
    }
  }
  log(context, record);
  return whole;
}

Result<std::optional<Solution>> single_kernel(const SearchContext& context,
                                              const std::vector<RegimeSearch>& searches) {
  const auto heaviest =
      std::max_element(searches.begin(), searches.end(), [](const auto& a, const auto& b) {
        return a.regime().weight < b.regime().weight;
      });
  const Winner winner = *heaviest->winner();
  if (winner.config &&
      !axis_condition(heaviest->space_of(*winner.config).space, context.facts).empty())
    return std::optional<Solution>{};
  KW_TRY(Solution one, alone(context, *heaviest));
  return std::optional(std::move(one));
}

} // namespace kw
