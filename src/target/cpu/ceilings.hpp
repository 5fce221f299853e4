// SPDX-License-Identifier: Apache-2.0
// What this machine can do at most: measured, never assumed. Feeds the roofline floor (a kernel
// "faster" than physics is refused) and `kernwright doctor`.
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace kw {

/// Bandwidth of one footprint and read:write mix on a shared memory mapping (as kernels get), bytes
/// moved per second, write-allocate not counted; the better of plain and non-temporal stores.
struct BandwidthCeiling {
  std::string level;                       ///< "L1", "L2", "L3", "memory"
  std::size_t footprint = 0;               ///< bytes touched per pass and thread
  int reads = 1, writes = 0;               ///< mix, per element
  double plain_1 = 0, streaming_1 = 0;     ///< bytes/s, one thread; streaming = non-temporal stores
  double plain_all = 0, streaming_all = 0; ///< bytes/s, all threads together
};

struct Ceilings {
  std::string cpu;                       ///< model and cores they were measured on
  double fma_f32_1 = 0, fma_f32_all = 0; ///< FLOP/s, widest vectors, 2 per fused multiply-add
  double fma_f32_256_1 = 0, fma_f32_256_all = 0;
  std::vector<BandwidthCeiling> bandwidth;

  /// Least ns for this traffic over buffers that were just touched: what a cache level holds moves
  /// at its speed, only the rest at the next level's. 0 if nothing was measured.
  [[nodiscard]] double transfer_ns(double bytes_read, double bytes_written, int threads) const;
  /// The same where every cache is cold: all of it at the speed of the last level.
  [[nodiscard]] double cold_transfer_ns(double bytes_read, double bytes_written, int threads) const;
  /// The level that so many bytes fit: "L1", "L2", "L3", else "DRAM".
  [[nodiscard]] std::string level_of(double bytes, int threads) const;
  /// max(flops / peak, transfer_ns) in ns; 0 if nothing was measured.
  [[nodiscard]] double floor_ns(double flops, double bytes_read, double bytes_written,
                                int threads) const;
};

/// Takes about 5 s. Run it with nothing else on the machine.
Ceilings measure_ceilings();

/// The better of two measurements, figure by figure.
[[nodiscard]] Ceilings best_of(const Ceilings& a, const Ceilings& b);
/// Measures again and stores the better of old and new. Errors: the folder cannot be written.
Result<Ceilings> improve_ceilings(const std::string& folder);

/// From `folder`/ceilings.json. Errors: not_found when there is none for this CPU.
Result<Ceilings> stored_ceilings(const std::string& folder);
/// From `folder`/ceilings.json if it was measured on this CPU, else measured and stored there.
Result<Ceilings> cached_ceilings(const std::string& folder, bool refresh);

} // namespace kw
