// SPDX-License-Identifier: Apache-2.0
#include "base/result.hpp"

#include <cstdio>
#include <cstdlib>

namespace kw {

std::string Error::text() const {
  // Messages that begin with the place need it only once.
  std::string out = where.empty() || message.starts_with(where) ? message : where + ": " + message;
  if (!remedy.empty())
    out += "\n  remedy: " + remedy;
  return out;
}

void broken_invariant(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "kernwright: broken invariant %s at %s:%d (please report this)\n", condition,
               file, line);
  std::abort();
}

} // namespace kw
