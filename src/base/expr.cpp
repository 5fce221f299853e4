// SPDX-License-Identifier: Apache-2.0
// Recursive descent over Python's precedence, lowest first: or, and, not, comparison (chained as in
// Python: a < b < c), + -, * / // %, unary -. Values are doubles: every integer up to 2^53 is
// exact, which covers the FLOPs of any kernel. // and % round towards minus infinity, as in Python.
#include "base/expr.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <optional>

namespace kw {

struct Expr::Node {
  enum class Op {
    number,
    name,
    negate,
    plus,
    logical_not,
    logical_and,
    logical_or,
    compare,
    arithmetic,
    call
  };
  Op op = Op::number;
  double number = 0;
  std::string word;                     ///< name, function, or the operator of `arithmetic`
  std::vector<std::string> comparisons; ///< operators between the operands of `compare`
  std::vector<std::shared_ptr<const Node>> operands;
};

namespace {

using Node = Expr::Node;
using NodePtr = std::shared_ptr<const Node>;

constexpr int max_depth = 100;         // parentheses and unary operators within each other
constexpr std::size_t max_text = 4096; // characters of one expression

bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool continues_name(char c) {
  return starts_name(c) || (c >= '0' && c <= '9');
}

class Parser {
 public:
  Parser(std::string_view text, std::vector<std::string>& names) : text_(text), names_(names) {}

  Result<NodePtr> whole() {
    NodePtr root = disjunction(0);
    space();
    if (root && at_ < text_.size())
      root = stop(at_, fmt::format("`{}` was not expected here", text_.substr(at_, 1)));
    if (!root)
      return fail(std::move(*error_));
    return root;
  }

 private:
  NodePtr stop(std::size_t at, std::string message) {
    if (!error_)
      error_ =
          Error{ErrorKind::invalid_input, fmt::format("{} in the expression `{}`", message, text_),
                "operators: or and not == != < <= > >= + - * / // %, functions: min max ceil_div",
                fmt::format("column {}", at + 1)};
    return nullptr;
  }
  void space() {
    while (at_ < text_.size() &&
           std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }
  bool symbol(std::string_view s) {
    space();
    if (text_.substr(at_, s.size()) != s)
      return false;
    at_ += s.size();
    return true;
  }
  bool keyword(std::string_view w) {
    space();
    if (text_.substr(at_, w.size()) != w ||
        (at_ + w.size() < text_.size() && continues_name(text_[at_ + w.size()])))
      return false;
    at_ += w.size();
    return true;
  }
  static std::shared_ptr<Node> make(Node::Op op, std::vector<NodePtr> operands,
                                    std::string word = {}) {
    auto n = std::make_shared<Node>();
    n->op = op;
    n->operands = std::move(operands);
    n->word = std::move(word);
    return n;
  }

  NodePtr disjunction(int depth) {
    if (depth > max_depth)
      return stop(at_, "nesting is too deep");
    NodePtr first = conjunction(depth);
    std::vector<NodePtr> all{first};
    while (first && keyword("or")) {
      all.push_back(first = conjunction(depth));
    }
    if (!first)
      return nullptr;
    return all.size() == 1 ? first : make(Node::Op::logical_or, std::move(all));
  }
  NodePtr conjunction(int depth) {
    NodePtr first = negation(depth);
    std::vector<NodePtr> all{first};
    while (first && keyword("and"))
      all.push_back(first = negation(depth));
    if (!first)
      return nullptr;
    return all.size() == 1 ? first : make(Node::Op::logical_and, std::move(all));
  }
  NodePtr negation(int depth) {
    if (depth > max_depth)
      return stop(at_, "nesting is too deep");
    if (!keyword("not"))
      return comparison(depth);
    NodePtr n = negation(depth + 1);
    return n ? make(Node::Op::logical_not, {n}) : nullptr;
  }
  NodePtr comparison(int depth) {
    NodePtr last = sum(depth);
    std::vector<NodePtr> all{last};
    std::vector<std::string> ops;
    while (last) {
      std::string_view found;
      for (const std::string_view op : {"==", "!=", "<=", ">=", "<", ">"})
        if (found.empty() && symbol(op))
          found = op;
      if (found.empty())
        break;
      ops.emplace_back(found);
      all.push_back(last = sum(depth));
    }
    if (!last || ops.empty())
      return last;
    auto n = make(Node::Op::compare, std::move(all));
    n->comparisons = std::move(ops);
    return n;
  }
  NodePtr sum(int depth) {
    NodePtr left = product(depth);
    while (left) {
      const char* op = symbol("+") ? "+" : symbol("-") ? "-" : nullptr;
      if (op == nullptr)
        break;
      left = join(op, left, product(depth));
    }
    return left;
  }
  NodePtr product(int depth) {
    NodePtr left = unary(depth);
    while (left) {
      const std::size_t before = at_;
      const char* op = symbol("//")  ? "//"
                       : symbol("*") ? "*"
                       : symbol("/") ? "/"
                       : symbol("%") ? "%"
                                     : nullptr;
      if (op == nullptr)
        break;
      if (op[0] == '*' && at_ < text_.size() && text_[at_] == '*')
        return stop(before, "`**` is not available");
      left = join(op, left, unary(depth));
    }
    return left;
  }
  static NodePtr join(const char* op, NodePtr left, NodePtr right) {
    return right ? make(Node::Op::arithmetic, {std::move(left), std::move(right)}, op) : nullptr;
  }
  NodePtr unary(int depth) {
    if (depth > max_depth)
      return stop(at_, "nesting is too deep");
    if (symbol("-")) {
      NodePtr n = unary(depth + 1);
      return n ? make(Node::Op::negate, {n}) : nullptr;
    }
    if (symbol("+")) {
      NodePtr n = unary(depth + 1);
      return n ? make(Node::Op::plus, {n}) : nullptr;
    }
    return atom(depth);
  }
  NodePtr atom(int depth) {
    space();
    const std::size_t start = at_;
    if (at_ == text_.size())
      return stop(at_, "a value is missing at the end");
    if (symbol("(")) {
      NodePtr inner = disjunction(depth + 1);
      if (inner && !symbol(")"))
        return stop(at_, "`)` is missing");
      return inner;
    }
    const char c = text_[at_];
    if ((c >= '0' && c <= '9') || c == '.')
      return number();
    if (!starts_name(c))
      return stop(at_, fmt::format("`{}` was not expected here",
                                   c >= ' ' && c < 0x7f ? std::string(1, c) : std::string("?")));
    while (at_ < text_.size() && continues_name(text_[at_]))
      ++at_;
    std::string word(text_.substr(start, at_ - start));
    if (word == "or" || word == "and" || word == "not")
      return stop(start, fmt::format("`{}` stands where a value was expected", word));
    if (word == "True" || word == "False") {
      auto n = make(Node::Op::number, {});
      n->number = word == "True" ? 1 : 0;
      return n;
    }
    if (symbol("("))
      return call(std::move(word), start, depth);
    if (std::ranges::find(names_, word) == names_.end())
      names_.push_back(word);
    return make(Node::Op::name, {}, std::move(word));
  }
  NodePtr number() {
    const std::size_t start = at_;
    std::string digits; // underscores group digits, as in Python
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const bool exponent_sign = (c == '+' || c == '-') && !digits.empty() &&
                                 (digits.back() == 'e' || digits.back() == 'E');
      if (!continues_name(c) && c != '.' && !exponent_sign)
        break;
      if (c != '_')
        digits += c;
      ++at_;
    }
    auto n = make(Node::Op::number, {});
    const auto r = std::from_chars(digits.data(), digits.data() + digits.size(), n->number);
    if (r.ec != std::errc{} || r.ptr != digits.data() + digits.size())
      return stop(start, fmt::format("`{}` is no number", text_.substr(start, at_ - start)));
    return n;
  }
  NodePtr call(std::string function, std::size_t start, int depth) {
    std::vector<NodePtr> arguments;
    if (!symbol(")")) {
      do {
        NodePtr a = disjunction(depth + 1);
        if (!a)
          return nullptr;
        arguments.push_back(std::move(a));
      } while (symbol(","));
      if (!symbol(")"))
        return stop(at_, "`)` is missing");
    }
    if (function == "min" || function == "max") {
      if (arguments.size() < 2)
        return stop(start, fmt::format("`{}` needs at least two values", function));
    } else if (function == "ceil_div") {
      if (arguments.size() != 2)
        return stop(start, "`ceil_div` needs two values");
    } else {
      return stop(start, fmt::format("`{}` is no known function", function));
    }
    return make(Node::Op::call, std::move(arguments), std::move(function));
  }

  std::string_view text_;
  std::vector<std::string>& names_;
  std::size_t at_ = 0;
  std::optional<Error> error_;
};

Result<double> divide(const std::string& op, double a, double b) {
  if (b == 0)
    return fail(ErrorKind::invalid_input, fmt::format("division by zero (`{}`)", op));
  if (op == "/")
    return a / b;
  if (op == "//")
    return std::floor(a / b);
  if (op == "ceil_div")
    return std::ceil(a / b);
  const double r = std::fmod(a, b); // %: takes the sign of b
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

Result<double> value_of(const Node& n, const Bindings& names);

/// `left` combined with the further operands of one node.
Result<double> combine(const Node& n, double left, const Bindings& names) {
  for (std::size_t i = 1; i < n.operands.size(); ++i) {
    KW_TRY(const double right, value_of(*n.operands[i], names));
    if (n.word == "+")
      left += right;
    else if (n.word == "-")
      left -= right;
    else if (n.word == "*")
      left *= right;
    else if (n.word == "min")
      left = std::min(left, right);
    else if (n.word == "max")
      left = std::max(left, right);
    else {
      KW_TRY(left, divide(n.word, left, right));
    }
  }
  return left;
}

/// A chain a + b + c ... leans to the left as deep as it is long: walked, not recursed into.
Result<double> apply(const Node& n, const Bindings& names) {
  std::vector<const Node*> chain{&n};
  const Node* first = n.operands[0].get();
  while (first->op == Node::Op::arithmetic) {
    chain.push_back(first);
    first = first->operands[0].get();
  }
  KW_TRY(double left, value_of(*first, names));
  for (std::size_t i = chain.size(); i-- > 0;) {
    KW_TRY(left, combine(*chain[i], left, names));
  }
  return left;
}

bool holds(const std::string& op, double a, double b) {
  if (op == "==")
    return a == b;
  if (op == "!=")
    return a != b;
  if (op == "<")
    return a < b;
  if (op == "<=")
    return a <= b;
  return op == ">" ? a > b : a >= b;
}

Result<double> value_of(const Node& n, const Bindings& names) {
  switch (n.op) {
  case Node::Op::number:
    return n.number;
  case Node::Op::name: {
    const auto at = names.find(n.word);
    if (at == names.end())
      return fail(ErrorKind::not_found, fmt::format("unknown name `{}` in an expression", n.word));
    return at->second;
  }
  case Node::Op::negate: {
    KW_TRY(const double v, value_of(*n.operands[0], names));
    return -v;
  }
  case Node::Op::plus:
    return value_of(*n.operands[0], names);
  case Node::Op::logical_not: {
    KW_TRY(const double v, value_of(*n.operands[0], names));
    return v == 0 ? 1.0 : 0.0;
  }
  case Node::Op::logical_and:
  case Node::Op::logical_or: { // stops at the first operand that decides
    const bool wanted = n.op == Node::Op::logical_or;
    for (const NodePtr& o : n.operands) {
      KW_TRY(const double v, value_of(*o, names));
      if ((v != 0) == wanted)
        return wanted ? 1.0 : 0.0;
    }
    return wanted ? 0.0 : 1.0;
  }
  case Node::Op::compare: {
    KW_TRY(double left, value_of(*n.operands[0], names));
    for (std::size_t i = 0; i < n.comparisons.size(); ++i) {
      KW_TRY(const double right, value_of(*n.operands[i + 1], names));
      if (!holds(n.comparisons[i], left, right))
        return 0.0;
      left = right;
    }
    return 1.0;
  }
  case Node::Op::arithmetic:
  case Node::Op::call:
    return apply(n, names);
  }
  return 0.0;
}

} // namespace

Result<Expr> Expr::parse(std::string_view text) {
  if (text.size() > max_text)
    return fail(ErrorKind::invalid_input,
                fmt::format("the expression has more than {} characters", max_text));
  Expr out;
  out.text_ = std::string(text);
  KW_TRY(out.root_, Parser(out.text_, out.names_).whole());
  return out;
}

Result<double> Expr::eval(const Bindings& names) const {
  KW_ASSERT(root_ != nullptr);
  auto value = value_of(*root_, names);
  if (!value)
    value.error().message += fmt::format(": `{}`", text_);
  return value;
}

} // namespace kw
