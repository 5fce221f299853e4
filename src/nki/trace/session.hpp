// SPDX-License-Identifier: Apache-2.0
// A kernel being looked at: its Python code runs and calls this, what it asks for becomes
// instructions. In a traced kernel the body of a loop runs once and the program is replayed
// afterwards; in an eager one every iteration runs and every instruction is executed at once.
#pragma once

#include "nki/exec/machine.hpp"
#include "nki/ir/program.hpp"
#include "nki/lang/diagnostic.hpp"
#include "nki/lang/target.hpp"
#include "nki/trace/value.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kw::nki {

enum class Mode : std::uint8_t { trace, eager };

struct SessionOptions {
  Dialect dialect = Dialect::v0_1;
  Generation generation = Generation::gen2;
  Mode mode = Mode::trace;
  MachineOptions machine; ///< of an eager session
  std::vector<std::int64_t> grid;
};

/// Thrown where a kernel cannot go on; the diagnostic is recorded already.
struct KernelStopped {};

class Session {
 public:
  explicit Session(SessionOptions options);
  ~Session();

  [[nodiscard]] const SessionOptions& options() const { return options_; }
  [[nodiscard]] const Core& core() const { return nki::core(options_.generation); }

  // What the Python side tells.
  void at(SourcePlace place) { place_ = place; }
  [[nodiscard]] SourcePlace place() const { return place_; }
  std::int32_t file(const std::string& name);            ///< its number
  void rename(BufferId buffer, const std::string& name); ///< where it has no name yet
  TensorPtr parameter(std::string name, Element element, std::vector<std::int64_t> shape,
                      bool writable, std::span<const std::byte> content);
  void result(const TensorPtr& t);
  /// After the last instruction.
  void finish();

  // What a kernel does.
  /// `path`: "nl.load", "nisa.activation".
  Value call(std::string_view path, const Arguments& arguments);
  [[nodiscard]] static bool knows(std::string_view path, Dialect dialect);
  Value item(const TensorPtr& t, const Value& key);
  void assign(const TensorPtr& t, const Value& key, const Value& value);
  Value binary(Operation op, const Value& a, const Value& b);
  Value unary(Operation op, const Value& a);
  Value in_place(Operation op, const TensorPtr& t, const Value& by);
  Value method(const TensorPtr& t, std::string_view name, const Arguments& arguments);
  /// Arithmetic and comparisons of indices. nullopt: not affine, which is reported.
  Value index_arithmetic(char op, const Value& a, const Value& b);
  Value compare_indices(Operation op, const Value& a, const Value& b);
  Value index_item(const Index& index, const Value& key); ///< nl.arange(8)[:, None]
  Value both(const Value& a, const Value& b);             ///< mask & mask

  Variable begin_loop(LoopKind kind, std::int64_t first, std::int64_t step, std::int64_t count);
  void iterate(std::int64_t value); ///< eager
  void end_loop(Variable v);
  [[nodiscard]] bool in_loop() const { return !open_loops_.empty(); }

  // What came of it.
  [[nodiscard]] const Program& program() const { return program_; }
  [[nodiscard]] const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  [[nodiscard]] const std::map<BufferId, std::vector<std::byte>>& contents() const {
    return contents_;
  }
  [[nodiscard]] Machine* machine() { return machine_.get(); }
  [[nodiscard]] bool has_errors() const;

  // For the handlers of calls (trace/*.cpp).
  struct Report {
    std::string code, message, limit = {}, edit = {};
    std::vector<std::pair<std::string, TensorPtr>> operands = {};
    Severity severity = Severity::error;
  };
  void report(Report r);
  void report_findings(const std::vector<RunFinding>& findings);
  [[nodiscard]] const Buffer& buffer(BufferId id) const {
    return program_.buffers[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] const Buffer& buffer(const Tensor& t) const { return buffer(t.view.buffer); }
  [[nodiscard]] Memory memory(const Tensor& t) const { return buffer(t).memory; }
  TensorPtr create(std::string name, std::vector<std::int64_t> shape, Element element,
                   Memory memory, int partition_axis, std::optional<double> fill, bool result);
  TensorPtr poison(std::vector<std::int64_t> shape, Element element);
  /// A new tile for what `instruction` gives; `instruction.dst` is set.
  TensorPtr emit_result(Instruction instruction, std::vector<std::int64_t> shape, Element element,
                        Memory memory = Memory::sbuf);
  void emit(Instruction instruction);
  void flush();
  /// Checks that hold for whatever a call reads: written in a scope that is still open.
  bool readable(const TensorPtr& t, std::string_view parameter);

  // Shared by several calls (tiles.cpp).
  TensorPtr constant(const HostArray& data, Element element);
  Value broadcast_tile(const TensorPtr& t, const std::vector<std::int64_t>& shape);
  Value transposed(const TensorPtr& x, Element element, const Mask& mask, Engine engine);
  struct ProductOptions {
    bool transposes = false, one_zero = false;
  };
  Value product(const TensorPtr& stationary, const TensorPtr& moving, const Mask& mask,
                ProductOptions options);

  std::string_view api;     ///< of the call that is being handled
  bool needs_eager = false; ///< the kernel asked for the value of a loop variable
  std::int64_t constants = 0;

 private:
  struct Pending {
    Instruction instruction;
    BufferId result = -1; ///< tile made for it, not yet allocated
  };
  std::vector<Node>& body();
  void place_instruction(Instruction instruction);
  /// Whether what is made now is made more than once: by iterations, or by programs of a launch.
  [[nodiscard]] bool repeats() const { return !scopes_.empty() || !options_.grid.empty(); }
  [[nodiscard]] bool reads_poison(const Instruction& i) const;
  bool retarget(const TensorPtr& value, const View& to, Element element, bool accumulate);
  View key_view(const TensorPtr& t, const Value& key, bool& failed);

  SessionOptions options_;
  Program program_;
  std::unique_ptr<Machine> machine_;
  std::vector<Diagnostic> diagnostics_;
  std::map<std::string, std::size_t> reported_;
  std::map<BufferId, std::vector<std::byte>> contents_;
  std::optional<Pending> pending_;
  std::vector<Loop*> open_loops_;    ///< traced
  std::vector<std::int32_t> scopes_; ///< numbers of the open loops
  std::set<BufferId> poisoned_;
  std::set<std::int32_t> ended_; ///< scopes that are over
  std::int32_t next_scope_ = 0;
  std::int32_t next_id_ = 0;
  SourcePlace place_;
};

} // namespace kw::nki
