// SPDX-License-Identifier: Apache-2.0
// What a traced kernel does: instructions in loops. Every API call of NKI becomes a few of them.
#pragma once

#include "nki/ir/tensor.hpp"
#include "nki/lang/operation.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kw::nki {

/// What an instruction reads: nothing, a number known when the kernel is compiled, or a tensor.
struct Operand {
  std::variant<std::monostate, double, View> of;
  [[nodiscard]] bool is_none() const { return of.index() == 0; }
  [[nodiscard]] const double* number() const { return std::get_if<double>(&of); }
  [[nodiscard]] const View* view() const { return std::get_if<View>(&of); }
  [[nodiscard]] View* view() { return std::get_if<View>(&of); }
};

/// y = op(y, with), or op(with, y) where reversed.
struct Step {
  Operation op = Operation::none;
  Operand with;
  bool reversed = false;
};

enum class Kind : std::uint8_t {
  allocate,   ///< `dst` names a buffer that begins anew here
  compute,    ///< dst = steps(sources[0]); reduced along the free dimensions where `reduce` says so
  select,     ///< dst = sources[0] != 0 ? sources[1] : sources[2]
  copy_where, ///< the same, but dst stays where the predicate is false
  partition_reduce,
  matmul,        ///< dst (+)= sources[0]^T sources[1]
  transpose,     ///< dst[f, p] = sources[0][p, f]; of DMA: dimensions in reverse, 4-D (3, 1, 2, 0)
  scan,          ///< r[i] = op1(op0(sources[0][i], r[i - 1]), sources[1][i]), r[-1] = sources[2]
  iota,          ///< dst = an affine expression of places
  affine_select, ///< dst = condition >= 0 ? sources[0] : sources[1]
  range_select,
  bn_stats,
  bn_aggr,
  max8,
  find_index8,
  match_replace8,
  local_gather,
  gather,  ///< gather_flattened
  shuffle, ///< within quadrants of partitions
  random,  ///< uniform in [0, 1)
  dropout,
  seed,
  dma_accumulate, ///< dst += sources..., in HBM
  loop_reduce,    ///< dst = op over iterations of sources[0]
  print,
};

struct Instruction {
  Kind kind = Kind::compute;
  Engine engine = Engine::none;
  std::string_view api; ///< "nisa.tensor_scalar"; static
  View dst;
  std::vector<Operand> sources;
  std::vector<Step> steps;
  /// Type that a result is rounded to before it is cast to the type of `dst`.
  std::optional<Element> via;
  Operation reduce = Operation::none;
  int reduced_dims = 0;               ///< trailing dimensions of sources[0]; 0 = all free ones
  std::optional<View> reduce_dst;     ///< beside dst; none: the reduction is what dst gets
  bool negate = false;                ///< of a reduction
  bool accumulate = false;            ///< matmul: adds to dst
  bool keep_register = false;         ///< reduction: goes on from what the register has
  bool exact_integers = false;        ///< 32-bit integer work of GpSimdE
  bool transposes = false;            ///< matmul with an identity
  bool one_zero = false;              ///< matmul: an operand of ones and zeros
  std::optional<Index> expression;    ///< iota, affine_select, range_select (start)
  std::array<Operation, 2> compare{}; ///< range_select
  std::vector<std::int64_t> numbers;  ///< shuffle mask and the like
  std::vector<Variable> loops;        ///< loop_reduce
  Mask mask;
  SourcePlace place;
  std::int32_t id = 0;
};

enum class LoopKind : std::uint8_t {
  affine,     ///< iterations in any order, or at once
  sequential, ///< in order
};

struct Loop;
using Node = std::variant<Instruction, std::unique_ptr<Loop>>;
struct Loop {
  LoopKind kind = LoopKind::sequential;
  Variable variable = 0;
  std::int64_t first = 0, step = 1, count = 0;
  std::vector<Node> body;
  SourcePlace place;
};

/// A traced kernel. Variables 0 to grid.size() - 1 are the program ids.
struct Program {
  std::string name;
  std::vector<Buffer> buffers; ///< by id
  std::vector<Node> body;
  std::vector<std::int64_t> grid;     ///< of the launch; empty: one program
  std::vector<std::string> variables; ///< names
  std::vector<BufferId> parameters, results;
  std::vector<std::string> files;
};

[[nodiscard]] std::int64_t count_instructions(const std::vector<Node>& body); ///< as executed

} // namespace kw::nki
