// SPDX-License-Identifier: Apache-2.0
// Any bytes in place of what objdump prints of a kernel's object and llvm-mca of its loops: records
// with sane numbers and names, or an error.
#include "target/cpu/object_loops.hpp"
#include "target/cpu/pipeline_estimate.hpp"

#include <cmath>
#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto e = kw::read_pipeline_estimate(text)) {
    const bool sane = std::isfinite(e->cycles) && e->cycles > 0 && e->throughput > 0 &&
                      e->ports >= 0 && e->ports <= 1 && e->dependency >= 0 && e->dependency <= 1 &&
                      e->port.size() <= 40;
    if (!sane)
      std::abort();
  } else if (e.error().message.empty()) {
    std::abort();
  }
  for (const kw::ObjectLoop& l : kw::object_loops(text, "f", {0x1000, 0x1004}))
    if (l.chased > l.loads || l.instructions <= 0 || l.share < 0 || l.share > 1)
      std::abort();
  return 0;
}
