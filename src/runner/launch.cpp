// SPDX-License-Identifier: Apache-2.0
#include "runner/launch.hpp"
#include "runner/call.hpp"
#include "runner/wire.hpp"

#include "os/random.hpp"
#include "os/sandbox_freeze.hpp"
#include "os/system_error.hpp"

#include <array>
#include <cstring>
#include <new>
#include <sys/socket.h>

namespace kw {
namespace {

std::string start_message(const SessionCore& core, const ArmSpec& spec, const Arm::State& state,
                          bool has_object) {
  std::string names = (has_object ? std::string{} : spec.object) + '\0';
  std::uint32_t entries = 0;
  if (!spec.entry.empty()) {
    names += spec.entry + '\0';
    for (const std::string& entry : spec.more_entries)
      names += entry + '\0';
    entries = static_cast<std::uint32_t>(1 + spec.more_entries.size());
  }
  protocol::StartRequest request{};
  request.magic = protocol::magic;
  request.version = protocol::version;
  request.confine = spec.kind == ArmKind::candidate ? core.confine : 0;
  request.threads = static_cast<std::uint32_t>(spec.threads);
  // The oracle works while the judge waits, on the data that the judge wrote and will read.
  request.cpu = spec.resident       ? core.options.cpu_judge
                : spec.threads == 1 ? core.options.cpu_arm
                                    : -1;
  request.has_object = has_object ? 1 : 0;
  request.input_bytes = core.inputs.bytes();
  request.output_bytes = state.outputs.bytes();
  request.workspace_bytes = core.options.workspace_capacity;
  request.entries = entries;
  request.names_bytes = static_cast<std::uint32_t>(names.size());
  std::string message(sizeof request, '\0');
  std::memcpy(message.data(), &request, sizeof request);
  return message + names;
}

Status check_spec(const ArmSpec& spec) {
  if (spec.threads < 1 || spec.threads > 1024)
    return fail(ErrorKind::invalid_input,
                "an arm runs 1 to 1024 threads, not " + std::to_string(spec.threads));
  std::size_t names = spec.object.size() + spec.entry.size() + 2;
  for (const std::string& entry : spec.more_entries)
    names += entry.size() + 1;
  if (spec.more_entries.size() + 1 > protocol::max_entries || names > protocol::max_names)
    return fail(ErrorKind::invalid_input, "an arm has at most 16 entries of 8 KiB names in all");
  return {};
}

/// Thread counts of the libraries a peer may use; candidates get an empty environment.
std::vector<std::string> peer_environment(const ArmSpec& spec) {
  std::vector<std::string> environment{"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8",
                                       "PYTHONDONTWRITEBYTECODE=1"};
  for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
                           "NUMEXPR_NUM_THREADS", "BLIS_NUM_THREADS"})
    environment.push_back(std::string{name} + "=" + std::to_string(spec.threads));
  environment.insert(environment.end(), spec.environment.begin(), spec.environment.end());
  return environment;
}

Status start_trusted(const SessionCore& core, const ArmSpec& spec, Arm::State& state,
                     const std::string& message, std::span<const int> descriptors) {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return fail_errno("create a socket for the runner");
  state.socket.reset(ends[0]);
  const UniqueFd other{ends[1]};
  SpawnSpec child;
  child.environment = peer_environment(spec);
  child.inherit = {other.get()};
  child.die_with_parent = false; // tied to the socket instead
  if (spec.kind == ArmKind::python_peer) {
    child.program = core.options.python;
    child.args = {"-c", python_peer_source(), std::to_string(other.get())};
  } else {
    child.program = core.options.runner;
    child.args = {"--arm", std::to_string(other.get())};
  }
  KW_TRY(state.process, spawn(child));
  if (const int error =
          wire::send(state.socket.get(), std::as_bytes(std::span{message}), descriptors);
      error != 0)
    return fail(system_error(error, "hand memory to the runner"));
  return {};
}

Status make_memory(const SessionCore& core, const ArmSpec& spec, Arm::State& state) {
  KW_TRY(state.judge_memory,
         SharedMemory::create("judge", protocol::page, SharedMemory::Others::read_only));
  KW_TRY(state.arm_memory,
         SharedMemory::create("arm", protocol::page, SharedMemory::Others::may_write));
  const std::size_t wanted =
      spec.output_capacity != 0 ? spec.output_capacity : core.options.output_capacity;
  KW_TRY(state.outputs, SharedMemory::create("outputs", std::max(wanted, protocol::page),
                                             SharedMemory::Others::may_write));
  state.judge = new (state.judge_memory.base()) protocol::JudgePage{};
  state.shared = new (state.arm_memory.base()) protocol::ArmPage{};
  state.judge->magic = protocol::magic;
  state.judge->version = protocol::version;
  state.judge->spin = state.spin ? 1 : 0;
  state.judge->sleeping.store(state.spin ? 0 : 1);
  state.judge->go.store(protocol::loaded_sequence);
  return {};
}

/// Waits until the object is loaded; afterwards the arm is frozen, or gone and described.
Status await_load(const SessionCore& core, Arm::State& state, LoadReport& report) {
  const std::int64_t began = monotonic_now_ns();
  const std::int64_t limit =
      std::chrono::duration_cast<std::chrono::nanoseconds>(core.options.load_timeout).count();
  const Waited waited = wait_for_done(state, protocol::loaded_sequence, began + limit, state.spin);
  if (waited == Waited::done) {
    const ChildState child = freeze_child(state.process.pid);
    state.frozen = child.event == ChildEvent::stopped;
    if (state.frozen) {
      if (state.kind == ArmKind::candidate)
        state.threads_of = list_threads(state.process.pid);
      return {};
    }
    if (child.event == ChildEvent::gone) // the signal was refused: not the candidate's doing
      return fail(system_error(child.code, "stop the kernel's process"));
    state.running = false;
    describe_end(state, child.code, child.code, child.event == ChildEvent::killed, report.end,
                 report.signal, report.detail);
    return {};
  }
  const ChildState child = kill_child(state.process.pid); // reaps a dead one
  state.running = false;
  if (waited == Waited::late) {
    report.end = CallEnd::timed_out;
    report.detail =
        "loading took more than " + std::to_string(core.options.load_timeout.count()) + " ms";
    return {};
  }
  describe_end(state, child.code, child.code, child.event == ChildEvent::killed, report.end,
               report.signal, report.detail);
  if (report.end == CallEnd::exited && child.code == protocol::exit_confine_failed)
    return fail(ErrorKind::infrastructure, "the sandbox could not be closed: " + report.detail,
                "run `kernwright doctor`");
  return {};
}

} // namespace

Result<Arm> launch_arm(const std::shared_ptr<SessionCore>& core, const ArmSpec& spec,
                       LoadReport& report) {
  KW_CHECK(check_spec(spec));
  const std::int64_t began = monotonic_now_ns();
  auto state = std::make_unique<Arm::State>();
  state->core = core;
  state->kind = spec.kind;
  state->threads = spec.threads;
  state->entry_count = 1 + spec.more_entries.size();
  state->resident = spec.resident;
  state->spin = !spec.resident && core->doorbell_for(spec.threads) == Doorbell::spin;
  state->sample_state = random_u64();
  KW_CHECK(make_memory(*core, spec, *state));
  std::vector<int> descriptors{state->judge_memory.fd(), state->arm_memory.fd(), core->inputs.fd(),
                               state->outputs.fd()};
  if (spec.kind == ArmKind::candidate) {
    UniqueFd object;
    if (!spec.object.empty()) {
      KW_TRY(object, sealed_copy(spec.object));
      descriptors.push_back(object.get());
    }
    if (!core->zygote) {
      KW_TRY(core->zygote, Zygote::start(core->options.runner, core->confine,
                                         core->sandbox.cgroup != CgroupKind::none));
    }
    auto process =
        core->zygote->request(start_message(*core, spec, *state, object.valid()), descriptors);
    if (!process) {
      core->zygote.reset(); // the next arm gets a fresh one
      return fail(std::move(process.error()));
    }
    state->process = std::move(*process);
    core->candidates.push_back(state->process.pid);
  } else {
    KW_CHECK(
        start_trusted(*core, spec, *state, start_message(*core, spec, *state, false), descriptors));
  }
  state->running = true;
  Arm arm{std::move(state)}; // kills the process on every way out from here
  report = {};
  KW_CHECK(await_load(*core, *arm.state_, report));
  report.ms = static_cast<double>(monotonic_now_ns() - began) / 1e6;
  return arm;
}

} // namespace kw
