// SPDX-License-Identifier: Apache-2.0
// FlashInfer-Bench Trace records (formats.md 1.4 rules are enforced when they are written).
#pragma once

#include "model/definition.hpp"
#include "model/solution.hpp"
#include "model/workload.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kw {

struct TraceCorrectness {
  double max_relative_error = 0, max_absolute_error = 0; ///< >= 0, inf or NaN
  std::string extra;                                     ///< JSON object text, "" = null
  std::string unknown = {};
};
struct TracePerformance {
  double latency_ms = 0, reference_latency_ms = 0, speedup_factor = 0;
  std::string unknown = {};
};
struct TraceEvaluation {
  std::string status; ///< PASSED INCORRECT_SHAPE INCORRECT_NUMERICAL INCORRECT_DTYPE RUNTIME_ERROR
                      ///< COMPILE_ERROR TIMEOUT
  std::string hardware;
  std::vector<std::pair<std::string, std::string>> libs;
  std::string timestamp;
  std::string log;
  std::optional<TraceCorrectness> correctness;
  std::optional<TracePerformance> performance;
  std::string environment_unknown;
  std::string unknown;
};
struct Trace {
  std::string definition;
  Workload workload;
  std::optional<std::string> solution;
  std::optional<TraceEvaluation> evaluation;
  std::string unknown;
  std::string where; ///< "file:line" it was read from ("" if made in memory)
  [[nodiscard]] bool is_workload() const { return !solution && !evaluation; }
};

/// Everything read from one folder; see formats/trace_set.hpp.
struct TraceSet {
  std::string root;
  std::vector<Definition> definitions;
  std::map<std::string, std::vector<Workload>> workloads; ///< by definition name
  std::vector<Solution> solutions;
  std::vector<Trace> traces;

  [[nodiscard]] const Definition* definition(const std::string& name) const {
    for (const Definition& d : definitions)
      if (d.name == name)
        return &d;
    return nullptr;
  }
};

} // namespace kw
