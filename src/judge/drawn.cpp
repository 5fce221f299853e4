// SPDX-License-Identifier: Apache-2.0
#include "judge/drawn.hpp"

#include "judge/mismatch.hpp"
#include "judge/trial.hpp"
#include "stats/goodness.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace kw {
namespace {

constexpr std::size_t tests = 5;

/// Counts against an even spread.
DrawTest even(std::string name, std::span<const std::uint64_t> counts, std::string what) {
  const std::vector<double> shares(counts.size(), 1.0 / static_cast<double>(counts.size()));
  const GTest t = g_test(counts, shares);
  return {.name = std::move(name), .asked = t.dof > 0, .p = t.p, .what = std::move(what)};
}

double percent(std::uint64_t part, std::uint64_t all) {
  return all == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(all);
}

std::uint64_t sum(std::span<const std::uint64_t> counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

/// Pairs of draws from the same sixth of the mass, which every sixth pair is by chance.
template <std::size_t N>
std::string same_part(const std::array<std::uint64_t, N>& pairs, std::size_t side, const char* of) {
  std::uint64_t same = 0;
  for (std::size_t i = 0; i < N; i += side + 1)
    same += pairs[i];
  return fmt::format("of {} {}, {:.1f} % lie in the same sixth of the mass, where independent "
                     "draws have 16.7 %",
                     sum(pairs), of, percent(same, sum(pairs)));
}

} // namespace

SamplingResult check_draws(const BoundWorkload& workload, std::size_t output,
                           std::span<const std::byte> places, std::span<const std::byte> logits,
                           const std::function<double(std::int64_t)>& share) {
  const BoundOutput& drawn = workload.outputs[output];
  KW_ASSERT(drawn.sampling.has_value());
  const BoundInput& input = workload.inputs[drawn.sampling->input];
  SamplingData data;
  data.logits_dtype = input.draw.dtype;
  data.logits = logits;
  data.places_dtype = drawn.dtype;
  data.places = places;
  data.rows = drawn.sampling->rows, data.n = drawn.sampling->n;
  data.top_p = drawn.tolerance.top_p;
  data.logits_name = input.name;
  return check_sampling(data, share);
}

void DrawTally::note(Pairs& pairs, double a, double b) {
  const auto part = [](double u) { return static_cast<std::size_t>(u * side); };
  ++pairs[part(a) * side + part(b)];
}

void DrawTally::add(const std::string& workload, std::span<const Draw> draws) {
  draws_ += draws.size();
  for (const Draw& d : draws) {
    ++by_rank_[static_cast<std::size_t>(d.by_rank * bins)];
    ++by_place_[static_cast<std::size_t>(d.by_place * bins)];
  }
  for (std::size_t i = 0; i + 1 < draws.size(); ++i)
    if (draws[i].row % 2 == 0 && draws[i + 1].row == draws[i].row + 1)
      note(rows_, draws[i].by_place, draws[i + 1].by_place);
  std::vector<Draw>& before = open_[workload];
  if (before.empty()) {
    before.assign(draws.begin(), draws.end());
    return;
  }
  for (auto a = before.begin(); const Draw& b : draws) {
    while (a != before.end() && a->row < b.row)
      ++a;
    if (a != before.end() && a->row == b.row)
      note(calls_, a->by_place, b.by_place);
  }
  before.clear(); // every call is in one pair: pairs are independent of each other
}

void DrawTally::add_reseeded(std::span<const Draw> first, std::span<const Draw> second) {
  for (auto a = first.begin(); const Draw& b : second) {
    while (a != first.end() && a->row < b.row)
      ++a;
    if (a == first.end() || a->row != b.row)
      continue;
    ++reseeded_;
    equal_ += a->place == b.place ? 1 : 0;
    equal_expected_ += b.again;
  }
}

DrawEvidence DrawTally::evidence() const {
  DrawEvidence out;
  out.draws = draws_;
  out.alarm = draw_alarm / tests;
  const auto quarter = [&](const auto& counts) {
    return percent(sum(std::span(counts).first(bins / 4)), sum(counts));
  };
  // First what should be independent: where it is not, the shares are off as well, perhaps as far.
  out.tests.push_back({.name = "seed",
                       .asked = reseeded_ > 0,
                       .p = at_least_bound(equal_, equal_expected_),
                       .what = fmt::format("{} of {} draws from the same logits with another seed "
                                           "are the same, where {:.1f} are expected",
                                           equal_, reseeded_, equal_expected_)});
  out.tests.push_back(
      even("calls", calls_, same_part(calls_, side, "pairs of a row in successive calls")));
  out.tests.push_back(even("rows", rows_, same_part(rows_, side, "pairs of neighbouring rows")));
  out.tests.push_back(even("probability", by_rank_,
                           fmt::format("the most probable quarter of the mass has {:.1f} % of "
                                       "{} draws",
                                       quarter(by_rank_), draws_)));
  out.tests.push_back(even("place", by_place_,
                           fmt::format("the first quarter of the mass, place by place, has {:.1f} "
                                       "% of {} draws",
                                       quarter(by_place_), draws_)));
  return out;
}

std::string draws_fault(const DrawEvidence& evidence) {
  const DrawTest* worst = nullptr;
  for (const DrawTest& t : evidence.tests)
    if (t.asked && t.p < (worst != nullptr ? worst->p : evidence.alarm))
      worst = &t;
  return worst == nullptr
             ? std::string()
             : fmt::format("draws do not follow the probabilities ({} test, p {}): {}", worst->name,
                           worst->p < 1e-300 ? "< 1e-300" : fmt::format("= {:.2g}", worst->p),
                           worst->what);
}

std::string draws_sentence(const DrawEvidence& evidence) {
  double least = 1;
  std::size_t asked = 0;
  for (const DrawTest& t : evidence.tests)
    if (t.asked) {
      ++asked;
      least = std::min(least, t.p);
    }
  return asked == 0
             ? fmt::format("{} draws: too few to hold them against the probabilities",
                           evidence.draws)
             : fmt::format("{} draws follow the probabilities: least p {:.2g} of {} tests (below "
                           "{:.0e} they fail)",
                           evidence.draws, least, asked, evidence.alarm);
}

SamplingResult TrialRunner::draws(std::size_t output, const CallReport& report) const {
  return check_draws(*workload_, output, report.outputs[output],
                     staged_[workload_->outputs[output].sampling->input], [&](std::int64_t row) {
                       const auto r = static_cast<std::uint64_t>(row);
                       // Not the trial's own coin, which decides what a candidate can see.
                       const std::uint64_t word = coin(~(key_.trial ^ (r << 32)));
                       return static_cast<double>(word >> 11) * 0x1p-53;
                     });
}

bool TrialRunner::check_sampling(std::size_t output, const CallReport& report,
                                 TrialResult& result) const {
  const BoundOutput& places = workload_->outputs[output];
  SamplingResult found = draws(output, report);
  if (found.bad == 0) {
    result.draws.insert(result.draws.end(), found.draws.begin(), found.draws.end());
    return true;
  }
  Mismatch m;
  m.workload = workload_->workload.uuid;
  m.input_class = std::string(name(key_.input_class));
  m.trial = key_.trial;
  m.output = places.name;
  m.at = coordinates(found.first_bad, places.shape);
  m.got = found.got, m.want = found.want;
  m.bad_elements = found.bad, m.elements = found.rows;
  m.pattern = never_written(places, report.outputs[output], found.first_bad, found.bad, key_.poison)
                  ? "poison left"
                  : name(found.fault);
  result.finding = Finding::wrong;
  result.detail =
      fmt::format("{} of {} draws of `{}` impossible on {} (inputs: {}), first at [{}]: {}",
                  found.bad, found.rows, m.output, workload_->axes_text, m.input_class,
                  fmt::join(m.at, ", "), found.words);
  result.mismatch = std::move(m);
  return false;
}

} // namespace kw
