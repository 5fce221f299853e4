// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

/// Least number of insertions, deletions, replacements and swaps of neighbours from `a` to `b`.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate most like `word`, for "did you mean"; "" when none is close enough to be a typo.
[[nodiscard]] std::string nearest_name(std::string_view word,
                                       std::span<const std::string> candidates);

/// True when every byte belongs to well-formed UTF-8 (no surrogates, no overlong forms).
[[nodiscard]] bool is_utf8(std::string_view bytes);

/// Length of the well-formed UTF-8 sequence at the start of `bytes`, 0 if there is none.
[[nodiscard]] std::size_t utf8_length(std::string_view bytes);

/// True for a path that stays below the folder it is joined to: relative, '/'-separated, not empty,
/// no "..", ".", empty or NUL-carrying component.
[[nodiscard]] bool is_inner_path(std::string_view path);

/// True for a name of C, C++ and Python: ASCII letters, digits and _, not a digit first.
[[nodiscard]] bool is_identifier(std::string_view text);

[[nodiscard]] std::string_view trim(std::string_view text);

} // namespace kw
