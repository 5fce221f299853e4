// SPDX-License-Identifier: Apache-2.0
#include "nki/ir/program.hpp"

namespace kw::nki {

std::int64_t count_instructions(const std::vector<Node>& body) {
  std::int64_t n = 0;
  for (const Node& node : body) {
    if (const auto* loop = std::get_if<std::unique_ptr<Loop>>(&node))
      n += (*loop)->count * count_instructions((*loop)->body);
    else
      n += 1;
  }
  return n;
}

} // namespace kw::nki
