// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.hpp"

#include <string>

namespace kw {

struct PackRequest {
  std::string name, definition, author, entry;
};

struct Packed {
  std::string name, fib_hash;
  std::size_t sources = 0;
};

/// Recursive; every error names its file.
Result<Packed> pack_to_file(const std::string& from, const std::string& to,
                            const PackRequest& request);
Result<Packed> unpack_to_folder(const std::string& from, const std::string& folder);

} // namespace kw
