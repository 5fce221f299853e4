// SPDX-License-Identifier: Apache-2.0
// Executes instructions on tensors in memory, one after the other, and notices what a NeuronCore
// would not do the same way: reads of nothing, races, accesses outside of a tensor.
//
// Both executions of a kernel end here: a traced program is replayed by run(), an eager kernel
// calls execute() itself and tells of its loops by enter(), iterate() and leave().
#pragma once

#include "nki/exec/shadow.hpp"
#include "nki/ir/program.hpp"
#include "nki/lang/target.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace kw::nki {

/// In which order the iterations of parallel loops run.
enum class Order : std::uint8_t { forward, backward, shuffled };

struct MachineOptions {
  Generation generation = Generation::gen2;
  bool shadow = true;
  Order order = Order::forward;
  std::uint64_t seed = 0;                            ///< of shuffled orders and of nl.rand
  std::int64_t most_steps = 0;                       ///< instructions, 0 = no limit
  std::function<bool()> stop = [] { return false; }; ///< asked now and then
};

/// Something that went wrong while the kernel ran; of equal ones the first is kept.
struct RunFinding {
  std::string code, message, limit, edit;
  SourcePlace place;
  std::string_view api;
  BufferId buffer = -1;
  std::int64_t times = 1;
  bool warning = false;
};

class Machine {
 public:
  explicit Machine(MachineOptions options);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// Storage for a buffer, and what it begins with: parameters and constants by `content`.
  void add(const Buffer& buffer, std::span<const std::byte> content = {});
  [[nodiscard]] std::span<const std::byte> content(BufferId buffer) const;
  [[nodiscard]] std::span<std::byte> mutable_content(BufferId buffer);

  /// Replays a traced program: all programs of its grid.
  void run(const Program& program);

  void execute(const Instruction& instruction);
  /// `variable`: whose value iterate() sets.
  void enter(LoopKind kind, Variable variable);
  void iterate(std::int64_t value);
  void leave();

  [[nodiscard]] const std::vector<RunFinding>& findings() const { return findings_; }
  /// Elements of a result that no instruction wrote, and the first of them.
  [[nodiscard]] std::int64_t unwritten(BufferId buffer, std::int64_t& first) const;
  [[nodiscard]] std::int64_t executed() const { return executed_; }
  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  friend class Access;
  friend struct Work;
  struct Storage;
  struct LoopState {
    LoopKind kind;
    Variable variable;
    Stamp began;
  };
  void run_body(const std::vector<Node>& body);
  void run_loop(const Loop& loop);
  static void fill(Storage& s, double value, Stamp now);
  void note(RunFinding finding);
  /// Whether an instruction hands undefined elements on instead of reporting them.
  bool defers(const Instruction& instruction);
  Storage& storage(BufferId id);

  MachineOptions options_;
  std::vector<std::unique_ptr<Storage>> buffers_;
  std::vector<std::int64_t> values_; ///< of variables
  std::vector<std::int64_t> begins_; ///< value of the iteration that runs first
  bool fresh_ = false;               ///< a loop was entered and has not iterated yet
  std::vector<LoopState> loops_;
  std::vector<ParallelSpan> parallel_;
  Stamp now_ = 1;
  std::vector<RunFinding> findings_;
  std::map<std::pair<std::string, std::int64_t>, std::size_t> seen_;
  std::vector<float> registers_; ///< of ScalarE, one a partition
  std::uint64_t random_ = 0;
  std::int64_t executed_ = 0;
  bool stopped_ = false;
};

} // namespace kw::nki
