// SPDX-License-Identifier: Apache-2.0
#include "search/space.hpp"
#include "search/space_set.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace kw {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* gemm = R"({
 "schema": "kernwright.space/1", "name": "gemm-packed", "family": "gemm",
 "template": "gemm_packed.cpp", "entry": "gemm", "applies": "m >= 64",
 "parameters": [{"name": "MR", "values": [12, 6, 8]},
                {"name": "NR", "values": [16, 32, 64]},
                {"name": "ORDER", "values": ["nmk", "mnk"]},
                {"name": "PREFETCH", "values": [false, true]}],
 "legal": ["MR * NR // (vector_bytes // 4) <= 28", "PREFETCH == 0 or ORDER == ORDER_nmk"],
 "seeds": [{"MR": 12, "NR": 32, "ORDER": "nmk", "PREFETCH": true},
           {"MR": 12, "NR": 64, "ORDER": "nmk", "PREFETCH": true}]})";

Space space_of(const std::string& text) {
  Result<Space> space = parse_space(text, "gemm.space.json");
  EXPECT_TRUE(space) << (space ? "" : space.error().text());
  return space ? *space : Space{};
}
SpaceSet set_of(std::vector<Space> spaces, const Bindings& context) {
  Result<SpaceSet> set = SpaceSet::bind(std::move(spaces), context);
  EXPECT_TRUE(set) << (set ? "" : set.error().text());
  return std::move(*set);
}
const Bindings machine = {{"m", 4096}, {"vector_bytes", 64}};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Space, OrdersNumbersAndKeepsWords) {
  const Space space = space_of(gemm);
  EXPECT_THAT(space.parameters[0].values, ElementsAre("6", "8", "12"));
  EXPECT_THAT(space.parameters[0].numbers, ElementsAre(6, 8, 12));
  EXPECT_TRUE(space.parameters[0].ordered);
  EXPECT_FALSE(space.parameters[2].ordered);
  EXPECT_THAT(space.parameters[2].values, ElementsAre("nmk", "mnk"));
  EXPECT_THAT(space.parameters[3].values, ElementsAre("0", "1"));
  EXPECT_THAT(space.seeds[0], ElementsAre(2, 1, 0, 1));
}

TEST(Space, SaysWhatIsWrongAndWhere) {
  const std::vector<std::pair<std::pair<std::string, std::string>, std::string>> cases = {
      {{"space/1", "space/9"}, "schema"},
      {{"[12, 6, 8]", "[12, 6, 6]"}, "twice"},
      {{"[12, 6, 8]", "[12, 6.5, 8]"}, "neither a whole number nor a word"},
      {{"[12, 6, 8]", "[]"}, "no values"},
      {{"\"NR\", \"values\"", "\"MR\", \"values\""}, "declared twice"},
      {{"\"name\": \"NR\"", "\"name\": \"N R\""}, "no parameter name"},
      {{"m >= 64", "MR >= 64"}, "names the parameter"},
      {{"<= 28", "<= "}, "no expression"},
      {{"{\"MR\": 12, \"NR\": 64", "{\"MR\": 13, \"NR\": 64"}, "is no value of"},
      {{"{\"MR\": 12, \"NR\": 64", "{\"NR\": 64"}, "gives no value"},
      {{"{\"MR\": 12, \"NR\": 64", "{\"MR\": 12, \"XX\": 1, \"NR\": 64"}, "no parameter"}};
  for (const auto& [change, message] : cases) {
    const Result<Space> space =
        parse_space(replaced(gemm, change.first, change.second), "gemm.space.json");
    ASSERT_FALSE(space) << message;
    EXPECT_THAT(space.error().message, HasSubstr(message));
    EXPECT_THAT(space.error().where, HasSubstr("gemm.space.json"));
    EXPECT_FALSE(space.error().remedy.empty());
  }
  EXPECT_FALSE(parse_space("[]", "x"));
  EXPECT_FALSE(parse_space("{", "x"));
}

TEST(SpaceSet, EnumeratesExactlyTheLegalProduct) {
  const SpaceSet set = set_of({space_of(gemm)}, machine);
  std::set<Config> expected;
  const Space& space = set.spaces()[0];
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b)
      for (int c = 0; c < 2; ++c)
        for (int d = 0; d < 2; ++d)
          if (space.parameters[0].numbers[static_cast<std::size_t>(a)] *
                      space.parameters[1].numbers[static_cast<std::size_t>(b)] / 16 <=
                  28 &&
              (d == 0 || c == 0))
            expected.insert(Config{0, {a, b, c, d}});
  EXPECT_EQ(std::set<Config>(set.listed().begin(), set.listed().end()), expected);
  EXPECT_EQ(set.count(1000), expected.size());
  EXPECT_EQ(set.count(5), 5U);
  for (int a = -1; a < 4; ++a)
    for (int b = 0; b < 3; ++b)
      EXPECT_EQ(set.legal(Config{0, {a, b, 1, 1}}), expected.contains(Config{0, {a, b, 1, 1}}));
  EXPECT_FALSE(set.legal(Config{1, {0, 0, 0, 0}}));
  EXPECT_FALSE(set.legal(Config{0, {0, 0, 0}}));
  EXPECT_THAT(set.seeds(), ElementsAre(Config{0, {2, 1, 0, 1}})); // the second is not legal here
}

TEST(SpaceSet, NeighboursDifferInOneParameterAdjacentOnesFirst) {
  const SpaceSet set = set_of({space_of(gemm)}, machine);
  const std::vector<Config> near = set.neighbours(Config{0, {0, 0, 0, 0}});
  // MR 8, NR 32, ORDER mnk, PREFETCH 1, then the far ones: MR 12, NR 64
  EXPECT_THAT(near, ElementsAre(Config{0, {1, 0, 0, 0}}, Config{0, {0, 1, 0, 0}},
                                Config{0, {0, 0, 1, 0}}, Config{0, {0, 0, 0, 1}},
                                Config{0, {2, 0, 0, 0}}, Config{0, {0, 2, 0, 0}}));
}

TEST(SpaceSet, TextAndHashRoundTrip) {
  const SpaceSet set = set_of({space_of(gemm)}, machine);
  for (const Config& config : set.listed()) {
    const Result<Config> parsed = set.parse(set.text(config));
    ASSERT_TRUE(parsed);
    EXPECT_EQ(*parsed, config);
  }
  const Config config{0, {2, 1, 0, 1}};
  EXPECT_EQ(set.text(config), "space=gemm-packed MR=12 NR=32 ORDER=nmk PREFETCH=1");
  EXPECT_EQ(set.parse("NR=32 MR=12 PREFETCH=1 ORDER=nmk"), config);
  EXPECT_EQ(set.hash(config), 0x8d36b5fc01de70baU); // stored results rely on it
  for (const char* bad :
       {"space=x MR=12", "MR=12", "MR=12 MR=12", "MR", "MR=13 NR=32 ORDER=nmk PREFETCH=1",
        "MR=12 NR=32 ORDER=nmk PREFETCH=1 X=1"})
    EXPECT_FALSE(set.parse(bad)) << bad;
}

TEST(SpaceSet, TheTemplateIsADimension) {
  Space small = space_of(gemm);
  small.name = "gemm-small";
  small.applies.reset();
  const SpaceSet both = set_of({space_of(gemm), small}, machine);
  EXPECT_EQ(both.spaces().size(), 2U);
  EXPECT_FALSE(both.parse("MR=12 NR=32 ORDER=nmk PREFETCH=1")); // which one?
  Random chance(1);
  std::set<std::size_t> seen;
  for (int i = 0; i < 50; ++i)
    seen.insert(both.random(chance).space);
  EXPECT_EQ(seen.size(), 2U);
  const SpaceSet one = set_of({space_of(gemm), small}, {{"m", 1}, {"vector_bytes", 64}});
  ASSERT_EQ(one.spaces().size(), 1U); // gemm-packed applies from m = 64
  EXPECT_EQ(one.spaces()[0].name, "gemm-small");
  EXPECT_THAT(one.left_out(), ElementsAre("gemm-packed: applies where m >= 64"));
  Space hopeless = space_of(replaced(gemm, "<= 28", "<= 1"));
  hopeless.name = "gemm-hopeless";
  const SpaceSet rest = set_of({hopeless, small}, machine);
  EXPECT_EQ(rest.spaces().size(), 1U);
  EXPECT_THAT(rest.left_out(), ElementsAre(HasSubstr("gemm-hopeless: no configuration is legal")));
}

TEST(SpaceSet, RefusesWhatCannotBeSearched) {
  const auto message = [](const std::string& text, const Bindings& context) {
    Result<SpaceSet> set = SpaceSet::bind({space_of(text)}, context);
    return set ? std::string("fine") : set.error().message;
  };
  EXPECT_THAT(message(gemm, {{"m", 1}, {"vector_bytes", 64}}), HasSubstr("No schedule space"));
  EXPECT_THAT(message(gemm, {{"m", 64}}), HasSubstr("vector_bytes"));
  EXPECT_THAT(message(gemm, {{"vector_bytes", 64}}), HasSubstr("applies"));
  EXPECT_THAT(message(gemm, {{"m", 64}, {"vector_bytes", 64}, {"MR", 1}}),
              HasSubstr("name of an axis"));
  EXPECT_THAT(message(replaced(gemm, "<= 28", "<= 1"), machine),
              HasSubstr("no configuration is legal"));
  Result<SpaceSet> twice = SpaceSet::bind({space_of(gemm), space_of(gemm)}, machine);
  ASSERT_FALSE(twice);
  EXPECT_THAT(twice.error().message, HasSubstr("Two spaces"));
}

TEST(SpaceSet, BigSpacesAreNotListedAndStaySearchable) {
  // 16^8 points, of which the few with equal values throughout are legal: rejection finds none.
  std::string parameters, legal;
  for (int p = 0; p < 8; ++p) {
    parameters +=
        fmt::format(R"({}{{"name":"P{}","values":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]}})",
                    p == 0 ? "" : ",", p);
    if (p > 0)
      legal += fmt::format("{}\"P{} == P{}\"", p == 1 ? "" : ",", p, p - 1);
  }
  const std::string text =
      R"({"schema":"kernwright.space/1","name":"big","template":"t","entry":"e",
    "parameters":[)" +
      parameters + "],\"legal\":[";
  const SpaceSet diagonal = set_of({space_of(text + legal + "]}")}, {});
  EXPECT_EQ(diagonal.count(100), 16U);
  const SpaceSet cube = set_of({space_of(text + "\"P0 != P1\"]}")}, {});
  EXPECT_TRUE(cube.listed().empty());
  Random chance(7);
  std::set<Config> seen;
  for (int i = 0; i < 200; ++i) {
    const Config config = cube.random(chance);
    EXPECT_TRUE(cube.legal(config));
    seen.insert(config);
  }
  EXPECT_GT(seen.size(), 190U);
  EXPECT_FALSE(cube.legal(Config{0, {1, 1, 0, 0, 0, 0, 0, 0}}));
  const SpaceSet rare = set_of({space_of(text + "\"P0 == P1\",\"P1 == P2\",\"P2 == P3\"]}")}, {});
  EXPECT_TRUE(rare.listed().empty()); // 1 in 4096 is legal: found by walking, not by rejection
  for (int i = 0; i < 20; ++i)
    EXPECT_TRUE(rare.legal(rare.random(chance)));
}

} // namespace
} // namespace kw
