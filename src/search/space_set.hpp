// SPDX-License-Identifier: Apache-2.0
// All spaces of one Definition that apply to one workload on one machine. The template is a
// dimension: a Config says which space it is of.
#pragma once

#include "search/random.hpp"
#include "search/space.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

class SpaceSet {
 public:
  /// `context` binds Definition and workload axes and machine facts (docs/tuner.md). Spaces whose
  /// `applies` is false here, or that have no legal configuration here, are left out. Errors: no
  /// space left, an expression that names neither a parameter nor something in `context`, doubled
  /// space names, a parameter with the name of an axis.
  /// None given: an empty set, in which nothing is legal.
  static Result<SpaceSet> bind(std::vector<Space> spaces, const Bindings& context);

  [[nodiscard]] const std::vector<Space>& spaces() const { return spaces_; }
  /// "NAME: why" for every space that is not in the set.
  [[nodiscard]] const std::vector<std::string>& left_out() const { return left_out_; }
  /// A predicate that cannot be evaluated for a configuration (division by zero) is false.
  [[nodiscard]] bool legal(const Config& config) const;

  /// Every legal configuration in a fixed order, until `visit` returns false. Predicates prune as
  /// soon as their parameters are bound, so this is lazy and usually far below the full product.
  void for_each(const std::function<bool(const Config&)>& visit) const;
  /// Legal configurations, counted up to `limit`.
  [[nodiscard]] std::size_t count(std::size_t limit) const;
  /// All legal configurations, if there are at most `listed_limit`; else empty.
  [[nodiscard]] const std::vector<Config>& listed() const { return listed_; }
  static constexpr std::size_t listed_limit = 50'000; ///< scored whole in about 3 ms

  /// Uniform over the listed configurations; in big spaces uniform over spaces, then by rejection,
  /// and where legal points are too rare for that, by a random depth-first walk.
  [[nodiscard]] Config random(Random& chance) const;
  /// Legal configurations that differ in one parameter; with the `adjacent` ones first (next
  /// smaller and larger value of ordered parameters).
  [[nodiscard]] std::vector<Config> neighbours(const Config& config) const;
  /// Legal seeds of all spaces, in file order.
  [[nodiscard]] std::vector<Config> seeds() const;

  /// "space=gemm-packed MR=6 NR=16": parameters in file order.
  [[nodiscard]] std::string text(const Config& config) const;
  /// Inverse of text; `space=` may be absent if there is one space. Errors: unknown names or
  /// values, a missing parameter. Does not ask whether it is legal.
  [[nodiscard]] Result<Config> parse(std::string_view text) const;
  /// 64-bit FNV-1a of text(): the same on every machine.
  [[nodiscard]] std::uint64_t hash(const Config& config) const;

 private:
  /// Predicates of one space, by the last parameter they need.
  struct Bound {
    Bindings names;                                    ///< context, plus a slot for every parameter
    std::vector<std::vector<std::size_t>> ready_after; ///< [parameter] -> indices into Space::legal
    std::vector<std::size_t> constant;                 ///< predicates that need no parameter
  };
  struct Walk;
  friend struct Walk;

  std::vector<Space> spaces_;
  std::vector<Bound> bound_;
  std::vector<std::string> left_out_;
  std::vector<Config> listed_;
};

} // namespace kw
