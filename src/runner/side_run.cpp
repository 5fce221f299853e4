// SPDX-License-Identifier: Apache-2.0
#include "runner/side_run.hpp"

#include "os/files.hpp"
#include "os/process.hpp"
#include "os/sandbox_side.hpp"
#include "os/temp_dir.hpp"
#include "runner/side/wire.hpp"

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <fmt/format.h>
#include <sys/stat.h>

extern "C" {
extern const char kw_side_driver_begin[];
extern const char kw_side_driver_end[];
extern const char kw_side_wire_begin[];
extern const char kw_side_wire_end[];
}

namespace kw {
namespace {

constexpr std::size_t line = 64;
constexpr std::size_t max_log = std::size_t{64} << 10;

std::size_t rounded(std::size_t bytes) {
  return (bytes + line - 1) / line * line;
}

bool is_buffer(const SideArgument& a) {
  return a.kind == SideArgument::Kind::input || a.kind == SideArgument::Kind::output;
}

std::uint32_t wire_kind(SideArgument::Kind kind) {
  switch (kind) {
  case SideArgument::Kind::input:
    return side::Argument::input;
  case SideArgument::Kind::output:
    return side::Argument::output;
  case SideArgument::Kind::integer:
    return side::Argument::integer;
  case SideArgument::Kind::floating:
    return side::Argument::floating;
  }
  return side::Argument::integer;
}

template <class T> void put(std::byte* base, std::size_t offset, const T& value) {
  std::memcpy(base + offset, &value, sizeof value);
}
/// The process is gone, but whatever it left may be anything.
template <class T> T get(const std::byte* base, std::size_t offset) {
  T value;
  std::memcpy(&value, base + offset, sizeof value);
  return value;
}

std::size_t trial_offset(std::size_t trial) {
  return sizeof(side::Header) + trial * sizeof(side::Trial);
}

} // namespace

std::vector<SideDriverFile> side_driver_sources() {
  return {{"driver.cpp", {kw_side_driver_begin, kw_side_driver_end}},
          {"wire.hpp", {kw_side_wire_begin, kw_side_wire_end}}};
}

Result<SideRun> SideRun::create(std::vector<SideTrial> trials) {
  SideRun run;
  std::size_t arguments = trial_offset(trials.size()), at = arguments;
  for (const SideTrial& trial : trials) {
    const auto floats = std::count_if(trial.begin(), trial.end(), [](const SideArgument& a) {
      return a.kind == SideArgument::Kind::floating;
    });
    if (trial.size() > 38 || floats > 8) // 6 registers and 32 on the stack; side/driver.cpp
      return fail(ErrorKind::unsupported,
                  "a side run passes at most 8 floats and 38 arguments in all");
    at += trial.size() * sizeof(side::Argument);
  }
  for (const SideTrial& trial : trials) {
    std::vector<std::size_t>& offsets = run.offsets_.emplace_back();
    for (const SideArgument& a : trial) {
      at = rounded(at);
      offsets.push_back(at);
      at += is_buffer(a) ? a.bytes : 0;
    }
  }
  KW_TRY(run.memory_, SharedMemory::create("side-run", std::max<std::size_t>(rounded(at), 4096),
                                           SharedMemory::Others::may_write));
  std::byte* base = run.memory_.base();
  for (std::size_t t = 0; t < trials.size(); ++t) {
    put(base, trial_offset(t),
        side::Trial{arguments, static_cast<std::uint32_t>(trials[t].size()), 0});
    for (std::size_t i = 0; i < trials[t].size(); ++i) {
      const SideArgument& a = trials[t][i];
      put(base, arguments,
          side::Argument{wire_kind(a.kind), 0, a.bits, run.offsets_[t][i], a.bytes});
      arguments += sizeof(side::Argument);
    }
  }
  run.trials_ = std::move(trials);
  return run;
}

void SideRun::set(std::size_t trial, std::size_t argument, std::uint64_t bits) {
  const auto header = get<side::Trial>(memory_.base(), trial_offset(trial));
  put(memory_.base(),
      header.arguments + argument * sizeof(side::Argument) + offsetof(side::Argument, bits), bits);
}

std::span<std::byte> SideRun::buffer(std::size_t trial, std::size_t argument) const {
  const SideArgument& a = trials_.at(trial).at(argument);
  return {memory_.base() + offsets_[trial][argument], is_buffer(a) ? a.bytes : 0};
}

Result<SideRunReport> SideRun::run(const SideRunSpec& spec) {
  std::byte* base = memory_.base();
  side::Header header{};
  header.magic = side::magic;
  header.trials = static_cast<std::uint32_t>(trials_.size());
  header.threads = static_cast<std::uint32_t>(spec.threads);
  header.workspace_bytes = spec.workspace_bytes;
  header.bytes = memory_.bytes();
  put(base, 0, header);

  // Cached objects carry no right to be executed.
  KW_TRY(const TempDir folder, TempDir::create("kernwright-side"));
  KW_TRY(const std::string program, read_file(spec.driver));
  const std::string driver = folder.file("driver");
  KW_CHECK(write_file_atomic(driver, program, 0555));

  SideSandbox rules;
  rules.read_only = {driver, spec.object};
  rules.cpu_seconds = static_cast<std::uint64_t>(spec.wall.count() / 1000 + 1) *
                      static_cast<std::uint64_t>(spec.threads);
  rules.threads = static_cast<std::uint64_t>(spec.threads) * 2;
  rules.deny = spec.deny;
  KW_TRY(const PreparedSideSandbox sandbox, PreparedSideSandbox::prepare(rules));

  ChildSpec child;
  child.program = driver;
  child.args = {std::to_string(memory_.fd()), spec.object, spec.entry};
  child.environment = spec.environment;
  if (!sandbox.limits_memory())
    for (std::string& options : child.environment)
      if (options.starts_with("ASAN_OPTIONS=") || options.starts_with("TSAN_OPTIONS="))
        options += fmt::format(":hard_rss_limit_mb={}", rules.memory_bytes >> 20);
  child.cwd = "/";
  child.timeout = spec.wall;
  child.max_output = max_log;
  child.inherit = {memory_.fd()};
  child.prepare = sandbox.hook();
  KW_TRY(const ChildReport ended, run_child(child));

  SideRunReport report;
  header = get<side::Header>(base, 0);
  report.reached_kernel = header.stage != side::started;
  report.calls = std::min<std::size_t>(header.done, trials_.size());
  report.completed = ended.ok() && report.calls == trials_.size();
  // Nothing of the sandbox kills by SIGKILL but the limits of the control group.
  report.timed_out = ended.timed_out || ended.signal == SIGKILL || ended.signal == SIGXCPU;
  report.ending = ended.ending();
  report.log = ended.err;
  report.ms = ended.wall_ms;
  for (std::size_t t = 0; t < trials_.size(); ++t)
    report.return_codes.push_back(get<side::Trial>(base, trial_offset(t)).return_code);
  if (!report.reached_kernel && !report.timed_out)
    return fail(ErrorKind::infrastructure,
                fmt::format("the sanitized side run did not come to the kernel ({}): {}",
                            report.ending, report.log.substr(0, 300)),
                "run `kernwright doctor`; --sanitize=none does without");
  return report;
}

} // namespace kw
