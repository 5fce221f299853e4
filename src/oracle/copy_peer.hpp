// SPDX-License-Identifier: Apache-2.0
// A streaming copy with a Definition's own footprint: reads every input byte, writes every output
// byte, computes nothing. Timed on the same doorbell it is the floor of a memory-bound kernel.
#pragma once

#include "model/definition.hpp"

#include <string>

namespace kw {

/// C++ source of such a kernel; `streaming` = non-temporal stores. Entry "kw_copy", same prototype
/// as a candidate's.
[[nodiscard]] std::string copy_peer_source(const Definition& definition, bool streaming);

/// The two peers ("copy", "copy-nt") of kind "copy": their outputs are not checked.
[[nodiscard]] std::vector<PeerSpec> copy_peers(const Definition& definition);

} // namespace kw
