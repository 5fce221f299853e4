// SPDX-License-Identifier: Apache-2.0
#include "zygote.hpp"

#include "arm.hpp"
#include "os/sandbox_landlock.hpp"
#include "os/sandbox_namespaces.hpp"
#include "runner/wire.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <poll.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kw::child {
namespace {

constexpr std::size_t max_message = sizeof(protocol::StartRequest) + protocol::max_names;

int send_reply(int socket, const protocol::StartReply& reply, int pidfd) {
  const std::span<const int> descriptors{&pidfd, pidfd >= 0 ? 1U : 0U};
  return wire::send(socket, std::as_bytes(std::span{&reply, 1}), descriptors);
}

/// What cannot be closed here must not be promised by the judge: 0 or an errno value.
int prepare_sandbox(std::uint32_t confine, Sandbox& sandbox) {
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
    return errno;
  if ((confine & protocol::confine_namespaces) != 0)
    if (const int error = enter_private_namespaces(); error != 0)
      return error;
  if ((confine & protocol::confine_landlock) != 0) {
    auto ruleset = make_landlock_ruleset({});
    if (!ruleset)
      return ENOSYS;
    sandbox.landlock_ruleset = ruleset->release();
  }
  if ((confine & protocol::confine_seccomp) != 0) {
    auto load = make_seccomp_program(SeccompProfile::load);
    auto kernel = make_seccomp_program(SeccompProfile::kernel);
    if (!load || !kernel)
      return ENOSYS;
    sandbox.load = std::move(*load);
    sandbox.kernel = std::move(*kernel);
  }
  return 0;
}

void close_all(const std::vector<int>& descriptors) {
  for (const int fd : descriptors)
    ::close(fd);
}

} // namespace

int run_zygote(int socket, std::uint32_t confine) {
  // It ends when the judge does, not before: an arm is the init of its own pid namespace, survives
  // everything but SIGKILL, and only this process would be left to send it.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT})
    ::signal(signal, SIG_IGN);
  Sandbox sandbox;
  const int error = prepare_sandbox(confine, sandbox);
  if (send_reply(socket, {0, error}, -1) != 0 || error != 0)
    return error == 0 ? 1 : protocol::exit_confine_failed;

  std::vector<pollfd> watched{{socket, POLLIN, 0}}; // then the pidfds of living arms
  for (;;) {
    if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR)
      break;
    const auto dead = std::remove_if(watched.begin() + 1, watched.end(), [](const pollfd& arm) {
      if (arm.revents != 0)
        ::close(arm.fd);
      return arm.revents != 0;
    });
    watched.erase(dead, watched.end());
    if (watched.front().revents == 0)
      continue;

    wire::Packet packet;
    if (wire::receive(socket, max_message, packet) != 0 || packet.bytes.empty())
      break;
    Start start;
    if (!decode_start(packet.bytes, packet.descriptors, start)) {
      close_all(packet.descriptors);
      send_reply(socket, {-1, EPROTO}, -1);
      continue;
    }
    const ForkResult child =
        fork_confined((start.request.confine & protocol::confine_namespaces) != 0, true);
    if (child.pid == 0)
      run_arm(start, &sandbox);
    close_all(start.descriptors);
    send_reply(socket, {child.pid, child.error}, child.pidfd);
    if (child.pid > 0)
      watched.push_back({child.pidfd, POLLIN, 0});
  }
  for (std::size_t i = 1; i < watched.size(); ++i)
    ::syscall(SYS_pidfd_send_signal, watched[i].fd, SIGKILL, nullptr, 0);
  return 0;
}

int run_trusted_arm(int socket) {
  wire::Packet packet;
  Start start;
  if (wire::receive(socket, max_message, packet) != 0 ||
      !decode_start(packet.bytes, packet.descriptors, start))
    return protocol::exit_protocol;
  // Nothing survives the judge: a thread waits for the socket's end.
  static int watched = socket;
  pthread_t thread{};
  const auto watch = [](void*) -> void* {
    char byte = 0;
    while (::read(watched, &byte, 1) > 0 || errno == EINTR) {
    }
    ::kill(0, SIGKILL); // the whole group: a library's helpers too
    return nullptr;
  };
  if (::pthread_create(&thread, nullptr, watch, nullptr) != 0)
    return protocol::exit_protocol;
  run_arm(start, nullptr);
}

} // namespace kw::child
