// SPDX-License-Identifier: Apache-2.0
// A profile in words: the bound first, then what speaks for it, then the figures.
#pragma once

#include "model/profile.hpp"

#include <string>

namespace kw {

/// Ends with a newline.
[[nodiscard]] std::string render_profile(const Profile& profile, bool colour);

} // namespace kw
