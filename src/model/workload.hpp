// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace kw {

struct RandomInput {
  std::string unknown = {}; ///< e.g. `seed`, which upstream writes in places and reads nowhere
};
struct ScalarInput {
  double value = 0;
  enum class Written { integer, floating, boolean } written = Written::floating;
  std::string unknown = {};
};
struct SafetensorsInput {
  std::string path; ///< relative to the trace-set root, or absolute
  std::string tensor_key;
  std::string unknown = {};
};
using InputSpec = std::variant<RandomInput, ScalarInput, SafetensorsInput>;

/// One concrete binding of the variable axes and inputs of a Definition.
struct Workload {
  std::string uuid;
  std::vector<std::pair<std::string, std::int64_t>> axes; ///< in file order
  std::vector<std::pair<std::string, InputSpec>> inputs;  ///< missing entry = random
  double weight = 1; ///< x_kernwright.weight: share of trials and of the weighted objective
  std::string unknown;
  std::string where;         ///< "file:line" it was read from ("" if made in memory)
  std::string trace_unknown; ///< unknown keys of the Trace line around it, as JSON text
};

} // namespace kw
