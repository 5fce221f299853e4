// SPDX-License-Identifier: Apache-2.0
// Rules that many calls share: what may be read, in which shapes, from which memory.
// Source: NKI errors (nki.errors) and architecture guides, Neuron SDK 2.24.
#pragma once

#include "nki/trace/signature.hpp"

#include <string_view>
#include <vector>

namespace kw::nki {

/// A tile on chip that an engine can read: partitions first, at most 128 of them, started where the
/// hardware allows. Reported otherwise; false: nothing sensible can be computed with it.
bool check_tile(Session& s, const TensorPtr& t, std::string_view parameter);
/// All with as many partitions (1 broadcasts where `broadcasts`), reported otherwise.
bool check_partitions(Session& s, const std::vector<std::pair<std::string_view, TensorPtr>>& tiles,
                      bool broadcasts);
/// Not both in PSUM.
void check_one_psum(Session& s, std::string_view a, const TensorPtr& x, std::string_view b,
                    const TensorPtr& y);
/// A column [P, 1] for a tile of `rank` dimensions.
[[nodiscard]] View column(const View& v, std::size_t rank);
/// The view with a first dimension of size 1 repeated, or any such where the shape says so.
[[nodiscard]] View stretched(const View& v, const std::vector<std::int64_t>& shape);
/// Shape of an elementwise result; reported and nullopt where operands do not fit.
std::optional<std::vector<std::int64_t>>
joined_shape(Session& s, const std::vector<std::pair<std::string_view, TensorPtr>>& tiles);

/// An operand of arithmetic: a tile or a number. none: reported.
struct Term {
  Operand operand;
  TensorPtr tensor; ///< nullptr: a number
  Element element = Element::float32;
  bool ok = true;
};
Term term_of(Session& s, const Value& v, std::string_view parameter);

/// The engine that runs an elementwise operator, as the compiler chooses it.
[[nodiscard]] Engine engine_for(Operation op, bool psum);

/// dst = op(a, b) or op(a) with NumPy's broadcasting, as nki.language has it.
Value elementwise(Session& s, Operation op, const Value& a, const Value* b,
                  std::optional<Element> dtype, const Mask& mask);

} // namespace kw::nki
