// SPDX-License-Identifier: Apache-2.0
#include "search/instantiate.hpp"

#include "search/condition.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

using testing::HasSubstr;
using testing::Not;

Definition definition() {
  Definition d;
  d.name = "scale";
  d.axes = {{"m", std::nullopt, "", ""}, {"n", 64, "", ""}};
  d.inputs = {{"x", std::vector<std::string>{"m", "n"}, DType::bfloat16, "", ""},
              {"alpha", std::nullopt, DType::float32, "", ""}};
  d.outputs = {{"y", std::vector<std::string>{"m", "n"}, DType::float32, "", ""}};
  return d;
}
Space space() {
  return *parse_space(R"({"schema":"kernwright.space/1","name":"scale-rows","template":"t.cpp",
    "entry":"scale","parameters":[{"name":"UNROLL","values":[1,4]},
    {"name":"ORDER","values":["row","column"]}]})",
                      "t.space.json");
}
constexpr const char* text = R"(// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>
/* two
   lines */
# include "kernwright.h"

#define LANES 16
namespace KW_NAMESPACE {
static int KW_ENTRY(const uint16_t* x, float alpha, float* y, int64_t m) {
  return 0;
}
}
)";

std::size_t occurrences(const std::string& haystack, const std::string& needle) {
  std::size_t n = 0;
  for (std::size_t at = haystack.find(needle); at != std::string::npos;
       at = haystack.find(needle, at + 1))
    ++n;
  return n;
}

TEST(Instantiate, NarrowScalarsTravelAsFloat) {
  const Space s = space();
  Definition d = definition();
  d.inputs[1].dtype = DType::bfloat16;
  const Result<Solution> made = instantiate(d, {&s, {1, 0}, text});
  ASSERT_TRUE(made) << made.error().text();
  EXPECT_THAT(made->sources[0].content, HasSubstr("const uint16_t* a0, float a1, float* a2"));
}

TEST(Instantiate, MakesOneSelfContainedSource) {
  const Space s = space();
  const Result<Solution> made = instantiate(definition(), {&s, {1, 0}, text});
  ASSERT_TRUE(made) << made.error().text();
  EXPECT_TRUE(made->name.starts_with("kw-scale-")) << made->name;
  EXPECT_EQ(made->name.size(), std::string("kw-scale-").size() + 6);
  EXPECT_EQ(made->spec.entry_point, "kernel.cpp::scale");
  EXPECT_EQ(made->author, "kernwright");
  ASSERT_EQ(made->sources.size(), 1U);
  const std::string& source = made->sources[0].content;
  EXPECT_THAT(source, HasSubstr("#define KW_P_UNROLL 4\n"));
  EXPECT_THAT(source, HasSubstr("#define KW_P_ORDER 0\n"));
  EXPECT_THAT(source, HasSubstr("#define KW_P_ORDER_column 1\n"));
  EXPECT_THAT(source, HasSubstr("#undef LANES\n"));
  EXPECT_THAT(source, HasSubstr("extern \"C\" int scale(const uint16_t* a0, float a1, float* a2, "
                                "int64_t kw_axis_m) {\n"
                                "  return kw_variant_0::kw_entry(a0, a1, a2, kw_axis_m);\n}\n"));
  EXPECT_EQ(occurrences(source, "include"), 3U);
  EXPECT_LT(source.find("kernwright.h"), source.find("namespace KW_NAMESPACE"));
  EXPECT_EQ(instantiate(definition(), {&s, {1, 0}, text})->name, made->name);
  EXPECT_NE(instantiate(definition(), {&s, {0, 0}, text})->name, made->name);
}

TEST(Instantiate, AxisNamesAreNoCode) {
  const Space s = space();
  Definition d = definition();
  d.axes[0].name = "m) { evil(); } int f(int m";
  const Result<Solution> made = instantiate(d, {&s, {1, 0}, text});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("no identifier"));
}

TEST(Instantiate, DispatchTestsBranchesInOrder) {
  const Space s = space();
  const std::vector<Branch> branches = {{"m <= 16", {&s, {0, 0}, text}}, {"", {&s, {1, 1}, text}}};
  const Result<Solution> made = instantiate_dispatch(definition(), branches);
  ASSERT_TRUE(made) << made.error().text();
  const std::string& source = made->sources[0].content;
  EXPECT_EQ(occurrences(source, "<immintrin.h>"), 1U);
  EXPECT_EQ(occurrences(source, "#define KW_NAMESPACE"), 2U);
  EXPECT_EQ(occurrences(source, "#undef KW_P_UNROLL"), 2U);
  EXPECT_THAT(source, HasSubstr("if (double(double(kw_axis_m) <= double(16)) != 0)\n"
                                "    return kw_variant_0::kw_entry"));
  EXPECT_THAT(source, HasSubstr("  return kw_variant_1::kw_entry"));
  EXPECT_THAT(source, Not(HasSubstr("outside the contract")));
  const std::vector<Branch> partial = {{"m <= 16 and n == 64", {&s, {0, 0}, text}}};
  EXPECT_THAT(instantiate_dispatch(definition(), partial)->sources[0].content,
              HasSubstr("return 1; // outside the contract"));
}

TEST(Instantiate, AForeignBranchIsAUnitOfItsOwn) {
  const Space s = space();
  Solution foreign;
  foreign.name = "theirs";
  foreign.spec.entry_point = "a.cpp::run_it";
  foreign.spec.binding = "kernwright";
  foreign.sources = {{"a.cpp", "#include \"b.h\"\n"}, {"b.h", "int b;\n"}, {"c.cc", "int c;\n"}};
  const std::vector<Branch> branches = {{.when = "m <= 16", .foreign = &foreign},
                                        {.when = "", .variant = {&s, {1, 1}, text}}};
  const Result<Solution> made = instantiate_dispatch(definition(), branches);
  ASSERT_TRUE(made) << made.error().text();
  std::vector<std::string> paths;
  for (const SourceFile& file : made->sources)
    paths.push_back(file.path);
  EXPECT_THAT(paths,
              testing::ElementsAre("kernel.cpp", "kw_foreign_0/a.cpp.inc", "kw_foreign_0/b.h",
                                   "kw_foreign_0/c.cc.inc", "kw_foreign_0.cpp"));
  EXPECT_EQ(made->sources.back().content, "#define run_it kw_foreign_0\n"
                                          "#include \"kw_foreign_0/a.cpp.inc\"\n"
                                          "#include \"kw_foreign_0/c.cc.inc\"\n");
  EXPECT_THAT(made->sources[0].content, HasSubstr("extern \"C\" int kw_foreign_0("));
  EXPECT_THAT(made->sources[0].content, HasSubstr("return kw_foreign_0(a0"));
  EXPECT_EQ(made->spec.entry_point, "kernel.cpp::scale");
  const std::string name = made->name;
  foreign.sources[1].content = "int bb;\n";
  EXPECT_NE(instantiate_dispatch(definition(), branches)->name, name);

  const std::vector<Branch> only = {{.when = "m <= 16", .foreign = &foreign}};
  EXPECT_EQ(instantiate_dispatch(definition(), only)->spec.entry_point, "kernel.cpp::run_it");
  foreign.spec.binding = "tvm-ffi";
  const Result<Solution> refused = instantiate_dispatch(definition(), only);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("`theirs` cannot be a branch"));
}

TEST(Instantiate, RefusesWithARemedy) {
  const Space s = space();
  const std::string late = std::string(text) + "#include <math.h>\n";
  const Result<Solution> misplaced = instantiate(definition(), {&s, {0, 0}, late});
  ASSERT_FALSE(misplaced);
  EXPECT_EQ(misplaced.error().where, "t.cpp:13");
  EXPECT_FALSE(instantiate(definition(), {&s, {0}, text}));
  EXPECT_FALSE(instantiate(definition(), {&s, {0, 2}, text}));
  const std::vector<Branch> unknown = {{"k <= 16", {&s, {0, 0}, text}}};
  EXPECT_FALSE(instantiate_dispatch(definition(), unknown));
  EXPECT_FALSE(instantiate_dispatch(definition(), {}));
  Space other = s;
  other.entry = "scale2";
  const std::vector<Branch> entries = {{"m < 2", {&s, {0, 0}, text}}, {"", {&other, {0, 0}, text}}};
  EXPECT_FALSE(instantiate_dispatch(definition(), entries));
}

TEST(Condition, SpellsEveryOperatorWithPythonsBinding) {
  const auto cpp = [](const char* expression) {
    const Result<Expr> parsed = Expr::parse(expression);
    EXPECT_TRUE(parsed) << expression;
    const Result<std::string> text_of =
        to_cpp(*parsed, [](std::string_view name) { return name == "x" ? "" : std::string(name); });
    return text_of ? *text_of : "error: " + text_of.error().message;
  };
  EXPECT_EQ(cpp("not a == b"), "double(double(a == b) == 0)");
  EXPECT_EQ(cpp("1 < a <= 16"), "double(double(1) < a && a <= double(16))");
  EXPECT_EQ(cpp("a or b and c"), "double(a != 0 || double(b != 0 && c != 0) != 0)");
  EXPECT_EQ(cpp("-a // b % c"), "kw_modulo(kw_floor((-a) / b), c)");
  EXPECT_EQ(cpp("a - b - c * 2"), "((a - b) - (c * double(2)))");
  EXPECT_EQ(cpp("min(a, b, c)"), "kw_min(kw_min(a, b), c)");
  EXPECT_EQ(cpp("ceil_div(a + 1, b)"), "(-kw_floor(-(a + double(1)) / b))");
  EXPECT_THAT(cpp("x + 1"), HasSubstr("not known"));
}

} // namespace
} // namespace kw
