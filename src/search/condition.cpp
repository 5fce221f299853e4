// SPDX-License-Identifier: Apache-2.0
#include "search/condition.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>
#include <vector>

namespace kw {
namespace {

struct Token {
  enum class Kind { name, number, sign, end } kind = Kind::end;
  std::string_view text;
};

std::vector<Token> tokens_of(std::string_view text) {
  const auto is = [](int (*test)(int), char c) { return test(static_cast<unsigned char>(c)) != 0; };
  std::vector<Token> tokens;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (is(std::isspace, c)) {
      ++at;
      continue;
    }
    std::size_t end = at + 1;
    Token::Kind kind = Token::Kind::sign;
    if (is(std::isalpha, c) || c == '_') {
      kind = Token::Kind::name;
      while (end < text.size() && (is(std::isalnum, text[end]) || text[end] == '_'))
        ++end;
    } else if (is(std::isdigit, c) || c == '.') {
      kind = Token::Kind::number;
      while (end < text.size() && (is(std::isalnum, text[end]) || text[end] == '.' ||
                                   ((text[end] == '+' || text[end] == '-') &&
                                    (text[end - 1] == 'e' || text[end - 1] == 'E'))))
        ++end;
    } else {
      static constexpr std::array<std::string_view, 6> doubled = {
          "==", "!=", "<=", ">=", "//", "**"};
      if (std::find(doubled.begin(), doubled.end(), text.substr(at, 2)) != doubled.end())
        end = at + 2;
    }
    tokens.push_back({kind, text.substr(at, end - at)});
    at = end;
  }
  tokens.push_back({});
  return tokens;
}

bool is_word(std::string_view name) {
  static constexpr std::array<std::string_view, 6> words = {"or",  "and", "not",
                                                            "min", "max", "ceil_div"};
  return std::find(words.begin(), words.end(), name) != words.end();
}

/// Recursive descent in Python's order of binding; everything is parenthesised.
class Translator {
 public:
  Translator(const Expr& expression, const std::function<std::string(std::string_view)>& spell)
      : text_(expression.text()), tokens_(tokens_of(text_)), spell_(spell) {}

  Result<std::string> translate() {
    std::string cpp = disjunction();
    if (error_.empty() && token().kind != Token::Kind::end)
      error_ = fmt::format("\"{}\" is not expected here", token().text);
    if (!error_.empty())
      return fail(ErrorKind::invalid_input,
                  fmt::format("\"{}\" cannot be written in C++: {}", text_, error_),
                  "use axis names, numbers and the operators of docs/tuner.md");
    return cpp;
  }

 private:
  [[nodiscard]] const Token& token() const { return tokens_[at_]; }
  bool take(std::string_view text) {
    if (token().kind == Token::Kind::end || token().text != text)
      return false;
    ++at_;
    return true;
  }
  // Python's `and`/`or` yield an operand, but Expr gives 0 or 1.
  std::string disjunction() {
    std::string left = conjunction();
    while (take("or"))
      left = fmt::format("double({} != 0 || {} != 0)", left, conjunction());
    return left;
  }
  std::string conjunction() {
    std::string left = negation();
    while (take("and"))
      left = fmt::format("double({} != 0 && {} != 0)", left, negation());
    return left;
  }
  std::string negation() {
    return take("not") ? fmt::format("double({} == 0)", negation()) : comparison();
  }
  std::string comparison() {
    std::string left = sum(), chain;
    for (;;) {
      static constexpr std::array<std::string_view, 6> signs = {"==", "!=", "<=", ">=", "<", ">"};
      const auto sign = std::find(signs.begin(), signs.end(), token().text);
      if (token().kind != Token::Kind::sign || sign == signs.end())
        return chain.empty() ? left : fmt::format("double({})", chain);
      ++at_;
      std::string right = sum();
      chain += fmt::format("{}{} {} {}", chain.empty() ? "" : " && ", left, *sign, right);
      left = std::move(right);
    }
  }
  std::string sum() {
    std::string left = product();
    for (;;) {
      if (take("+"))
        left = fmt::format("({} + {})", left, product());
      else if (take("-"))
        left = fmt::format("({} - {})", left, product());
      else
        return left;
    }
  }
  std::string product() {
    std::string left = unary();
    for (;;) {
      if (take("*"))
        left = fmt::format("({} * {})", left, unary());
      else if (take("//"))
        left = fmt::format("kw_floor({} / {})", left, unary());
      else if (take("/"))
        left = fmt::format("({} / {})", left, unary());
      else if (take("%"))
        left = fmt::format("kw_modulo({}, {})", left, unary());
      else
        return left;
    }
  }
  std::string unary() {
    if (take("-"))
      return fmt::format("(-{})", unary());
    return primary();
  }
  std::string primary() {
    const Token now = token();
    if (now.kind == Token::Kind::number) {
      ++at_;
      return fmt::format("double({})", now.text);
    }
    if (take("(")) {
      std::string inner = disjunction();
      if (!take(")") && error_.empty())
        error_ = "a closing parenthesis is missing";
      return inner;
    }
    if (now.kind != Token::Kind::name) {
      if (error_.empty())
        error_ = now.kind == Token::Kind::end ? "it ends too early"
                                              : fmt::format("\"{}\" is not expected", now.text);
      if (now.kind != Token::Kind::end)
        ++at_;
      return "0";
    }
    ++at_;
    if (now.text == "min" || now.text == "max" || now.text == "ceil_div")
      return call(now.text);
    std::string cpp = is_word(now.text) ? std::string{} : spell_(now.text);
    if (cpp.empty() && error_.empty())
      error_ = fmt::format("\"{}\" is not known", now.text);
    return cpp;
  }
  std::string call(std::string_view function) {
    std::vector<std::string> arguments;
    if (!take("(") && error_.empty())
      error_ = fmt::format("\"{}\" needs arguments", function);
    do
      arguments.push_back(disjunction());
    while (take(","));
    if (!take(")") && error_.empty())
      error_ = "a closing parenthesis is missing";
    if (function == "ceil_div")
      return arguments.size() == 2
                 ? fmt::format("(-kw_floor(-{} / {}))", arguments[0], arguments[1])
                 : std::string("0");
    std::string folded = arguments[0];
    for (std::size_t i = 1; i < arguments.size(); ++i)
      folded = fmt::format("kw_{}({}, {})", function, folded, arguments[i]);
    return folded;
  }

  std::string text_;
  std::vector<Token> tokens_;
  const std::function<std::string(std::string_view)>& spell_;
  std::size_t at_ = 0;
  std::string error_;
};

} // namespace

Result<std::string> to_cpp(const Expr& expression,
                           const std::function<std::string(std::string_view)>& spell) {
  return Translator(expression, spell).translate();
}

std::string_view expression_prelude() {
  // Axis values are far below 2^53, so that int64_t holds every quotient.
  return R"(namespace {
[[maybe_unused]] inline double kw_floor(double x) {
  const double t = double((long long)x);
  return t > x ? t - 1 : t;
}
[[maybe_unused]] inline double kw_modulo(double a, double b) { return a - b * kw_floor(a / b); }
[[maybe_unused]] inline double kw_min(double a, double b) { return b < a ? b : a; }
[[maybe_unused]] inline double kw_max(double a, double b) { return b > a ? b : a; }
} // namespace
)";
}

} // namespace kw
