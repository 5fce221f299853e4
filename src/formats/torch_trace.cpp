// SPDX-License-Identifier: Apache-2.0
// {"traceEvents": [{"ph": "X", "cat": "kernel", "name", "ts", "dur" (us), "args": {...}}, ...]}, or
// that list alone. Copies and fills (gpu_memcpy, gpu_memset) keep the GPU busy, but are no kernels.
#include "base/json.hpp"
#include "formats/gpu_reading.hpp"
#include "formats/profile_import.hpp"

#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <utility>

namespace kw {
namespace {

constexpr const char* source = "torch trace";

std::string text_of(const Json& event, const char* key) {
  const auto at = event.find(key);
  return at != event.end() && at->is_string() ? at->get<std::string>() : std::string();
}
std::optional<double> number_of(const Json& object, const char* key) {
  const auto at = object.find(key);
  if (at == object.end())
    return std::nullopt;
  const std::optional<double> value = lenient_number(*at);
  return value && std::isfinite(*value) && *value >= 0 ? value : std::nullopt;
}

std::vector<ProfileFigure> figures_of(const Json& event) {
  std::vector<ProfileFigure> out;
  const auto args = event.find("args");
  if (args == event.end() || !args->is_object())
    return out;
  const auto take = [&](const char* key, const char* name, const char* unit, double confidence,
                        double factor = 1) {
    if (const auto value = number_of(*args, key))
      out.push_back({name, *value * factor, unit, source, confidence});
  };
  // An estimate from the launch's shape alone; nobody measured it.
  take("est. achieved occupancy %", "achieved_occupancy", "", 0.5, 0.01);
  take("blocks per SM", "blocks_per_sm", "blocks", 0.95);
  take("registers per thread", "registers", "per thread", 0.95);
  take("shared memory", "shared_memory", "bytes per block", 0.95);
  return out;
}

} // namespace

Result<Profile> read_torch_trace(std::string_view text, const std::string& file) {
  const JsonSource json{.file = file, .text = text};
  KW_TRY(const Json document, parse_json(json));
  std::string pointer;
  const Json* events = &document;
  if (document.is_object()) {
    pointer = "/traceEvents";
    const auto at = document.find("traceEvents");
    events = at == document.end() ? nullptr : &*at;
  }
  if (events == nullptr || !events->is_array())
    return fail(ErrorKind::invalid_input, "there is no list `traceEvents`",
                "import what torch.profiler's `export_chrome_trace` wrote", locate(json, pointer));
  GpuReading reading{
      .source = source,
      .time_confidence = 0.9,
      .kernels = {},
      .figures = {},
      .missing = {"waves per SM, theoretical occupancy, stall reasons: ncu has them"}};
  std::vector<GpuInterval> busy;
  for (std::size_t i = 0; i < events->size(); ++i) {
    const Json& event = (*events)[i];
    if (!event.is_object() || text_of(event, "ph") != "X")
      continue;
    const std::string category = text_of(event, "cat");
    const bool kernel = category == "kernel" || category == "Kernel";
    if (!kernel && category != "gpu_memcpy" && category != "gpu_memset")
      continue;
    const std::optional<double> start = number_of(event, "ts"), us = number_of(event, "dur");
    if (!start || !us)
      return fail(ErrorKind::invalid_input, "the event has no usable `ts` and `dur`",
                  "export the trace again with torch.profiler",
                  locate(json, fmt::format("{}/{}", pointer, i)));
    busy.push_back({*start * 1e3, (*start + *us) * 1e3});
    if (kernel)
      reading.add(text_of(event, "name"), *us * 1e3, figures_of(event));
  }
  add_gaps(std::move(busy), source, reading.figures);
  return dominant_kernel(std::move(reading), file);
}

} // namespace kw
