// SPDX-License-Identifier: Apache-2.0
#include "controller/directory_proposer.hpp"

#include "controller/solution_folder.hpp"
#include "os/files.hpp"

#include <chrono>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

namespace kw {
namespace {

class DirectoryProposer : public Proposer {
 public:
  DirectoryProposer(std::string folder, std::function<bool()> stop)
      : folder_(std::move(folder)), stop_(std::move(stop)) {}

  [[nodiscard]] std::string_view name() const override { return "directory"; }
  [[nodiscard]] std::string where() const override { return folder_; }
  [[nodiscard]] bool interrupts() const override { return true; }
  [[nodiscard]] bool waits() const override { return true; }

  Result<Proposals> propose(const ProposalRequest& request) override {
    using Clock = std::chrono::steady_clock;
    const auto until = Clock::now() + std::chrono::duration<double>(request.wait_seconds);
    for (;;) {
      KW_TRY(Proposals found, look(request));
      if (!found.proposals.empty() || !found.problems.empty() || Clock::now() >= until || stop_())
        return found;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }

  void hear(const Proposal& proposal, const Attempt& attempt) override {
    const std::string results = join_path(folder_, "results");
    Json json{{"probe", attempt.probe},
              {"decision", attempt.decision},
              {"reason", attempt.reason},
              {"finding", attempt.finding}};
    if (attempt.speedup > 0)
      json["speedup"] = attempt.speedup;
    // Telling is a courtesy: a folder that cannot be written stops no run.
    if (make_dirs(results))
      (void)write_file_atomic(join_path(results, base_name(proposal.source) + ".json"),
                              dump_json(json, 2) + "\n");
  }

  void had(const std::string& regime, const Proposal& proposal) override {
    seen_.insert({regime, proposal.source + source_identity(proposal.solution)});
  }

 private:
  Result<Proposals> look(const ProposalRequest& request) {
    Proposals out;
    KW_TRY(const std::vector<FoundSolution> all, solutions_in(folder_, request.definition.name));
    for (const FoundSolution& one : all) {
      const std::string path = join_path(folder_, one.name);
      if (!one.solution) {
        if (seen_.insert({"", path + one.solution.error().message}).second)
          out.problems.push_back(fmt::format("{}: {}", path, one.solution.error().message));
        continue;
      }
      if (static_cast<int>(out.proposals.size()) == request.count)
        break;
      if (seen_.insert({request.regime, path + source_identity(*one.solution)}).second)
        out.proposals.push_back(
            {.solution = *one.solution, .hypothesis = one.name, .source = path});
    }
    return out;
  }

  std::string folder_;
  std::function<bool()> stop_;
  std::set<std::pair<std::string, std::string>> seen_; ///< regime, path and content (or problem)
};

} // namespace

Result<std::unique_ptr<Proposer>> make_directory_proposer(std::string folder,
                                                          std::function<bool()> stop) {
  if (!is_dir(folder))
    return fail(ErrorKind::not_found,
                fmt::format("There is no folder {} to take solutions from", folder),
                "make it, or name another one", folder);
  return std::make_unique<DirectoryProposer>(std::move(folder), std::move(stop));
}

} // namespace kw
