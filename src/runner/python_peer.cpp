// SPDX-License-Identifier: Apache-2.0
#include "runner/launch.hpp"

extern "C" {
extern const char kw_python_peer_begin[];
extern const char kw_python_peer_end[];
}

namespace kw {

std::string python_peer_source() {
  return {kw_python_peer_begin, kw_python_peer_end};
}

} // namespace kw
