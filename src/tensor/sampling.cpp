// SPDX-License-Identifier: Apache-2.0
#include "tensor/sampling.hpp"

#include "base/result.hpp"
#include "tensor/convert.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace kw {
namespace {

/// Rounding of the shift and of the exponential, of both logits.
constexpr double equal_ulps = 4;
/// Equal logits on both sides of the end of the part matter from this mass on.
constexpr double least_doubt = 1e-3;

class Checker {
 public:
  Checker(const SamplingData& data, const std::function<double(std::int64_t)>& share)
      : d_(data), share_(share), n_(static_cast<std::size_t>(data.n)), logits_(n_), p_(n_),
        order_(n_), kept_(n_) {}

  SamplingResult run() {
    result_.rows = static_cast<std::uint64_t>(d_.rows);
    for (std::int64_t r = 0; r < d_.rows; ++r)
      row(r);
    return std::move(result_);
  }

 private:
  void row(std::int64_t r) {
    double place = 0;
    to_double(d_.places_dtype, d_.places.subspan(byte_size(d_.places_dtype, r)), {&place, 1});
    to_double(d_.logits_dtype, d_.logits.subspan(byte_size(d_.logits_dtype, r * d_.n)), logits_);
    weigh();
    if (!(place >= 0 && place < static_cast<double>(d_.n)))
      return note(r, place, SamplingFault::out_of_range,
                  fmt::format("place {} is outside [0, {})", place, d_.n));
    const auto at = static_cast<std::size_t>(place);
    if (p_[at] < impossible)
      return note(r, place, SamplingFault::impossible,
                  fmt::format("{}[{}] = {:.9g} has a probability of {:.3g}", d_.logits_name, at,
                              logits_[at], p_[at]));
    const double clearly = logits_[at] + equal_within(logits_[at]);
    const double above = mass_where([&](double l) { return l > clearly; });
    if (above >= d_.top_p + top_p_slack)
      return note(r, place, SamplingFault::outside_top_p,
                  fmt::format("{}[{}] = {:.9g}, but more probable places have {:.6g} of the mass "
                              "already, and top-p is {}",
                              d_.logits_name, at, logits_[at], above, d_.top_p));
    if (!doubtful_)
      result_.draws.push_back(draw(r, at));
  }

  /// Probabilities, their order, and the part that top-p keeps.
  void weigh() {
    const double top = *std::max_element(logits_.begin(), logits_.end());
    double sum = 0;
    for (std::size_t i = 0; i < n_; ++i)
      sum += p_[i] = std::exp(logits_[i] - top);
    for (double& p : p_)
      p /= sum;
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      return logits_[a] != logits_[b] ? logits_[a] > logits_[b] : a < b;
    });
    std::fill(kept_.begin(), kept_.end(), char{0});
    kept_mass_ = 0;
    std::size_t end = 0;
    for (; end < n_ && (d_.top_p >= 1 || kept_mass_ < d_.top_p); ++end) {
      kept_[order_[end]] = 1;
      kept_mass_ += p_[order_[end]];
    }
    const double last = logits_[order_[end - 1]], reach = equal_within(last);
    doubtful_ = end < n_ && last - logits_[order_[end]] <= reach &&
                mass_where([&](double l) { return std::fabs(l - last) <= reach; }) > least_doubt;
  }
  /// Logits this near to each other may have equal weights, or weights the other way round.
  [[nodiscard]] double equal_within(double logit) const {
    const double shifted = std::fabs(logit - logits_[order_.front()]);
    return equal_ulps * unit_roundoff(DType::float32) * (1 + shifted);
  }
  template <class Which> [[nodiscard]] double mass_where(Which which) const {
    double mass = 0;
    for (std::size_t i = 0; i < n_; ++i)
      mass += which(logits_[i]) ? p_[i] : 0;
    return mass;
  }

  [[nodiscard]] Draw draw(std::int64_t r, std::size_t at) const {
    Draw out;
    out.row = r;
    out.place = static_cast<std::int64_t>(at);
    const double own = share_(r) * p_[at];
    double before_in_rank = 0, before_in_place = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      if (!kept_[i])
        continue;
      const double share = p_[i] / kept_mass_;
      out.again += share * share;
      before_in_place += i < at ? p_[i] : 0;
      const bool ahead = logits_[i] > logits_[at] || (logits_[i] == logits_[at] && i < at);
      before_in_rank += ahead ? p_[i] : 0;
    }
    // A place within the slack of top-p has all of the part before it.
    const auto uniform = [&](double before) {
      return std::min((before + own) / kept_mass_, std::nextafter(1.0, 0.0));
    };
    out.by_rank = uniform(before_in_rank);
    out.by_place = uniform(before_in_place);
    return out;
  }

  void note(std::int64_t r, double got, SamplingFault fault, std::string words) {
    if (result_.bad++ > 0)
      return;
    result_.fault = fault;
    result_.first_bad = static_cast<std::uint64_t>(r);
    result_.got = got;
    result_.want = static_cast<double>(order_.front());
    result_.words = std::move(words);
  }

  const SamplingData& d_;
  const std::function<double(std::int64_t)>& share_;
  std::size_t n_;
  std::vector<double> logits_, p_;
  std::vector<std::size_t> order_;
  std::vector<char> kept_;
  double kept_mass_ = 0;
  bool doubtful_ = false;
  SamplingResult result_;
};

} // namespace

std::string_view name(SamplingFault f) {
  switch (f) {
  case SamplingFault::none:
    return "";
  case SamplingFault::out_of_range:
    return "no such place";
  case SamplingFault::impossible:
    return "impossible";
  case SamplingFault::outside_top_p:
    return "outside top-p";
  }
  return "";
}

SamplingResult check_sampling(const SamplingData& data,
                              const std::function<double(std::int64_t)>& share) {
  KW_ASSERT(data.rows >= 0 && data.n > 0 && data.top_p > 0);
  KW_ASSERT(data.logits.size() >= byte_size(data.logits_dtype, data.rows * data.n));
  KW_ASSERT(data.places.size() >= byte_size(data.places_dtype, data.rows));
  return Checker(data, share).run();
}

} // namespace kw
