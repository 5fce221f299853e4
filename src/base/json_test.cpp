// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kw {
namespace {

using testing::HasSubstr;

Result<Json> parse(std::string_view text) {
  return parse_json({.file = "f.json", .text = text});
}
std::string where_of_error(std::string_view text) {
  auto r = parse(text);
  return r ? "no error" : r.error().where;
}

TEST(Json, KeepsKeyOrderAndTypes) {
  auto j = parse(R"({"z":1,"a":[true,null,-2.5],"m":"x"})");
  ASSERT_TRUE(j);
  EXPECT_EQ(dump_json(*j), R"({"z":1,"a":[true,null,-2.5],"m":"x"})");
}

TEST(Json, TakesThePythonTokensForNonFiniteNumbers) {
  auto j = parse("[NaN, Infinity, -Infinity, 1e999]");
  ASSERT_TRUE(j);
  EXPECT_TRUE(std::isnan((*j)[0].get<double>()));
  EXPECT_EQ((*j)[1].get<double>(), INFINITY);
  EXPECT_EQ((*j)[2].get<double>(), -INFINITY);
  EXPECT_EQ((*j)[3].get<double>(), INFINITY);
  EXPECT_EQ(number_to_json(NAN), "NaN");
  EXPECT_EQ(number_to_json(-INFINITY), "-Infinity");
  EXPECT_EQ(number_to_json(2.5), 2.5);
}

TEST(Json, IntegersStayExact) {
  auto j = parse(
      "[9223372036854775807, 18446744073709551615, -9223372036854775808, 123456789012345678901]");
  ASSERT_TRUE(j);
  EXPECT_EQ((*j)[0].get<std::int64_t>(), INT64_MAX);
  EXPECT_EQ((*j)[1].get<std::uint64_t>(), UINT64_MAX);
  EXPECT_EQ((*j)[2].get<std::int64_t>(), INT64_MIN);
  EXPECT_TRUE((*j)[3].is_number_float());
}

TEST(Json, DecodesEscapesAndSurrogatePairs) {
  auto j = parse(R"(["\u00e9\n\"\\\/\ud83d\ude00\u0000"])");
  ASSERT_TRUE(j);
  EXPECT_EQ((*j)[0].get<std::string>(), std::string("\xc3\xa9\n\"\\/\xf0\x9f\x98\x80\0", 11));
}

TEST(Json, NamesLineAndColumnOfFaults) {
  EXPECT_EQ(where_of_error("{\n  \"a\": 1,\n  \"a\": 2\n}"), "f.json:3:3"); // duplicate
  EXPECT_EQ(where_of_error("[1, 2,]"), "f.json:1:7");
  EXPECT_EQ(where_of_error("{\"k\": 01}"), "f.json:1:7");
  EXPECT_EQ(where_of_error("\"\xc3\xa9\xc3\xa9\" x"), "f.json:1:6"); // columns count characters
  EXPECT_EQ(where_of_error(""), "f.json:1:1");
  EXPECT_THAT(parse("{'a': 1}").error().message, HasSubstr("double quotes"));
}

TEST(Json, RefusesWhatRfc8259Refuses) {
  for (const char* text : {"{\"a\":1,}",
                           "[1 2]",
                           "nul",
                           "tru",
                           "+1",
                           "1.",
                           ".5",
                           "1e",
                           "--1",
                           "\"a\nb\"",
                           "\"\\x\"",
                           "\"\\ud800\"",
                           "\"\\udc00\\ud800\"",
                           "\"abc",
                           "[",
                           "{\"a\"",
                           "{\"a\":",
                           "1 2",
                           "\"\xff\"",
                           "\"\xed\xa0\x80\"",
                           "\"\\u12",
                           "\"\\u-123\"",
                           "nan",
                           "Inf",
                           "-",
                           "-Inf",
                           "\"\\"})
    EXPECT_FALSE(parse(text)) << text;
}

TEST(Json, BoundsDepth) {
  EXPECT_TRUE(parse(std::string(200, '[') + std::string(200, ']')));
  auto deep = parse(std::string(100'000, '['));
  ASSERT_FALSE(deep);
  EXPECT_THAT(deep.error().message, HasSubstr("256 levels"));
}

TEST(Json, LargeObjectsParseInLinearTime) {
  std::string text = "{";
  for (int i = 0; i < 200'000; ++i)
    text += "\"" + std::to_string(i) + "\":0,";
  text.back() = '}';
  auto j = parse(text);
  ASSERT_TRUE(j);
  EXPECT_EQ(j->size(), 200'000u);
}

TEST(Locate, FindsValuesAndFallsBackToAncestors) {
  const JsonSource s{
      .file = "d.json",
      .text = "{\n \"axes\": {\"m\": {\"type\": \"var\"},\n  \"a/b~c\": [10, \"]}\\\"\", 30]}}",
      .first_line = 5};
  EXPECT_EQ(locate(s, ""), "d.json:5:1");
  EXPECT_EQ(locate(s, "/axes/m/type"), "d.json:6:25");
  EXPECT_EQ(locate(s, "/axes/m/value"), "d.json:6:16");
  EXPECT_EQ(locate(s, "/axes/a~1b~0c/2"), "d.json:7:25");
  EXPECT_EQ(locate(s, "/axes/a~1b~0c/3"), "d.json:7:12");
  EXPECT_EQ(locate(s, "/nothing"), "d.json:5:1");
}

TEST(ObjectReader, ReadsAsLaxModeDoes) {
  const std::string_view text =
      R"({"i":"42","f":3.0,"b":"on","d":"1e3","n":"NaN","x":null,"t":true,"one":1})";
  const JsonSource s{.file = "o.json", .text = text};
  auto j = parse_json(s);
  ASSERT_TRUE(j);
  std::vector<Error> errors;
  ObjectReader r(*j, s, "", errors);
  EXPECT_EQ(r.integer("i"), 42);
  EXPECT_EQ(r.integer("f"), 3);
  EXPECT_EQ(r.integer("t"), 1);
  EXPECT_TRUE(r.boolean_or("b", false));
  EXPECT_TRUE(r.boolean_or("one", false));
  EXPECT_EQ(r.number_or("d", 0), 1000);
  EXPECT_TRUE(std::isnan(r.number_or("n", 0)));
  EXPECT_EQ(r.number_or("x", 7), 7);
  EXPECT_EQ(r.string_or("absent", "d"), "d");
  EXPECT_TRUE(errors.empty());
  EXPECT_EQ(r.unknown_keys(), "");
}

TEST(ObjectReader, CollectsErrorsWithPositionsAndKeepsUnknownKeys) {
  const std::string_view text =
      "{\"i\": \"4x\",\n \"s\": \"\", \"l\": [1],\n \"extra\": {\"z\": 1, \"a\": 2}}";
  const JsonSource s{.file = "o.json", .text = text};
  auto j = parse_json(s);
  ASSERT_TRUE(j);
  std::vector<Error> errors;
  ObjectReader r(*j, s, "", errors);
  r.integer("i");
  r.string("s");
  r.strings_or_empty("l");
  r.string("missing");
  ASSERT_EQ(errors.size(), 4u);
  EXPECT_EQ(errors[0].where, "o.json:1:7");
  EXPECT_EQ(errors[1].where, "o.json:2:7");
  EXPECT_EQ(errors[2].where, "o.json:2:17");
  EXPECT_EQ(errors[3].where, "o.json:1:1");
  EXPECT_EQ(r.unknown_keys(), R"({"extra":{"z":1,"a":2}})");
}

TEST(ObjectReader, RefusesFractionsAndOutOfRangeIntegers) {
  const JsonSource s{.file = "o.json",
                     .text = R"({"a":1.5,"b":1e30,"c":18446744073709551615,"d":[],"e":NaN})"};
  auto j = parse_json(s);
  ASSERT_TRUE(j);
  std::vector<Error> errors;
  ObjectReader r(*j, s, "", errors);
  for (const char* key : {"a", "b", "c", "d", "e"})
    r.integer(key);
  EXPECT_EQ(errors.size(), 5u);
}

} // namespace
} // namespace kw
