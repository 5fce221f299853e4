// SPDX-License-Identifier: Apache-2.0
#include "report/ablation_report.hpp"
#include "report/escape.hpp"
#include "report/table.hpp"
#include "report/units.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace kw {
namespace {

/// Geometric mean of what a cell holds, over the seeds of one definition and arm; 0 without any.
template <class Value>
double over_seeds(const AblationReport& r, const std::string& definition, const std::string& arm,
                  Value value) {
  double sum = 0;
  int count = 0;
  for (const AblationCell& c : r.cells)
    if (c.definition == definition && c.arm == arm)
      if (const std::optional<double> v = value(c); v && *v > 0)
        sum += std::log(*v), ++count;
  return count > 0 ? std::exp(sum / count) : 0;
}

std::string csv_ratio(const std::optional<double>& value) {
  return value ? fmt::format("{:.17g}", *value) : std::string{};
}

Colour colour_of(const std::string& word) {
  return word == "faster" ? Colour::good : word == "slower" ? Colour::bad : Colour::none;
}

std::string per_definition(const AblationReport& r, bool colour) {
  std::vector<Column> columns{{"definition"}, {"workloads", Align::right}};
  const bool compared = r.reference != "baseline";
  columns.push_back({compared ? r.reference + " vs baseline" : "vs baseline", Align::right});
  for (const std::string& arm : r.arms)
    if (compared && arm != r.reference)
      columns.push_back({fmt::format("{} vs {}", arm, r.reference), Align::right});
  Table table(std::move(columns));
  for (const AblationTaskReport& task : r.tasks) {
    std::vector<Table::Cell> row{task.definition, std::to_string(task.workloads.size())};
    row.emplace_back(
        ratio_text(over_seeds(r, task.definition, compared ? r.reference : r.arms.front(),
                              [](const AblationCell& c) { return c.over_baseline; })));
    for (const std::string& arm : r.arms)
      if (compared && arm != r.reference)
        row.emplace_back(ratio_text(over_seeds(r, task.definition, arm, [](const AblationCell& c) {
          return c.unmatched.empty() ? c.over_reference : std::nullopt;
        })));
    table.row(std::move(row));
  }
  return table.text(colour);
}

} // namespace

std::string ablation_word(const AblationComparison& c) {
  if (!c.refused.empty() || c.pairs == 0)
    return "no ranking";
  return c.low > 1 ? "faster" : c.high < 1 ? "slower" : "no difference shown";
}

std::string ablation_text(const AblationReport& r, bool colour) {
  std::string out = per_definition(r, colour) + "\n";
  Table table({{"speed of"},
               {"over"},
               {"geomean", Align::right},
               {"95 %"},
               {"at least", Align::right},
               {"definitions", Align::right},
               {"pairs", Align::right},
               {"one champion", Align::right},
               {"result"}});
  for (const AblationComparison& c : r.comparisons) {
    const bool ranked = c.refused.empty() && c.pairs > 0;
    const std::string word = ablation_word(c);
    table.row({c.arm,
               c.against,
               ranked ? ratio_text(c.value) : "-",
               ranked ? interval_text(c.low, c.high) : "-",
               ranked ? ratio_text(c.low95) : "-",
               std::to_string(c.definitions),
               std::to_string(c.pairs),
               std::to_string(c.same),
               {word, colour_of(word)}});
  }
  out += table.text(colour);
  for (const AblationComparison& c : r.comparisons)
    if (!c.refused.empty())
      out += fmt::format("{} and {} are not ranked: {}\n", terminal_text(c.arm),
                         terminal_text(c.against), terminal_text(c.refused));
  for (const AblationCell& c : r.cells)
    if (!c.fault.empty())
      out += fmt::format("{} seed {} {}: the champion was {}; the baseline stands for it\n",
                         terminal_text(c.definition), c.seed, terminal_text(c.arm),
                         terminal_text(c.fault));
  out += fmt::format("\n{} evaluations per arm, {} seeds; pairs with one champion count as 1.00x "
                     "without a race; \"at least\" is the one-sided 95 % bound\n",
                     r.evaluations, r.seeds);
  if (!r.complete())
    out += fmt::format("{} of {} runs and races are done: these figures are not final\n",
                       r.steps_done, r.steps);
  return out;
}

std::string ablation_csv(const AblationReport& r) {
  std::string out = "definition,seed,arm,evaluations,seconds,build_seconds,champion,fault,"
                    "over_baseline,over_reference,same_champion,unmatched\r\n";
  for (const AblationCell& c : r.cells)
    out +=
        fmt::format("{},{},{},{},{:.17g},{:.17g},{},{},{},{},{},{}\r\n", csv_text(c.definition),
                    c.seed, csv_text(c.arm), c.evaluations, c.seconds, c.build_seconds,
                    csv_text(c.champion), csv_text(c.fault), csv_ratio(c.over_baseline),
                    csv_ratio(c.over_reference), c.same ? "true" : "false", csv_text(c.unmatched));
  return out;
}

} // namespace kw
