// SPDX-License-Identifier: Apache-2.0
#include "os/cpu.hpp"

#include "os/files.hpp"
#include "os/system_error.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace kw {
namespace {

std::string_view trim(std::string_view s) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\n'; };
  while (!s.empty() && blank(s.front()))
    s.remove_prefix(1);
  while (!s.empty() && blank(s.back()))
    s.remove_suffix(1);
  return s;
}

template <class T> T number(std::string_view s, T fallback) {
  T value{};
  const auto [end, ec] = std::from_chars(s.data(), s.data() + s.size(), value);
  return ec == std::errc() && end != s.data() ? value : fallback;
}

std::string sys_text(const std::string& path) {
  Result<std::string> text = read_file(path, 1 << 16);
  return text ? std::string(trim(*text)) : std::string{};
}

/// "48K" or "2M" as /sys writes sizes.
std::size_t size_of(std::string_view s) {
  const auto value = number<std::size_t>(s, 0);
  if (s.ends_with('K'))
    return value << 10;
  return s.ends_with('M') ? value << 20 : value;
}

/// Members of a CPU list such as "0-3,8".
int list_count(std::string_view s) {
  int count = 0;
  while (!s.empty()) {
    const std::string_view item = s.substr(0, s.find(','));
    s.remove_prefix(std::min(s.size(), item.size() + 1));
    const std::size_t dash = item.find('-');
    const int low = number(item, 0);
    count += dash == std::string_view::npos ? 1 : number(item.substr(dash + 1), low) - low + 1;
  }
  return count;
}

std::vector<CacheLevel> read_caches() {
  std::vector<CacheLevel> out;
  for (int i = 0; i < 16; ++i) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}", i);
    if (!is_dir(folder))
      break;
    CacheLevel cache;
    cache.level = number(std::string_view(sys_text(folder + "/level")), 0);
    cache.type = sys_text(folder + "/type");
    cache.bytes = size_of(sys_text(folder + "/size"));
    cache.line = number<std::size_t>(sys_text(folder + "/coherency_line_size"), 64);
    cache.shared_by = std::max(1, list_count(sys_text(folder + "/shared_cpu_list")));
    out.push_back(std::move(cache));
  }
  return out;
}

} // namespace

bool CpuInfo::has(std::string_view flag) const {
  return std::binary_search(flags.begin(), flags.end(), flag);
}

std::size_t CpuInfo::cache_bytes(int level) const {
  for (const CacheLevel& c : caches)
    if (c.level == level && c.type != "Instruction")
      return c.bytes;
  return 0;
}

std::size_t CpuInfo::last_level_bytes() const {
  int last = 0;
  for (const CacheLevel& c : caches)
    last = std::max(last, c.level);
  return cache_bytes(last);
}

std::string CpuInfo::describe() const {
  return fmt::format("{}, {} core{}", model.empty() ? arch : model, online, online == 1 ? "" : "s");
}

CpuInfo parse_cpuinfo(std::string_view text) {
  CpuInfo cpu;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.empty())
      break; // the first processor ends here
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos)
      continue;
    const std::string_view key = trim(line.substr(0, colon));
    std::string_view value = trim(line.substr(colon + 1));
    if (key == "vendor_id")
      cpu.vendor = value;
    else if (key == "model name")
      cpu.model = value;
    else if (key == "cpu family")
      cpu.family = number(value, 0);
    else if (key == "model")
      cpu.model_number = number(value, 0);
    else if (key == "stepping")
      cpu.stepping = number(value, 0);
    else if (key == "flags" || key == "Features") // Features: arm64
      while (!value.empty()) {
        const std::string_view flag = value.substr(0, value.find(' '));
        value.remove_prefix(std::min(value.size(), flag.size() + 1));
        if (!flag.empty())
          cpu.flags.emplace_back(flag);
      }
  }
  std::sort(cpu.flags.begin(), cpu.flags.end());
  return cpu;
}

const CpuInfo& cpu_info() {
  static const CpuInfo info = [] {
    CpuInfo cpu = parse_cpuinfo(read_file("/proc/cpuinfo", 16 << 20).value_or(""));
    utsname names{};
    if (::uname(&names) == 0)
      cpu.arch = names.machine;
    cpu.online = static_cast<int>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
    cpu.caches = read_caches();
    return cpu;
  }();
  return info;
}

std::vector<int> affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> out;
  if (::sched_getaffinity(0, sizeof set, &set) == 0)
    for (int i = 0; i < CPU_SETSIZE; ++i)
      if (CPU_ISSET(i, &set))
        out.push_back(i);
  return out;
}

Status set_affinity(const std::vector<int>& cpus, int thread) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) {
    if (cpu < 0 || cpu >= CPU_SETSIZE)
      return fail(ErrorKind::invalid_input, fmt::format("there is no CPU {}", cpu),
                  "choose from the CPUs listed by `kernwright doctor`");
    CPU_SET(static_cast<unsigned>(cpu), &set);
  }
  if (::sched_setaffinity(thread, sizeof set, &set) != 0)
    return fail(system_error(errno, fmt::format("pin to CPUs {}", fmt::join(cpus, ","))));
  return {};
}

} // namespace kw
