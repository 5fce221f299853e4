// SPDX-License-Identifier: Apache-2.0
#include "runner/session_core.hpp"
#include "runner/wire.hpp"

#include "os/sandbox_freeze.hpp"
#include "os/system_error.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <system_error>

namespace kw {
namespace {

constexpr int reply_timeout_ms = 5000;

/// What a dead zygote looks like depends on the moment: an empty read, a reset, a broken pipe.
tl::unexpected<Error> fail_ended() {
  return fail(ErrorKind::infrastructure, "the runner ended unexpectedly",
              "run `kernwright doctor`; kernwright and kernwright-runner must be of one build");
}

/// One reply; a silent or dead zygote is an infrastructure error.
Result<wire::Packet> receive_reply(int socket) {
  pollfd wait{socket, POLLIN, 0};
  if (::poll(&wait, 1, reply_timeout_ms) <= 0)
    return fail(ErrorKind::infrastructure, "the runner does not answer",
                "the machine may be overloaded; run the command again");
  wire::Packet packet;
  const int error = wire::receive(socket, sizeof(protocol::StartReply), packet);
  if (error != 0 && error != ECONNRESET)
    return fail(system_error(error, "hear from the runner"));
  if (error != 0 || packet.bytes.size() != sizeof(protocol::StartReply))
    return fail_ended();
  return packet;
}

protocol::StartReply reply_of(const wire::Packet& packet) {
  protocol::StartReply reply{};
  std::memcpy(&reply, packet.bytes.data(), sizeof reply);
  return reply;
}

} // namespace

Result<std::unique_ptr<ParentThread>> ParentThread::start(const SpawnSpec& child,
                                                          Spawned& started) {
  std::unique_ptr<ParentThread> parent{new ParentThread};
  std::promise<Result<Spawned>> born;
  try {
    parent->thread_ = std::thread([&born, &child, end = parent->end_.get_future()] {
      born.set_value(spawn(child));
      sigset_t all;
      ::sigfillset(&all); // only now: the child inherits the mask
      ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
      end.wait();
    });
  } catch (const std::system_error& e) {
    return fail(system_error(e.code().value(), "start a thread for the runner"));
  }
  KW_TRY(started, born.get_future().get());
  return parent;
}

ParentThread::~ParentThread() {
  end_.set_value();
  if (thread_.joinable())
    thread_.join();
}

Result<Zygote> Zygote::start(const std::string& runner, std::uint32_t confine, bool cgroup) {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return fail_errno("create a socket for the runner");
  Zygote zygote;
  zygote.socket_.reset(ends[0]);
  const UniqueFd other{ends[1]};
  SpawnSpec spec;
  spec.program = runner;
  spec.args = {"--zygote", std::to_string(other.get()), std::to_string(confine)};
  // Restartable sequences would let a kernel take control whenever the runner is interrupted.
  spec.environment = {"GLIBC_TUNABLES=glibc.pthread.rseq=0"};
  spec.inherit = {other.get()};
  spec.die_with_parent =
      false; // tied to the socket instead: the starting thread may well end first
  KW_TRY(zygote.parent_, ParentThread::start(spec, zygote.process_));
  if (cgroup) {
    // Shared memory is charged to the judge, who touches it first: this is scratch and stacks.
    KW_TRY(zygote.cgroup_, SandboxCgroup::create(std::uint64_t{4} << 30, 4096));
    KW_CHECK(zygote.cgroup_->add(zygote.process_.pid));
  }
  return zygote;
}

Zygote::~Zygote() {
  if (!process_.pidfd.valid()) // moved from
    return;
  socket_.reset(); // it kills its arms and leaves
  pollfd wait{process_.pidfd.get(), POLLIN, 0};
  if (::poll(&wait, 1, 1000) > 0)
    poll_child(process_.pid);
  else
    kill_child(process_.pid);
}

Status Zygote::wait_until_ready() {
  if (ready_)
    return {};
  KW_TRY(const wire::Packet packet, receive_reply(socket_.get()));
  if (const int error = reply_of(packet).error; error != 0)
    return fail(system_error(error, "close the sandbox of the runner"));
  ready_ = true;
  return {};
}

Result<Spawned> Zygote::request(const std::string& message, std::span<const int> descriptors) {
  KW_CHECK(wait_until_ready());
  const int error = wire::send(socket_.get(), std::as_bytes(std::span{message}), descriptors);
  if (error == EPIPE || error == ECONNRESET)
    return fail_ended();
  if (error != 0)
    return fail(system_error(error, "ask the runner for a process"));
  KW_TRY(const wire::Packet packet, receive_reply(socket_.get()));
  Spawned arm;
  if (!packet.descriptors.empty())
    arm.pidfd.reset(packet.descriptors.front());
  const protocol::StartReply reply = reply_of(packet);
  if (reply.error != 0)
    return fail(system_error(reply.error, "start a process for the kernel"));
  arm.pid = reply.pid;
  return arm;
}

} // namespace kw
