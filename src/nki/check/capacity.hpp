// SPDX-License-Identifier: Apache-2.0
// Does everything that is in use at the same time fit into SBUF and PSUM? Tensors live from the
// first instruction that names them to the last; what a loop does not share between its iterations
// takes one tile however often the loop runs.
#pragma once

#include "nki/ir/program.hpp"
#include "nki/lang/target.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace kw::nki {

/// A tensor that is live where most of the memory is used.
struct LiveTensor {
  BufferId buffer = 0;
  std::int64_t tiles = 1;               ///< at the same time
  std::int64_t bytes_per_partition = 0; ///< of all of them; PSUM: whole banks
  SourcePlace made;
};

struct MemoryUse {
  std::int64_t most = 0; ///< bytes per partition where most is in use
  std::int64_t limit = 0;
  SourcePlace where;               ///< instruction that needs it
  std::vector<LiveTensor> tensors; ///< largest first
  [[nodiscard]] bool fits() const { return most <= limit; }
};

struct Capacity {
  MemoryUse sbuf, psum;
  std::int64_t largest_instruction = 0; ///< SBUF bytes per partition of the tiles that one needs
};
[[nodiscard]] Capacity capacity_of(const Program& program, const Core& core);

} // namespace kw::nki
