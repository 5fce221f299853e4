// SPDX-License-Identifier: Apache-2.0
// Who puts candidates forward besides the tuner: a folder that people or tools fill, a program, an
// earlier run, reference kernels. Decision 0012; formats: docs/proposers.md.
#pragma once

#include "base/json.hpp"
#include "base/result.hpp"
#include "model/definition.hpp"
#include "model/solution.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

/// A solution put forward, and where it comes from.
struct Proposal {
  Solution solution;
  std::string hypothesis;      ///< one line: what it tries
  std::string source;          ///< where it was found: a file, a probe id, a command
  std::string commit, licence; ///< of a reference kernel; "" = not stated
};

/// What a proposer may know of an attempt, its own or another's.
struct Attempt {
  std::string probe, proposer, hypothesis, decision, reason, finding;
  double speedup = 0; ///< over the baseline, a screen's estimate; 0 = never got that far
};

struct ProposalRequest {
  const Definition& definition;
  std::string regime, condition; ///< "M <= 2" and the same over axes; "" = every call
  std::string axes;              ///< of the workload that stands for the regime
  int round = 0;
  std::string direction, does, why; ///< what to change; direction "" = a free choice
  std::string state;                ///< the champion's bottleneck, "unknown" before a profile
  double headroom = 1;              ///< to the roofline; 1 = unknown
  const Solution& champion;
  double champion_speedup = 1;   ///< over the baseline
  std::vector<Attempt> attempts; ///< of this regime, newest last
  std::string handoff;           ///< what the one before had tried, "" = nobody
  int count = 1;                 ///< most proposals wanted
  double wait_seconds = 0;       ///< longest wait for something to come
  double seconds_left = 0;       ///< of the regime's time
};

/// What a call of a paid proposer used up, as it says itself.
struct Usage {
  double tokens = 0, cost_usd = 0;
};

struct Proposals {
  std::vector<Proposal> proposals;
  std::vector<std::string> problems; ///< what could not be read, one sentence each
  Usage usage;
};

class Proposer {
 public:
  virtual ~Proposer() = default;
  /// "directory", "command", "replay", "reference": the probe's `proposer`.
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// What it takes from: a folder, a command line, a run.
  [[nodiscard]] virtual std::string where() const = 0;
  /// Whether it reads a direction; others take up any round.
  [[nodiscard]] virtual bool follows_directions() const { return false; }
  /// Whether what it has goes first, whoever has the seat.
  [[nodiscard]] virtual bool interrupts() const { return false; }
  /// Whether more may come while one waits.
  [[nodiscard]] virtual bool waits() const { return false; }
  /// None = it has nothing (now). Errors: it does not work at all and need not be asked again.
  virtual Result<Proposals> propose(const ProposalRequest& request) = 0;
  /// How one of its proposals fared. Also told when a journal is gone through again.
  virtual void hear(const Proposal&, const Attempt&) {}
  /// The run goes on from its journal: it has handed this out before, in this regime.
  virtual void had(const std::string& /*regime*/, const Proposal&) {}
};

/// As the journal keeps them.
[[nodiscard]] Json to_json(const Proposals& proposals);
/// Errors: a damaged journal.
Result<Proposals> proposals_from_json(const Json& json);

/// The request as a program reads it ("kernwright.proposal_request/1"), sources included.
[[nodiscard]] Json request_json(const ProposalRequest& request);

/// How a proposer is named on the command line: "tuner", "directory:PATH", "command:ARGV...",
/// "replay:RUN".
struct ProposerSpec {
  std::string kind, argument;
};
/// Errors: an unknown kind, a missing or superfluous argument.
Result<ProposerSpec> parse_proposer(std::string_view text);

} // namespace kw
