// SPDX-License-Identifier: Apache-2.0
#include "controller/hearing.hpp"

#include "controller/effect_result.hpp"

#include <nlohmann/json.hpp>
#include <thread>

namespace kw {
namespace {

Result<Json> listen_live(SearchContext& context, double wait_seconds) {
  context.begin_effect();
  const SteadyTime began = std::chrono::steady_clock::now();
  for (;;) {
    KW_TRY(const SteeringLines said, context.hooks.steering(context.heard));
    if (said.steerings.empty() && context.hooks.stop())
      return fail(ErrorKind::interrupted, "stopped while listening to people", "");
    if (said.steerings.empty() && seconds_since(began) < wait_seconds) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      continue;
    }
    Json said_json = Json::array();
    for (const Steering& s : said.steerings)
      said_json.push_back(to_json(s));
    Json result{{"said", std::move(said_json)}, {"lines", said.lines}};
    context.stamp(result);
    return result;
  }
}

} // namespace

Result<std::vector<Steering>> hear(SearchContext& context, const std::string& key,
                                   double wait_seconds) {
  std::vector<Steering> out;
  if (!context.hooks.steering)
    return out;
  KW_TRY(const Json result,
         context.journal.once("steering", key, [&] { return listen_live(context, wait_seconds); }));
  context.spend(result);
  context.heard = static_cast<std::size_t>(number_in(result, "lines").value_or(0));
  if (!result.is_object() || !result.contains("said") || !result["said"].is_array())
    return out;
  for (const Json& one : result["said"]) {
    KW_TRY(Steering steering, steering_from_json(one));
    Json line{{"decision", "steering"}, {"at", key}};
    line["said"] = one;
    context.log.add(line);
    context.steering.push_back(steering);
    out.push_back(std::move(steering));
  }
  return out;
}

} // namespace kw
