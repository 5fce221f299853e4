// SPDX-License-Identifier: Apache-2.0
#include "runner/wire.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <sys/uio.h>

namespace kw::wire {
namespace {
constexpr std::size_t control_bytes = CMSG_SPACE(sizeof(int) * max_descriptors);
}

int send(int socket, std::span<const std::byte> bytes, std::span<const int> descriptors) {
  if (descriptors.size() > max_descriptors)
    return E2BIG;
  iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()}; // sendmsg only reads
  alignas(cmsghdr) std::array<char, control_bytes> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
  }
  ssize_t sent = 0;
  do
    sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent < 0 ? errno : 0;
}

int receive(int socket, std::size_t max_bytes, Packet& packet) {
  packet.bytes.resize(max_bytes);
  packet.descriptors.clear();
  iovec part{packet.bytes.data(), packet.bytes.size()};
  alignas(cmsghdr) std::array<char, control_bytes> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t got = 0;
  do
    got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  packet.bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  if (got < 0)
    return errno;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
      continue;
    packet.descriptors.resize((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    std::memcpy(packet.descriptors.data(), CMSG_DATA(header),
                packet.descriptors.size() * sizeof(int));
  }
  return (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0 ? EMSGSIZE : 0;
}

} // namespace kw::wire
