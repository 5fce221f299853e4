// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kw::child {

/// Serves start requests on a seqpacket socket until its other end goes away, then kills every arm
/// it made. Arms are children of the judge (so that it can wait for them), never of the zygote.
int run_zygote(int socket, std::uint32_t confine);

/// One trusted arm in this very process; it ends with the socket.
int run_trusted_arm(int socket);

} // namespace kw::child
