// SPDX-License-Identifier: Apache-2.0
#include "service/ablation_store.hpp"

#include "os/files.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace kw {
namespace {

std::vector<std::string> ids_in(const std::string& root) {
  std::vector<std::string> out;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(root, error))
    if (is_file(entry.path().string() + "/plan.json"))
      out.push_back(entry.path().filename().string());
  std::sort(out.begin(), out.end());
  return out;
}

std::string root_of(const std::string& state_dir) {
  return join_path(state_dir, "ablations");
}

} // namespace

Result<AblationStore> AblationStore::create(const std::string& state_dir, AblationPlan plan) {
  const std::string root = root_of(state_dir);
  KW_CHECK(make_dirs(root));
  for (int number = 1;; ++number) {
    const std::string id = fmt::format("{:04}", number), folder = join_path(root, id);
    if (is_dir(folder))
      continue;
    KW_CHECK(make_dirs(folder));
    KW_TRY(FileLock lock, FileLock::acquire(folder + "/lock", "ablation " + id));
    KW_CHECK(write_file_atomic(folder + "/plan.json", encode_ablation_plan(plan)));
    return AblationStore(id, folder, std::move(plan), std::move(lock));
  }
}

Result<AblationStore> AblationStore::open(const std::string& state_dir, const std::string& id) {
  const std::string folder = join_path(root_of(state_dir), id);
  if (id.empty() || id.find('/') != std::string::npos || !is_file(folder + "/plan.json")) {
    const std::vector<std::string> there = ids_in(root_of(state_dir));
    return fail(ErrorKind::not_found, fmt::format("there is no ablation `{}`", id),
                there.empty() ? "begin one: kernwright ablate DEFINITION..."
                              : fmt::format("there are {}", fmt::join(there, ", ")),
                root_of(state_dir));
  }
  KW_TRY(FileLock lock, FileLock::acquire(folder + "/lock", "ablation " + id));
  KW_TRY(const std::string text, read_file(folder + "/plan.json"));
  Result<AblationPlan> plan = decode_ablation_plan(text, folder + "/plan.json");
  if (!plan)
    return fail(plan.error().kind, plan.error().message, "begin a new ablation",
                plan.error().where);
  return AblationStore(id, folder, std::move(*plan), std::move(lock));
}

std::string AblationStore::seed_folder(const AblationStep& step) const {
  return fmt::format("{}/{}/seed-{}", folder_, plan_.tasks[step.task].definition, step.seed);
}

std::string AblationStore::arm_folder(const AblationStep& step) const {
  return seed_folder(step) + "/" + step.arm;
}

Result<AblationResults> AblationStore::results() const {
  AblationResults out;
  for (const AblationStep& step : ablation_steps(plan_)) {
    const std::string path =
        step.is_race() ? seed_folder(step) + "/race.json" : arm_folder(step) + "/run.json";
    if (!is_file(path))
      continue;
    KW_TRY(const std::string text, read_file(path));
    AblationSeed& seed = out[{step.task, step.seed}];
    if (step.is_race()) {
      KW_TRY(seed.race, decode_champion_race(text, path));
    } else {
      KW_TRY(seed.runs[step.arm], decode_arm_run(text, path));
    }
  }
  return out;
}

Status AblationStore::keep(const AblationStep& step, const ArmRun& run) const {
  return write_file_atomic(arm_folder(step) + "/run.json", encode_arm_run(run));
}

Status AblationStore::keep(const AblationStep& step, const ChampionRace& race) const {
  return write_file_atomic(seed_folder(step) + "/race.json", encode_champion_race(race));
}

} // namespace kw
