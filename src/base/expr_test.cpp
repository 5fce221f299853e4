// SPDX-License-Identifier: Apache-2.0
#include "base/expr.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

const Bindings names{{"m", 7}, {"n", 3}, {"block_m2", 64}};

double value(std::string_view text) {
  auto e = Expr::parse(text);
  if (!e) {
    ADD_FAILURE() << text << ": " << e.error().text();
    return -999;
  }
  auto v = e->eval(names);
  if (!v)
    ADD_FAILURE() << text << ": " << v.error().text();
  return v.value_or(-999);
}

TEST(Expr, FollowsPythonPrecedence) {
  EXPECT_EQ(value("2 + 3 * m"), 23);
  EXPECT_EQ(value("(2 + 3) * m"), 35);
  EXPECT_EQ(value("10 - 4 - 3"), 3);
  EXPECT_EQ(value("-m // 2"), -4); // floor, not truncation
  EXPECT_EQ(value("-m % n"), 2);   // sign of the divisor
  EXPECT_EQ(value("m % -n"), -2);
  EXPECT_EQ(value("m / 2"), 3.5);
  EXPECT_EQ(value("2 * -m"), -14);
  EXPECT_EQ(value("1_000 + 1.5e3"), 2500);
  EXPECT_EQ(value("not m == n and n < 4"), 1);
  EXPECT_EQ(value("1 or 0 and 0"), 1);
  EXPECT_EQ(value("not 0 + 1"), 0);
  EXPECT_EQ(value("1 < n < m < 8"), 1); // chained
  EXPECT_EQ(value("1 < n > m"), 0);
}

TEST(Expr, HasFunctionsAndNames) {
  EXPECT_EQ(value("min(m, n, 5)"), 3);
  EXPECT_EQ(value("max(m, ceil_div(m * n, 2))"), 11);
  EXPECT_EQ(value("block_m2 % 16 == 0"), 1);
  EXPECT_EQ(value("True + False"), 1);
  EXPECT_THAT(Expr::parse("m * n + m * k")->names(), testing::ElementsAre("m", "n", "k"));
}

TEST(Expr, LogicStopsAtTheOperandThatDecides) {
  EXPECT_EQ(value("n == 0 or m / n > 2"), 1);
  EXPECT_EQ(value("0 and 1 / 0"), 0);
}

TEST(Expr, ErrorsNameColumnAndCause) {
  const auto error = [](std::string_view text) {
    auto e = Expr::parse(text);
    return e ? std::string("parsed") : e.error().where + ": " + e.error().message;
  };
  EXPECT_THAT(error("m * * n"), testing::HasSubstr("column 5"));
  EXPECT_THAT(error("m ** 2"), testing::HasSubstr("**"));
  EXPECT_THAT(error("pow(m, 2)"), testing::HasSubstr("no known function"));
  EXPECT_THAT(error("min(m)"), testing::HasSubstr("at least two"));
  EXPECT_THAT(error("(m"), testing::HasSubstr("missing"));
  EXPECT_THAT(error("1.2.3"), testing::HasSubstr("no number"));
  for (const char* text : {"", "m n", "m +", "and", "not", "min(,)", "m[0]", "a.b", "m = 3", "1x",
                           "0x10", ")", "m <", "é"})
    EXPECT_FALSE(Expr::parse(text)) << text;
}

TEST(Expr, EvaluationErrors) {
  EXPECT_EQ(Expr::parse("q + 1")->eval(names).error().kind, ErrorKind::not_found);
  EXPECT_FALSE(Expr::parse("m // (n - 3)")->eval(names));
  EXPECT_FALSE(Expr::parse("m % 0")->eval(names));
}

TEST(Expr, HostileInputIsBounded) {
  EXPECT_FALSE(Expr::parse(std::string(4000, '(')));
  EXPECT_FALSE(Expr::parse(std::string(4000, '-')));
  EXPECT_FALSE(Expr::parse(std::string(5000, '1')));
  std::string nots;
  for (int i = 0; i < 900; ++i)
    nots += "not ";
  EXPECT_FALSE(Expr::parse(nots + "1"));
  std::string sum = "1"; // a long chain is fine
  for (int i = 0; i < 2000; ++i)
    sum += "+1";
  EXPECT_EQ(Expr::parse(sum)->eval({}).value(), 2001);
}

} // namespace
} // namespace kw
