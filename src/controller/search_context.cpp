// SPDX-License-Identifier: Apache-2.0
#include "controller/search_context.hpp"

#include "controller/effect_result.hpp"

#include <nlohmann/json.hpp>

namespace kw {

void SearchContext::begin_effect() {
  mark = std::chrono::steady_clock::now();
  cpu_mark = process_cpu_seconds();
}

void SearchContext::stamp(Json& result) {
  result["seconds"] = seconds_since(mark);
  result["cpu_seconds"] = process_cpu_seconds() - cpu_mark;
  begin_effect();
}

void SearchContext::spend(const Json& result) {
  spent += number_in(result, "seconds").value_or(0.0);
  cpu_spent += number_in(result, "cpu_seconds").value_or(0.0);
  built += number_in(result, "build_seconds").value_or(0.0);
}

} // namespace kw
