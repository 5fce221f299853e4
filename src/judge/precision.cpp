// SPDX-License-Identifier: Apache-2.0
// A candidate's error may be kappa times the larger of the baseline's error and a floor: 4 times
// for the largest error, 2 times for the RMS (as tests of attention kernels do, against a plain
// implementation). The floor, two units for the largest error and half a unit for the RMS, is what
// keeps a baseline in a lucky order of sums from setting the bar: a plain loop over products of
// both signs has an RMS of about 0.45 units, and over 2,048 of them, the largest error of 512
// elements was above 3.6 in 1 of 100 tensors and 5.4 at most in 3,000. Inputs of one sign are left
// out, since there orders do differ.
//
// Without magnitudes a unit knows nothing of the length of a sum, and honest orders differ by as
// much as sqrt(lanes): only the RMS counts, with 8 times.
//
// On sums that are exact in float32 in any order a baseline makes no error. A candidate that does,
// beyond the last digit and in more than 1 % of the elements, computes in less.
#include "judge/precision.hpp"

#include "judge/trial.hpp"
#include "os/files.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace kw {
namespace {

constexpr double kappa_rms = 2, kappa_max = 4, kappa_without_magnitudes = 8;
constexpr double floor_rms = 0.5, floor_max = 2;
constexpr double inexact_share = 0.01, exact_share = 0.001;
constexpr std::uint64_t least_elements = 64; ///< fewer say nothing about an RMS
constexpr std::size_t most_workloads = 4;
constexpr double most_cost = 2e9; ///< of one call, as cost() counts

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

bool exact(const PrecisionPool& p) {
  return is_exact_probe(p.input_class) && p.baseline.elements > 0 &&
         share(p.baseline.inexact, p.baseline.elements) <= exact_share;
}

/// Above 1 = plainly coarser than the baseline.
double excess(const PrecisionPool& p) {
  if (exact(p))
    return share(p.candidate.beyond_rounding, p.candidate.elements) / inexact_share;
  if (p.candidate.elements < least_elements || is_exact_probe(p.input_class))
    return 0;
  if (!p.magnitudes)
    return p.candidate.rms() / (kappa_without_magnitudes * std::max(p.baseline.rms(), floor_rms));
  return std::max(p.candidate.rms() / (kappa_rms * std::max(p.baseline.rms(), floor_rms)),
                  p.candidate.max / (kappa_max * std::max(p.baseline.max, floor_max)));
}

double ratio(const PrecisionPool& p) {
  if (p.baseline.rms() > 0)
    return p.candidate.rms() / p.baseline.rms();
  return p.candidate.rms() > 0 ? std::numeric_limits<double>::infinity() : 1;
}

std::string times(double ratio) {
  return std::isfinite(ratio) ? fmt::format("{:.2g}x", ratio) : "many times";
}

} // namespace

std::optional<Solution> trusted_baseline(const Definition& definition) {
  if (!definition.ext.baseline)
    return std::nullopt;
  const BaselineSpec& spec = *definition.ext.baseline;
  Solution out;
  out.name = spec.name;
  out.definition = definition.name;
  out.author = "baseline";
  out.spec.entry_point = base_name(spec.source) + "::" + spec.entry;
  out.spec.binding = "kernwright";
  out.sources = {{.path = base_name(spec.source), .content = spec.source_text}};
  return out;
}

bool is_exact_probe(InputClass c) {
  return c == InputClass::wide_mantissa || c == InputClass::small_integers;
}

std::vector<std::size_t> precision_workloads(const std::vector<BoundWorkload>& workloads) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < workloads.size(); ++i)
    if (workloads[i].flops <= full_oracle_flops)
      out.push_back(i);
  std::stable_sort(out.begin(), out.end(), [&](std::size_t a, std::size_t b) {
    return cost(workloads[a]) < cost(workloads[b]);
  });
  while (out.size() > 1 && cost(workloads[out.back()]) > most_cost)
    out.pop_back();
  if (out.size() <= most_workloads)
    return out;
  std::vector<std::size_t> spread;
  for (std::size_t i = 0; i < most_workloads; ++i)
    spread.push_back(out[i * (out.size() - 1) / (most_workloads - 1)]);
  return spread;
}

std::vector<InputClass> precision_classes(const BoundWorkload& workload) {
  const std::vector<InputClass> legal = classes_of(workload);
  std::vector<InputClass> out;
  for (const InputClass c : {InputClass::normal, InputClass::row_scales, InputClass::wide_mantissa,
                             InputClass::small_integers})
    if (std::find(legal.begin(), legal.end(), c) != legal.end())
      out.push_back(c);
  return out;
}

PrecisionEvidence weigh(const std::vector<PrecisionPool>& pools, const std::string& baseline) {
  PrecisionEvidence out;
  out.baseline = baseline;
  const PrecisionPool* worst = nullptr;
  double most = -1;
  for (const PrecisionPool& p : pools) {
    // An exact probe that holds says that it holds; the figures are those of ordinary values.
    const double e = exact(p) && excess(p) <= 1 ? -1 : excess(p);
    out.exact_probes += exact(p) ? 1 : 0;
    if (p.candidate.elements > 0 && (!is_exact_probe(p.input_class) || exact(p)) && e > most)
      most = e, worst = &p;
  }
  if (worst == nullptr) {
    out.summary =
        "not compared with the baseline: no inputs of both signs, or every workload too large";
    return out;
  }
  out.output = worst->output;
  out.input_class = std::string(name(worst->input_class));
  out.candidate_rms = worst->candidate.rms(), out.baseline_rms = worst->baseline.rms();
  out.candidate_max = worst->candidate.max, out.baseline_max = worst->baseline.max;
  out.ratio = ratio(*worst);
  out.excess = most;
  out.word = most > 1 ? reduced_precision : "AS_BASELINE";
  const std::string where = fmt::format("`{}`, inputs: {}", out.output, out.input_class);
  if (most <= 1)
    out.summary = fmt::format("error {} of {}'s ({}){}", times(out.ratio), baseline, where,
                              out.exact_probes > 0 ? ", exact where that one is" : "");
  else if (exact(*worst))
    out.summary = fmt::format(
        "{:.3g} % of elements are wrong beyond the last digit where float32 sums are exact in any "
        "order, as {} shows ({})",
        100 * share(worst->candidate.beyond_rounding, worst->candidate.elements), baseline, where);
  else
    out.summary = fmt::format(
        "error {} of {}'s on the same inputs ({}): RMS {:.2g} against {:.2g} rounding units, "
        "largest {:.2g} against {:.2g}",
        times(out.ratio), baseline, where, out.candidate_rms, out.baseline_rms, out.candidate_max,
        out.baseline_max);
  return out;
}

} // namespace kw
