// SPDX-License-Identifier: Apache-2.0
#include "base/strings.hpp"

#include <algorithm>
#include <cstdint>

namespace kw {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the optimal-string-alignment table (Damerau-Levenshtein, each place edited once).
  std::vector<std::size_t> two_up, up(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j)
    up[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({up[j] + 1, row[j - 1] + 1, up[j - 1] + (a[i - 1] == b[j - 1] ? 0u : 1u)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], two_up[j - 2] + 1);
    }
    two_up = up;
    std::swap(up, row);
  }
  return up[b.size()];
}

std::string nearest_name(std::string_view word, std::span<const std::string> candidates) {
  if (word.size() > 200) // no typo of anything; keeps hostile input from costing time
    return {};
  const std::string* best = nullptr;
  std::size_t best_distance = word.size() / 3 + 1; // one slip in three letters is still a typo
  for (const std::string& c : candidates) {
    if (c.size() > 200)
      continue;
    const std::size_t d = edit_distance(word, c);
    if (d <= best_distance && (best == nullptr || d < best_distance) && d < c.size()) {
      best = &c;
      best_distance = d;
    }
  }
  return best == nullptr ? std::string{} : *best;
}

std::size_t utf8_length(std::string_view bytes) {
  if (bytes.empty())
    return 0;
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(bytes[i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80)
    return 1;
  std::size_t length = 0;
  std::uint8_t low = 0x80, high = 0xbf; // allowed range of the second byte
  if (lead >= 0xc2 && lead <= 0xdf) {
    length = 2;
  } else if (lead >= 0xe0 && lead <= 0xef) {
    length = 3;
    low = lead == 0xe0 ? 0xa0 : 0x80;
    high = lead == 0xed ? 0x9f : 0xbf;
  } else if (lead >= 0xf0 && lead <= 0xf4) {
    length = 4;
    low = lead == 0xf0 ? 0x90 : 0x80;
    high = lead == 0xf4 ? 0x8f : 0xbf;
  } else {
    return 0;
  }
  if (bytes.size() < length || byte(1) < low || byte(1) > high)
    return 0;
  for (std::size_t i = 2; i < length; ++i)
    if (byte(i) < 0x80 || byte(i) > 0xbf)
      return 0;
  return length;
}

bool is_utf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t n = utf8_length(bytes);
    if (n == 0)
      return false;
    bytes.remove_prefix(n);
  }
  return true;
}

bool is_inner_path(std::string_view path) {
  if (path.empty() || path.find('\0') != std::string_view::npos ||
      path.find('\\') != std::string_view::npos)
    return false;
  std::size_t start = 0;
  while (true) {
    const std::size_t end = std::min(path.find('/', start), path.size());
    const std::string_view part = path.substr(start, end - start);
    if (part.empty() || part == "." || part == "..")
      return false;
    if (end == path.size())
      return true;
    start = end + 1;
  }
}

bool is_identifier(std::string_view text) {
  constexpr std::string_view letters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
  return !text.empty() && !(text[0] >= '0' && text[0] <= '9') &&
         text.find_first_not_of(letters) == std::string_view::npos;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n\f\v";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

} // namespace kw
