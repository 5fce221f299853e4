// SPDX-License-Identifier: Apache-2.0
// Turns a judgement into an archived probe: secret seed committed before, revealed after; every
// attempt kept, its raw samples inside the verdict.
#pragma once

#include "archive/archive.hpp"
#include "base/result.hpp"
#include "model/definition.hpp"
#include "model/probe.hpp"
#include "os/clock.hpp"
#include "target/target.hpp"
#include "tensor/generate.hpp"

#include <string>

namespace kw {

[[nodiscard]] std::string seed_hex(const Seed& seed);
[[nodiscard]] std::string seed_commitment(const Seed& seed);
Result<Seed> seed_from_hex(std::string_view hex);
/// 128 bits from the kernel.
[[nodiscard]] Seed fresh_seed();

class Recorder {
 public:
  Recorder(Archive& archive, const Clock& clock, Environment environment,
           const Definition& definition);

  /// Opens a probe: commitment, start time, hashes. `build` may be a failed one.
  [[nodiscard]] Probe open(const Solution& solution, const Seed& seed) const;
  /// The identity under which a solution's judgements are found again.
  [[nodiscard]] std::string hash_of(const Solution& solution) const;
  /// Seals identity, encodes, stores. Call once the verdict is concluded.
  Status store(Probe& probe, const TargetBuild& build, const Seed& seed) const;
  /// Appends the promotion of a stored probe to the record chain.
  Result<Record> promote(const Probe& probe, const std::string& baseline) const;

  [[nodiscard]] const std::string& definition_hash() const { return definition_hash_; }
  [[nodiscard]] Archive& archive() const { return archive_; }
  std::string run; ///< id of the run probes belong to, may be empty

 private:
  Archive& archive_;
  const Clock& clock_;
  Environment environment_;
  const Definition& definition_;
  std::string definition_hash_;
};

/// This machine and this build of Kernwright.
Environment describe_environment();

} // namespace kw
