// SPDX-License-Identifier: Apache-2.0
// What the judge says about a candidate: separate axes, each pass / fail / unknown with evidence.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

/// A missing receipt is neither pass nor fail.
enum class Outcome { unknown, pass, fail };

/// Why a candidate was turned down; the vocabulary of redteam/ and of the archive.
enum class Finding {
  none,
  build,     ///< REJECT_BUILD: does not compile or link
  admission, ///< REJECT_STATIC: ELF or source rules
  sandbox,   ///< REJECT_SANDBOX: forbidden system call, leftover
  protocol,  ///< REJECT_PROTOCOL: exited, refused a shape inside its contract
  crash,     ///< CRASH: signal
  wrong,     ///< REJECT_WRONG: numerics
  state,     ///< REJECT_STATE: inputs, canaries or CPU state changed; output changed after done
  nondeterminism, ///< REJECT_NONDET
  timing,         ///< REJECT_TIMING: physically impossible, CPU time exceeds the declared threads
  resource,       ///< REJECT_RESOURCE: hang, memory
  sanitizer,      ///< REJECT_SANITIZER: a side build with sanitizers reported a fault, or died
};
inline constexpr Finding last_finding = Finding::sanitizer;

/// "REJECT_WRONG" etc.; "NONE" for none.
[[nodiscard]] std::string name(Finding f);
[[nodiscard]] std::string name(Outcome o);

struct AxisVerdict {
  Outcome outcome = Outcome::unknown;
  std::string summary;              ///< one line: "59 trials clean, failure rate < 4.95 % at 95 %"
  std::vector<std::string> details; ///< further lines: mismatch, diagnostics, remedy
};

/// Where the wrong elements of an output lie, and how far off its parts are. Rows are all axes but
/// the last, counted through; columns run along the last. Errors are ||got - want|| / ||want||.
struct MismatchPlace {
  /// "all" | "element" | "row" | "rows" | "first rows" | "last rows" | "column" | "columns" |
  /// "first columns" | "last columns" | "tile" | "tiles" | "block" | "tail" | "scattered"
  std::string cluster;
  std::string text; ///< "all in columns 496..511 (the last 16 of 512: a remainder loop?)"
  std::uint64_t rows = 0, columns = 0;         ///< of the output
  std::uint64_t bad_rows = 0, bad_columns = 0; ///< that hold a wrong element
  std::uint64_t first_row = 0, last_row = 0, first_column = 0, last_column = 0; ///< around all
  double relative_error = 0; ///< of the whole output
  std::uint64_t worst_row = 0;
  double worst_row_error = 0;
  std::uint64_t worst_tile_row = 0, worst_tile_column = 0; ///< first element of 16 x 16
  double worst_tile_error = 0;
  double max_abs = 0, max_eta = 0, max_ulp = 0; ///< of the trial's output
};

/// First mismatch and error figures of a failed trial.
struct Mismatch {
  std::string workload; ///< uuid
  std::string input_class;
  std::uint64_t trial = 0;      ///< index within the campaign
  std::string output;           ///< tensor name
  std::vector<std::int64_t> at; ///< coordinates of the first bad element
  double got = 0, want = 0, bound = 0;
  std::uint64_t bad_elements = 0, elements = 0;
  std::string pattern; ///< "all", "tail", "rows", "scattered", "poison left", "non-finite"
  /// Empty where a huge product was only sampled.
  std::optional<MismatchPlace> place = std::nullopt;
};

struct Diagnostic {
  std::string severity; ///< error | warning | note
  std::string file;
  int line = 0, column = 0;
  std::string code; ///< compiler option or stable code, may be empty
  std::string message;
  std::string excerpt; ///< source line and caret
};

/// What the sandbox tier stands on: a facility, what was tried to find out, what happened.
struct SandboxFacility {
  std::string facility;
  bool works = false;
  std::string tried, happened;
};

/// One untimed run of a build with sanitizers (docs/sanitizers.md).
struct SanitizedRun {
  std::string sanitizers; ///< "address,undefined" or "thread"
  Outcome outcome = Outcome::unknown;
  std::string summary;             ///< what was found, or why there is no answer
  std::vector<std::string> report; ///< the first lines, without addresses
  std::uint64_t calls = 0;         ///< verified clean
  double build_ms = 0, run_ms = 0;
};

/// How hard the rows of a ranked input were that a candidate got right. Of outputs that select:
/// rows with more candidates than places; tied where errors of the scores leave more than one set.
struct RankingEvidence {
  std::uint64_t rows = 0;
  std::uint64_t tied = 0;      ///< the k-th element equals the next: several answers are right
  std::uint64_t reordered = 0; ///< answered in another right way than the oracle's
  double least_margin = 0; ///< of the rows not tied: from the k-th to the next, in ulps; 0: none
};

/// One question to all draws of a campaign.
struct DrawTest {
  std::string name;   ///< "probability", "place", "rows", "calls", "seed"
  bool asked = false; ///< enough draws for an answer
  double p = 1;       ///< chance that a right sampler is as far off
  std::string what;   ///< with figures
};

/// Whether outputs drawn at random are as likely as they should be.
struct DrawEvidence {
  std::uint64_t draws = 0;
  double alarm = 0; ///< a test fails below this p
  std::vector<DrawTest> tests;
};

/// How the calls of a gate differed in everything but values (gates accept and champion).
struct Exercise {
  std::uint64_t end_aligned = 0;   ///< buffers end where a guard page begins
  std::uint64_t start_aligned = 0; ///< buffers begin where one ends
  std::uint64_t shapes = 0;        ///< listed and hidden ones
  std::uint64_t ragged = 0;        ///< of them, with a variable axis that is no multiple of 8
  std::uint64_t hidden = 0;        ///< of them, that no workload lists
};

/// How much was compared of an output of which the oracle computes some rows only.
struct RowEvidence {
  std::uint64_t rows = 0;     ///< that the output has
  std::uint64_t compared = 0; ///< of them in each trial, all elements
  std::uint64_t trials = 0;
  /// Least share of wrong rows that these trials see with a probability of 95 %.
  double seen_share = 1;
};

/// Trials of one workload within a campaign.
struct WorkloadTrials {
  std::string uuid;
  std::uint64_t trials = 0, failures = 0;
  double max_eta = 0; ///< largest normalised error seen (bound units of eta)
  double max_abs_error = 0, max_rel_error = 0;
  /// Greatest distance in numbers of the output type, of the first clean trial; empty where no
  /// output is a float, or only samples were compared.
  std::optional<double> max_ulp = std::nullopt;
  std::optional<RankingEvidence> ranking;                 ///< empty: no output ranks an input
  std::optional<RowEvidence> sampled_rows = std::nullopt; ///< empty: all rows were compared
};

/// One arm of a paired comparison, per workload. Times in nanoseconds per call.
struct PairedTiming {
  std::string uuid;
  std::vector<std::string> twins;   ///< workloads whose calls are no different: timed by this one
  std::string baseline;             ///< name of the other arm
  std::vector<double> log_ratios;   ///< d_i = ln(t_baseline / t_candidate), one per round
  std::vector<double> candidate_ns; ///< per round: median of its windows
  std::vector<double> baseline_ns;
  double speedup = 0, low = 0, high = 0; ///< median ratio and 95 % sign-test interval
  double floor_ns = 0;                   ///< roofline floor of this workload on this machine
  std::string decision;                  ///< "faster" | "not faster" | "undecided"
  std::uint64_t discarded_rounds = 0;
};

struct TimingEvidence {
  std::string protocol; ///< "warm" | "cold"
  std::string clock = "judge CLOCK_MONOTONIC around the doorbell";
  std::string doorbell; ///< "spin" | "futex"
  double window_ns = 0; ///< least length of a window
  int windows_per_half = 0;
  double aa_sigma = 0;                    ///< robust sigma of the A/A self-test, as a fraction
  bool fit = false;                       ///< false = machine unfit for timing
  std::vector<PairedTiming> gate;         ///< decides
  std::vector<PairedTiming> confirmation; ///< reported
  std::string objective; ///< stats/objective.hpp: what the figures below are; "" = weighted
  double speedup = 0, low = 0, high = 0; ///< over all workloads, from confirmation only
};

/// Trials of one workload under upstream's rule.
struct FibWorkload {
  std::string uuid;
  std::uint64_t trials = 0, matched = 0;
  double least_ratio = 1; ///< of matching elements, in the worst output of the worst trial
  double max_abs = 0, max_rel = 0;
};

inline constexpr std::uint64_t fib_trials = 3; ///< that upstream makes of a workload

/// What flashinfer-bench's own check would say of the same candidate; decides nothing here.
struct FibCompat {
  std::string status;    ///< PASSED | INCORRECT_NUMERICAL | RUNTIME_ERROR | "" = not known
  std::string reason;    ///< why it is not known
  std::string evaluator; ///< which of upstream's rules: default | lowbit | dsa_sparse_attention
  double atol = 0, rtol = 0, required_ratio = 1;
  bool non_finite = false; ///< an infinity or NaN was among the outputs
  std::vector<FibWorkload> workloads;
};

inline constexpr std::string_view reduced_precision = "REDUCED_PRECISION";

/// The candidate's errors beside those of the Definition's baseline, on the same secret inputs
/// (gates accept and champion). A flag, no finding. Errors in rounding units (docs/numerics.md).
struct PrecisionEvidence {
  std::string word;                ///< "AS_BASELINE" | "REDUCED_PRECISION" | "" = not known
  std::string summary;             ///< one sentence
  std::string baseline;            ///< its name
  std::uint64_t trials = 0;        ///< both were called in, not counted among the gate's
  std::uint64_t exact_probes = 0;  ///< pairs of output and input class that the baseline has exact
  std::string output, input_class; ///< where the candidate is coarsest
  double ratio = 0;                ///< RMS of its errors there over that of the baseline's
  double excess = 0;               ///< above 1 = flagged
  double candidate_rms = 0, baseline_rms = 0, candidate_max = 0, baseline_max = 0;
};

/// The whole judgement of one candidate.
struct Verdict {
  AxisVerdict build, sandbox, correctness, timing, merit;
  Finding finding = Finding::none; ///< none while every axis is pass or unknown
  bool accepted =
      false;        ///< the thing asked for holds (correct at the gate; faster if timing was asked)
  std::string word; ///< ACCEPTED | REJECTED | UNDECIDED | CORRECT | INFRASTRUCTURE
  std::string gate; ///< smoke | gate | accept | champion
  std::string tier; ///< sandbox tier in force: T0..T3
  std::vector<SandboxFacility> facilities; ///< that the tier was found by
  bool tainted = false; ///< ran below the task's minimum tier by --allow-weak-sandbox
  std::uint64_t trials = 0;
  double failure_rate_bound = 1; ///< upper 95 % bound that the clean trials prove
  std::vector<Diagnostic> diagnostics;
  std::optional<Mismatch> mismatch;
  std::vector<WorkloadTrials> workloads;
  std::vector<SanitizedRun> sanitized;
  std::optional<DrawEvidence> draws;          ///< empty: no output is drawn at random
  std::optional<Exercise> exercise;           ///< empty at other gates
  std::optional<PrecisionEvidence> precision; ///< empty = never compared
  std::optional<TimingEvidence> times;
  std::optional<FibCompat> fib;          ///< empty = never called
  std::string infrastructure_error;      ///< set only when word is INFRASTRUCTURE
  std::map<std::string, double> cost_ms; ///< build, load, generate, oracle, kernel, fib, total
};

/// Uuids of shapes that no workload lists begin like this: "hidden:rows=17,n=129".
inline constexpr std::string_view hidden_shape_prefix = "hidden:";
[[nodiscard]] inline bool is_hidden_shape(std::string_view uuid) {
  return uuid.starts_with(hidden_shape_prefix);
}

/// Correct within the tolerance, and plainly coarser than the baseline.
[[nodiscard]] inline bool is_reduced(const Verdict& v) {
  return v.precision && v.precision->word == reduced_precision;
}

/// The axis that decided against the candidate: the first failed one, correctness if none failed.
[[nodiscard]] const AxisVerdict& failed_axis(const Verdict& v);

} // namespace kw
