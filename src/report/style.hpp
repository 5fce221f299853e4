// SPDX-License-Identifier: Apache-2.0
// The looks of reports: colours for light and dark, charts, pages. No fonts or images from outside.
#pragma once

#include <string_view>

namespace kw {

/// Colour variables; dark where the reader's system asks for it.
[[nodiscard]] std::string_view palette_css();
/// Classes of the drawings.
[[nodiscard]] std::string_view chart_css();
/// Classes of the page.
[[nodiscard]] std::string_view page_css();

} // namespace kw
