// SPDX-License-Identifier: Apache-2.0
// Parameters of the API calls, and the table of all calls.
#pragma once

#include "nki/trace/session.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kw::nki {

/// Arguments of one call by parameter.
class Bound {
 public:
  Bound(Session& session, std::string_view signature, const Arguments& arguments);

  [[nodiscard]] bool has(std::string_view parameter) const; ///< given, and not None
  [[nodiscard]] const Value& operator[](std::string_view parameter) const;
  /// A tensor that may be read; else nullptr, which is reported.
  [[nodiscard]] TensorPtr tensor(std::string_view parameter) const;
  [[nodiscard]] std::optional<Element> element(std::string_view parameter) const;
  /// none: not given, or not an operator, which is reported.
  [[nodiscard]] Operation operation(std::string_view parameter) const;
  [[nodiscard]] bool flag(std::string_view parameter) const;
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view parameter) const;
  [[nodiscard]] Mask mask() const;
  /// Value of a member of an enumeration; `otherwise` where it is not given.
  [[nodiscard]] std::int64_t member(std::string_view parameter, std::int64_t otherwise) const;
  /// engine=...; none: the compiler chooses.
  [[nodiscard]] Engine engine() const;

 private:
  struct Parameter {
    std::string name;
    Value value;
    bool given = false;
  };
  Session& session_;
  std::vector<Parameter> parameters_;
};

using Handler = Value (*)(Session&, Bound&, Operation);
struct Call {
  std::string_view path;      ///< "nl.add"
  std::string_view signature; ///< "x, y, *, dtype=None, mask=None"
  Handler handler;            ///< nullptr: known, not supported
  Operation operation = Operation::none;
};
[[nodiscard]] const std::vector<Call>& calls_of(Dialect dialect);

} // namespace kw::nki
