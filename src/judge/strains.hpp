// SPDX-License-Identifier: Apache-2.0
// Where mined trials go: the places in which errors came nearest to their bounds.
#pragma once

#include "tensor/generate.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace kw {

/// How near to their bounds the errors came, by place.
class Strains {
 public:
  struct Place {
    std::size_t workload = 0;
    InputClass input_class = InputClass::normal;
    double strain = 0;
  };

  void note(std::size_t workload, InputClass input_class, double strain) {
    const auto found = std::find_if(places_.begin(), places_.end(), [&](const Place& p) {
      return p.workload == workload && p.input_class == input_class;
    });
    if (found == places_.end())
      places_.push_back({workload, input_class, strain});
    else
      found->strain = std::max(found->strain, strain);
  }

  [[nodiscard]] std::vector<Place> greatest(std::size_t most) const {
    std::vector<Place> out = places_;
    std::stable_sort(out.begin(), out.end(),
                     [](const Place& a, const Place& b) { return a.strain > b.strain; });
    out.resize(std::min(out.size(), most));
    return out;
  }

 private:
  std::vector<Place> places_;
};

} // namespace kw
