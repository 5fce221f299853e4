// SPDX-License-Identifier: Apache-2.0
// Trusted peers (OpenBLAS, PyTorch ...): timed on the same doorbell as candidates, unsandboxed,
// never promotable.
#pragma once

#include "base/result.hpp"
#include "model/definition.hpp"
#include "oracle/oracle.hpp"
#include "runner/session.hpp"

namespace kw {

/// Errors: `unsupported` when the library or Python module is not installed (with the remedy).
Result<ArmSpec> prepare_peer(const PeerSpec& peer, const Definition& definition,
                             const OracleContext& context);

} // namespace kw
