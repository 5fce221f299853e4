// SPDX-License-Identifier: Apache-2.0
#include "runner/launch.hpp"
#include "runner/poison.hpp"
#include "runner/session_core.hpp"

#include "os/cpu.hpp"

#include <algorithm>

namespace kw {
namespace {

/// Probing starts a handful of children: once per process, unless a test denies something.
SandboxReport report_for(const SandboxDenials& deny) {
  if (deny.namespaces || deny.landlock || deny.seccomp || deny.cgroup)
    return probe_sandbox(deny);
  static const SandboxReport report = probe_sandbox();
  return report;
}

/// "T2" -> 2; -1 for anything else.
int tier_number(const std::string& tier) {
  return tier.size() == 2 && tier[0] == 'T' && tier[1] >= '0' && tier[1] <= '3' ? tier[1] - '0'
                                                                                : -1;
}

Status check_tier(const SessionOptions& options, const SandboxReport& report) {
  const int required = tier_number(options.required_tier);
  if (required < 0)
    return fail(ErrorKind::invalid_input,
                "there is no sandbox tier '" + options.required_tier + "'", "use T0, T1, T2 or T3");
  if (report.tier >= required || options.allow_weak)
    return {};
  std::string remedy;
  for (const std::string& line : report.missing)
    remedy += line + "; ";
  return fail(ErrorKind::refused,
              "this machine offers sandbox " + report.tier_name() + " (" + report.describe() +
                  "), " + options.required_tier + " is required",
              remedy + "or allow a weaker sandbox, which marks every result");
}

} // namespace

Session::Session(std::shared_ptr<SessionCore> core) : core_(std::move(core)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

Result<Session> Session::start(SessionOptions options) {
  auto core = std::make_shared<SessionCore>();
  core->sandbox = report_for(options.deny);
  KW_CHECK(check_tier(options, core->sandbox));
  core->confine = protocol::confine_always |
                  (core->sandbox.namespaces ? protocol::confine_namespaces : 0U) |
                  (core->sandbox.landlock_abi > 0 ? protocol::confine_landlock : 0U) |
                  (core->sandbox.seccomp ? protocol::confine_seccomp : 0U);
  core->cores = std::max<int>(1, static_cast<int>(affinity().size()));
  KW_TRY(core->inputs, SharedMemory::create(
                           "inputs", std::max<std::size_t>(options.input_capacity, protocol::page),
                           SharedMemory::Others::read_only));
  core->options = std::move(options);
  // It starts up while the caller compiles or draws inputs.
  KW_TRY(core->zygote, Zygote::start(core->options.runner, core->confine,
                                     core->sandbox.cgroup != CgroupKind::none));
  return Session{std::move(core)};
}

Result<Arm> Session::spawn(const ArmSpec& spec, LoadReport& report) {
  return launch_arm(core_, spec, report);
}

Result<std::vector<std::span<std::byte>>> Session::stage(std::span<const std::size_t> input_bytes,
                                                         Placement placement,
                                                         std::uint64_t canary_key) {
  SessionCore& core = *core_;
  const bool same =
      core.input_layout != 0 && placement == core.placement &&
      std::equal(input_bytes.begin(), input_bytes.end(), core.staged.begin(), core.staged.end(),
                 [](std::size_t bytes, const BufferSpan& span) { return bytes == span.bytes; });
  if (!same) {
    KW_TRY(core.staged, plan_layout(input_bytes, placement, core.inputs.bytes()));
    core.placement = placement;
    ++core.input_layout;
  }
  std::vector<std::span<std::byte>> views;
  for (const BufferSpan& span : core.staged) {
    fill_input_slack(core.inputs.base(), span, canary_key);
    views.emplace_back(core.inputs.base() + span.offset, span.bytes);
  }
  return views;
}

std::string Session::tier() const {
  return core_->sandbox.tier_name();
}
const SandboxReport& Session::sandbox() const {
  return core_->sandbox;
}

Doorbell Session::doorbell(int threads) const {
  return core_->doorbell_for(threads);
}

Result<Calibration> Session::calibrate() {
  return calibrate_doorbell(core_);
}

} // namespace kw
