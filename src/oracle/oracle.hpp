// SPDX-License-Identifier: Apache-2.0
// The trusted high-precision evaluation of a Definition. It is data: compiled (C++) or interpreted
// (Python) at run time in a process of its own, on the same doorbell as every other arm.
#pragma once

#include "base/result.hpp"
#include "compile/build.hpp"
#include "model/definition.hpp"
#include "runner/session.hpp"

#include <map>
#include <string>

namespace kw {

/// Something a Session can spawn as the oracle arm, and how to read its outputs.
struct Oracle {
  ArmSpec arm;
  bool magnitudes = false;       ///< outputs come in pairs (y, S), both float64; else y only
  std::size_t project_entry = 0; ///< Invocation::entry of the projection, 0 = none
  std::size_t block_entry = 0;   ///< of the exact sub-block, 0 = none
  std::map<std::string, std::size_t> near_ties_entries; ///< by input
  std::string mode; ///< for the record: "c++ float64", "python torch, float32 reference"
};

struct OracleContext {
  Builder* builder = nullptr;
  std::string include_dir; ///< folder of kernwright.h and kernwright_peer.py
  std::string scratch_dir; ///< where generated Python files are written
  std::string python = "/usr/bin/python3";
};

/// Errors: the oracle does not compile (diagnostics in the message), no Python interpreter fits.
Result<Oracle> prepare_oracle(const Definition& definition, const OracleContext& context);

/// Builds trusted C++ (oracle, peer); the message of a failure carries the compiler's first error.
/// Macros beside KW_AXIS_<name>: KW_ETA_<output>, the eta of its tolerance.
Result<std::string> build_trusted(const OracleContext& context, const Definition& definition,
                                  const std::string& file, const std::string& text,
                                  const std::vector<std::string>& link);

} // namespace kw
