// SPDX-License-Identifier: Apache-2.0
// Nsight Compute's metrics, by the identifiers of its raw page or the titles of its details page,
// as figures of a profile.
#pragma once

#include "model/profile.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

/// The metrics of one launch, collected one by one.
class NcuLaunch {
 public:
  explicit NcuLaunch(std::string source) : source_(std::move(source)) {}

  /// Takes what is known and is a number; anything else is passed over.
  void metric(std::string_view name, std::string_view unit, std::string_view value);
  [[nodiscard]] double ns() const { return ns_; }
  /// In a fixed order; of the stall reasons the three largest, as shares of all of them.
  [[nodiscard]] std::vector<ProfileFigure> figures() const;

  /// Whether a line of the details page starts with this title; its length, or 0.
  static std::size_t title_length(std::string_view line);

 private:
  std::string source_;
  double ns_ = 0;
  std::map<std::string, double> values_;                ///< by figure
  std::map<int, std::map<std::string, double>> stalls_; ///< by family, by reason
};

} // namespace kw
