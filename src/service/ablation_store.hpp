// SPDX-License-Identifier: Apache-2.0
// An ablation on disk: <state>/ablations/0001/ with its plan, one folder per definition, seed and
// arm (each the state of an `optimize` of its own), the races, the report. Whatever is there is
// done.
#pragma once

#include "base/result.hpp"
#include "os/file_lock.hpp"
#include "service/ablation.hpp"
#include "service/ablation_results.hpp"

#include <optional>
#include <string>

namespace kw {

class AblationStore {
 public:
  /// A new one under the next free number.
  static Result<AblationStore> create(const std::string& state_dir, AblationPlan plan);
  /// Errors: not_found (with those that are there), a damaged plan, timeout (somebody else is at
  /// it).
  static Result<AblationStore> open(const std::string& state_dir, const std::string& id);

  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] const AblationPlan& plan() const { return plan_; }
  /// State folder of one arm's runs.
  [[nodiscard]] std::string arm_folder(const AblationStep& step) const;
  /// All that is there. Errors: damaged files.
  Result<AblationResults> results() const;
  Status keep(const AblationStep& step, const ArmRun& run) const;
  Status keep(const AblationStep& step, const ChampionRace& race) const;

 private:
  AblationStore(std::string id, std::string folder, AblationPlan plan, FileLock lock)
      : id_(std::move(id)), folder_(std::move(folder)), plan_(std::move(plan)),
        lock_(std::move(lock)) {}
  [[nodiscard]] std::string seed_folder(const AblationStep& step) const;

  std::string id_, folder_;
  AblationPlan plan_;
  FileLock lock_; ///< nobody else goes on with it meanwhile
};

/// The plan and the results as JSON documents, and back. Errors: not what it should be.
[[nodiscard]] std::string encode_ablation_plan(const AblationPlan& plan);
Result<AblationPlan> decode_ablation_plan(std::string_view text, const std::string& file);
[[nodiscard]] std::string encode_arm_run(const ArmRun& run);
Result<ArmRun> decode_arm_run(std::string_view text, const std::string& file);
[[nodiscard]] std::string encode_champion_race(const ChampionRace& race);
Result<ChampionRace> decode_champion_race(std::string_view text, const std::string& file);

} // namespace kw
