// SPDX-License-Identifier: Apache-2.0
// Arithmetic and logic over named integers: FLOP and byte counts, axis constraints, legality
// predicates of schedule spaces. A Python subset, so that one text means the same in both.
//   or and not  == != < <= > >=  + -  * / // %  unary-  min(a,b,..) max(a,b,..) ceil_div(a,b)
#pragma once

#include "base/result.hpp"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

using Bindings = std::map<std::string, double, std::less<>>;

class Expr {
 public:
  /// Errors: syntax, with the column in `where`.
  static Result<Expr> parse(std::string_view text);
  /// Errors: unknown name, division by zero. Comparisons and logic give 0 or 1.
  [[nodiscard]] Result<double> eval(const Bindings& names) const;
  [[nodiscard]] const std::string& text() const { return text_; }
  /// The names it uses, each once, in order of appearance.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

  struct Node;

 private:
  std::string text_;
  std::vector<std::string> names_;
  std::shared_ptr<const Node> root_;
};

} // namespace kw
