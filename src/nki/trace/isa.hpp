// SPDX-License-Identifier: Apache-2.0
// What the calls of nki.isa share: operands, operators, and the tables that their files hold.
// Source: nki.isa reference, Neuron SDK 2.24.
#pragma once

#include "nki/trace/operands.hpp"

#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace kw::nki {

Value nothing(Session& s, const TensorPtr& like, Element element);
void refuse_psum(Session& s, const TensorPtr& t, std::string_view parameter, Engine engine);
/// A number, or a column of one element per partition, for a tile of `rank` dimensions.
Term broadcast_operand(Session& s, const Value& v, std::string_view parameter,
                       const TensorPtr& data);
/// An operator that the engine has; reported otherwise.
bool check_operator(Session& s, Operation op, std::string_view parameter, Engine engine);
Engine chosen(Engine wanted, Operation op);
void check_bitvec(Session& s, Operation op,
                  std::initializer_list<std::pair<std::string_view, TensorPtr>> tiles);
bool check_reduce(Session& s, Operation op, std::string_view parameter);
/// `reduce_res` of an instruction: one element a partition.
std::optional<View> reduce_result(Session& s, Bound& b, const TensorPtr& data);

[[nodiscard]] const std::vector<Call>& isa_arithmetic_calls();
[[nodiscard]] const std::vector<Call>& isa_select_calls();
[[nodiscard]] const std::vector<Call>& isa_matrix_calls();
[[nodiscard]] const std::vector<Call>& isa_search_calls();

} // namespace kw::nki
