// SPDX-License-Identifier: Apache-2.0
// What is fixed by the dialect of NKI and by the generation of the NeuronCore.
// Sources: Trainium and Trainium2 architecture guides, NKI performance guide (Neuron SDK 2.24).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kw::nki {

/// Generation of the front end: `v0_1` is neuronxcc.nki of SDK 2.24, `v0_3` is nki of SDK 2.29.
enum class Dialect : std::uint8_t { v0_1, v0_3 };
[[nodiscard]] std::string_view name(Dialect d); ///< "0.1"
[[nodiscard]] std::optional<Dialect> dialect_from_name(std::string_view s);

enum class Generation : std::uint8_t { gen2, gen3 }; ///< Trn1 and Inf2; Trn2
[[nodiscard]] std::string_view name(Generation g);
[[nodiscard]] std::optional<Generation>
generation_from_name(std::string_view s); ///< "gen2", "trn1"

/// Limits and rates of one NeuronCore.
struct Core {
  std::int64_t partitions = 128;
  std::int64_t sbuf_bytes = 0; ///< per partition
  std::int64_t psum_bank_bytes = 2048;
  std::int64_t psum_banks = 8;
  std::int64_t stationary_free = 128, moving_free = 512;
  std::int64_t bn_stats_free = 512;
  std::int64_t vector_transpose = 32; ///< most partitions and elements of a VectorE transpose
  double tensor_ghz = 0, vector_ghz = 0, scalar_ghz = 0, gpsimd_ghz = 0;
  double dma_gb_per_s = 0; ///< all sixteen queues
};
[[nodiscard]] const Core& core(Generation g);

} // namespace kw::nki
