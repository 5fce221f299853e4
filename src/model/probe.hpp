// SPDX-License-Identifier: Apache-2.0
// Any attempt, kept or rejected. All are archived.
#pragma once

#include "model/solution.hpp"
#include "model/verdict.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kw {

/// Where and with what a probe was judged; enough to say whether a replay is comparable.
struct Environment {
  std::string hardware; ///< CPU model and core count
  std::string compiler; ///< "g++-12 12.2.0"
  std::string flags;
  std::string kernel;  ///< uname -r
  std::string version; ///< Kernwright's own
  std::map<std::string, std::string> more;
};

/// Who brought about a winner: one row of its run's contribution matrix.
struct Contribution {
  std::string role; ///< "tuner", "agent", "human", "replay", "reference"
  std::string who;  ///< proposer, or the name a person gave; of a reference the kernel's
  int proposed = 0, right = 0, kept = 0; ///< candidates; those that led a regime for a while
  bool in_winner = false;
  double minutes = 0;                  ///< of a person's time, as stated
  std::string source, commit, licence; ///< of a kernel from outside; "" = not stated
};

struct Probe {
  std::string id;  ///< content address: sha256 over solution, verdict, environment, seed
  std::string run; ///< id of the run it belongs to ("" for a lone evaluate)
  std::string definition;
  std::string definition_hash; ///< sha256 of the canonical definition JSON
  Solution solution;
  std::string solution_hash; ///< our full hash (flags, toolchain, arch, calling style)
  std::string parent;        ///< probe id of the champion it was compared with, may be empty
  std::string proposer;      ///< "tuner", "human", "replay", ...
  std::string hypothesis;    ///< what it tries, or the parameter vector as "k=v k=v"
  Verdict verdict;
  std::string decision; ///< "keep" | "reject" | "promote" | "archive"
  std::string reason;   ///< why, one sentence
  Environment environment;
  std::string seed_commitment; ///< sha256 of the secret seed, fixed before the run
  std::string seed;            ///< revealed after the run (hex)
  std::string started_at;      ///< ISO 8601 UTC
  double wall_ms = 0;
  std::string regime;    ///< of a search: which group of workloads it was tried on
  std::string direction; ///< of a search: what its round was to change, "model" = the free choice
  std::vector<Contribution> contributions; ///< of a run's final judgement
  std::optional<double> estimate; ///< of a search: ln(t_baseline / t_candidate), a screen, no claim
};

/// Sealed, content-addressed, replayable result of a promotion.
struct Record {
  std::string id;       ///< sha256 over the sealed content and `previous`
  std::string previous; ///< id of the record before it in the chain ("" for the first)
  std::string probe;
  std::string definition;
  std::string solution_name;
  double speedup = 0, low = 0, high = 0;
  std::string baseline;
  std::string sealed_at; ///< ISO 8601 UTC
};

/// One `optimize` run: enough to resume it.
struct Run {
  std::string id; ///< "0007"
  std::string definition;
  std::string state;   ///< running | finished | interrupted
  std::string options; ///< JSON text of the resolved options with origins
  std::string started_at, finished_at;
  std::string champion; ///< probe id
};

} // namespace kw
