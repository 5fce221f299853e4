// SPDX-License-Identifier: Apache-2.0
#include "nki/lang/target.hpp"

namespace kw::nki {

std::string_view name(Dialect d) {
  return d == Dialect::v0_1 ? "0.1" : "0.3";
}
std::optional<Dialect> dialect_from_name(std::string_view s) {
  if (s == "0.1")
    return Dialect::v0_1;
  if (s == "0.3")
    return Dialect::v0_3;
  return std::nullopt;
}

std::string_view name(Generation g) {
  return g == Generation::gen2 ? "gen2" : "gen3";
}
std::optional<Generation> generation_from_name(std::string_view s) {
  if (s == "gen2" || s == "trn1" || s == "inf2")
    return Generation::gen2;
  if (s == "gen3" || s == "trn2")
    return Generation::gen3;
  return std::nullopt;
}

const Core& core(Generation g) {
  static const Core gen2 = {.sbuf_bytes = 192 << 10,
                            .tensor_ghz = 2.8,
                            .vector_ghz = 1.12,
                            .scalar_ghz = 1.4,
                            .gpsimd_ghz = 1.4,
                            .dma_gb_per_s = 16 * 17};
  static const Core gen3 = {.sbuf_bytes = 224 << 10,
                            .tensor_ghz = 2.4,
                            .vector_ghz = 0.96,
                            .scalar_ghz = 1.2,
                            .gpsimd_ghz = 1.2,
                            .dma_gb_per_s = 16 * 23};
  return g == Generation::gen2 ? gen2 : gen3;
}

} // namespace kw::nki
