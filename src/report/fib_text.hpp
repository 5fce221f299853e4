// SPDX-License-Identifier: Apache-2.0
// The verdict flashinfer-bench would give, in words.
#pragma once

#include "model/verdict.hpp"

#include <string>

namespace kw {

/// Whether upstream's rule and ours say opposite things about the outputs.
[[nodiscard]] bool fib_differs(const Verdict& verdict);
/// "3 of 3 trials matched ...; differs because ..." without the status; "" if nothing is known.
[[nodiscard]] std::string fib_sentence(const Verdict& verdict);

} // namespace kw
