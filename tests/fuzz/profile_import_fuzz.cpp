// SPDX-License-Identifier: Apache-2.0
// Any bytes to each reader of profilers' exports: a profile whose figures have names and values, or
// an error that says where. The first byte chooses the reader.
#include "formats/profile_import.hpp"

#include <array>
#include <cmath>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  if (size == 0)
    return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  constexpr std::array readers{kw::read_ncu_csv, kw::read_ncu_text, kw::read_nsys_csv,
                               kw::read_torch_trace, kw::read_profile_export};
  const auto profile = readers[data[0] % readers.size()](text, "fuzz");
  if (!profile) {
    KW_ASSERT(!profile.error().message.empty() && profile.error().where.starts_with("fuzz"));
    return 0;
  }
  for (const kw::ProfileFigure& f : profile->figures)
    KW_ASSERT(!f.name.empty() && !std::isnan(f.value));
  return 0;
}
