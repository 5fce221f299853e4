// SPDX-License-Identifier: Apache-2.0
// How long a traced kernel would take on a NeuronCore: its instructions in program order on their
// engines, each as soon as what it reads is there. A model, not a measurement.
// Sources: instruction costs of the nki.isa reference (Neuron SDK 2.24), rates of the Trainium
// architecture guide; the constants below are fitted (docs/nki.md).
#pragma once

#include "nki/ir/program.hpp"
#include "nki/lang/target.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kw::nki {

/// Fitted to measured kernels; everything else is documented.
struct CostConstants {
  double dma_latency_ns = 2000; ///< from the start of a transfer to its first byte
  double dma_half_bytes = 128;  ///< length of a contiguous run at which half the rate is lost
  double semaphore_cycles = 64; ///< to see what another engine has done
  double issue_cycles = 16;     ///< between two instructions of one engine
};

struct CostOptions {
  Generation generation = Generation::gen2;
  CostConstants constants;
  std::int64_t most_events = 0; ///< kept for a picture of the schedule
};

/// One instruction on its engine.
struct CostEvent {
  std::string_view api;
  Engine engine = Engine::none;
  double start_ns = 0, busy_ns = 0;
  std::int32_t line = 0;
};

struct CostReport {
  double latency_ns = 0;
  std::array<double, 6> busy_ns{}; ///< by Engine
  Engine bound = Engine::none;     ///< the busiest
  std::int64_t instructions = 0;
  double hbm_read_bytes = 0, hbm_write_bytes = 0, sbuf_read_bytes = 0, sbuf_write_bytes = 0,
         psum_read_bytes = 0, psum_write_bytes = 0;
  double hardware_flops = 0; ///< of TensorE, transposes among them
  double transpose_flops = 0;
  double floor_bytes = 0; ///< parameters read once and results written once
  std::vector<CostEvent> events;

  [[nodiscard]] double waste() const { ///< HBM bytes per byte of the floor
    return floor_bytes > 0 ? (hbm_read_bytes + hbm_write_bytes) / floor_bytes : 0;
  }
};
[[nodiscard]] CostReport cost_of(const Program& program, const CostOptions& options);

/// Cycles that an instruction keeps its engine; DMA has none.
[[nodiscard]] double cycles_of(const Instruction& i, const Program& program);

} // namespace kw::nki
