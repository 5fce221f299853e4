// SPDX-License-Identifier: Apache-2.0
#include "formats/gpu_reading.hpp"

#include "base/strings.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <utility>

namespace kw {
namespace {

/// True where `mark` splits `text` into groups of three digits after a first one of one to three.
bool groups_of_three(std::string_view text, char mark) {
  std::size_t since = 0, groups = 0;
  for (const char c : text) {
    if (c == mark) {
      if (since == 0 || since > 3 || (groups > 0 && since != 3))
        return false;
      since = 0;
      ++groups;
    } else {
      ++since;
    }
  }
  return groups > 0 && since == 3;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

} // namespace

std::optional<double> printed_number(std::string_view text) {
  std::string digits;
  text = trim(text);
  const bool minus = text.starts_with('-');
  for (const char c : text.substr(minus ? 1 : 0))
    if (c != ' ' && c != '\'' && c != '\xc2' && c != '\xa0') // 0xc2 0xa0: a non-breaking space
      digits += c;
  const std::size_t comma = digits.rfind(','), point = digits.rfind('.');
  char decimal = '.';
  if (comma != std::string::npos && point != std::string::npos)
    decimal = comma > point ? ',' : '.';
  else if (comma != std::string::npos)
    decimal = groups_of_three(digits, ',') ? '.' : ',';
  else if (point != std::string::npos && digits.find('.') != point)
    decimal = groups_of_three(digits, '.') ? ',' : '.';
  const char group = decimal == '.' ? ',' : '.';
  const std::string_view whole = std::string_view(digits).substr(0, digits.find(decimal));
  if (whole.find(group) != std::string_view::npos && !groups_of_three(whole, group))
    return std::nullopt;
  std::erase(digits, group);
  std::replace(digits.begin(), digits.end(), ',', '.');
  if (digits.empty() || !(std::isdigit(static_cast<unsigned char>(digits[0])) || digits[0] == '.'))
    return std::nullopt;
  double value = 0;
  const char* end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, value);
  if (read.ec != std::errc{} || read.ptr != end || !std::isfinite(value))
    return std::nullopt;
  return minus ? -value : value;
}

double nanoseconds_in(std::string_view unit) {
  const std::string u = lower(trim(unit));
  for (const auto& [names, factor] :
       {std::pair{std::array{"ns", "nsecond", "nanosecond", "nanoseconds"}, 1.0},
        std::pair{std::array{"us", "usecond", "microsecond", "microseconds"}, 1e3},
        std::pair{std::array{"ms", "msecond", "millisecond", "milliseconds"}, 1e6},
        std::pair{std::array{"s", "second", "sec", "seconds"}, 1e9}})
    if (std::find(names.begin(), names.end(), u) != names.end())
      return factor;
  return 0;
}

double bytes_in(std::string_view unit) {
  std::string u = lower(trim(unit));
  u = u.substr(0, u.find('/'));
  double factor = 1;
  for (const auto& [prefix, power] : {std::pair{'k', 1}, std::pair{'m', 2}, std::pair{'g', 3}})
    if (u.starts_with(prefix)) {
      const bool binary = u.size() > 1 && u[1] == 'i';
      factor = std::pow(binary ? 1024.0 : 1000.0, power);
      u.erase(0, binary ? 2 : 1);
      break;
    }
  return u == "b" || u == "byte" || u == "bytes" ? factor : 0;
}

void GpuReading::add(const std::string& kernel, double ns, std::vector<ProfileFigure> of_launch,
                     int launches) {
  KernelReading& k = kernels[kernel];
  k.total_ns += ns * launches;
  if (k.launches == 0 || ns > k.slowest_ns) {
    k.slowest_ns = ns;
    k.figures = std::move(of_launch);
  }
  k.launches = std::min(k.launches, 1'000'000'000) + std::clamp(launches, 1, 1'000'000'000);
}

void add_gaps(std::vector<GpuInterval> busy, const std::string& source,
              std::vector<ProfileFigure>& figures) {
  if (busy.size() < 2)
    return;
  std::ranges::sort(busy, {}, &GpuInterval::begin);
  std::vector<double> gaps;
  double end = busy.front().end, idle = 0;
  for (const GpuInterval& i : busy) {
    if (&i != &busy.front()) {
      gaps.push_back(std::max(0.0, i.begin - end));
      idle += gaps.back();
    }
    end = std::max(end, i.end);
  }
  const double span = end - busy.front().begin;
  if (!(span > 0) || !std::isfinite(span))
    return;
  const auto middle = gaps.begin() + std::ssize(gaps) / 2;
  std::ranges::nth_element(gaps, middle);
  figures.push_back({"idle_share", std::min(idle / span, 1.0), "", source, 0.9});
  figures.push_back({"launch_gap", *middle, "ns", source, 0.9});
}

Result<Profile> dominant_kernel(GpuReading reading, const std::string& where) {
  if (reading.kernels.empty())
    return fail(ErrorKind::invalid_input, "there is no kernel in this " + reading.source,
                "profile a run that launches a kernel, and export that kernel's rows", where);
  double all = 0;
  for (const auto& [name, k] : reading.kernels)
    all += k.total_ns;
  const auto most = std::ranges::max_element(
      reading.kernels, {}, [](const auto& entry) { return entry.second.total_ns; });
  KernelReading& k = most->second;
  Profile p;
  p.solution = most->first;
  const auto say = [&](const char* name, double value, const char* unit, double confidence) {
    p.figures.push_back({name, value, unit, reading.source, confidence});
  };
  if (all > 0 && std::isfinite(all)) {
    say("kernel_time", k.total_ns / k.launches, "ns", reading.time_confidence);
    say("kernel_share", k.total_ns / all, "", reading.time_confidence);
  } else {
    reading.missing.push_back("the kernel's time: this export names none");
  }
  say("launches", k.launches, "launches", 1);
  std::ranges::move(k.figures, std::back_inserter(p.figures));
  std::ranges::move(reading.figures, std::back_inserter(p.figures));
  p.missing = std::move(reading.missing);
  if (p.figure("idle_share") == nullptr)
    p.missing.push_back("launch gaps: they need a timeline (nsys cuda_gpu_trace, torch trace)");
  if (p.figure("sm_share") == nullptr || p.figure("memory_share") == nullptr)
    p.missing.push_back("use of multiprocessors and memory: counters that ncu reads");
  return p;
}

} // namespace kw
