// SPDX-License-Identifier: Apache-2.0
// One datagram with descriptors over a seqpacket socket. Plain errno values: the runner side has no
// use for sentences.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace kw::wire {

inline constexpr std::size_t max_descriptors = 8;

struct Packet {
  std::string bytes;            ///< empty at the end of the stream
  std::vector<int> descriptors; ///< owned by the receiver, close-on-exec
};

/// 0 or an errno value.
int send(int socket, std::span<const std::byte> bytes, std::span<const int> descriptors);
/// 0 (end of stream: no bytes) or an errno value.
int receive(int socket, std::size_t max_bytes, Packet& packet);

} // namespace kw::wire
