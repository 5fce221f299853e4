// SPDX-License-Identifier: Apache-2.0
// A dispatcher of kernels from elsewhere, through the real compiler: both branches are called.
#include "compile/build.hpp"
#include "os/temp_dir.hpp"
#include "search/instantiate.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

Definition fill() {
  Definition d;
  d.name = "fill";
  d.axes = {{"m", std::nullopt, "", ""}};
  d.outputs = {{"y", std::vector<std::string>{"m"}, DType::float32, "", ""}};
  return d;
}

/// Both are called `fill`, have a static helper of one name and a header of one name.
Solution kernel(const std::string& value) {
  Solution s;
  s.name = "writes-" + value;
  s.spec.entry_point = "fill.cpp::fill";
  s.sources = {{"fill.cpp", "#include \"value.h\"\n#include <stdint.h>\n"
                            "static float helper() { return VALUE; }\n"
                            "extern \"C\" int fill(float* y, int64_t m) {\n"
                            "  for (int64_t i = 0; i < m; ++i) y[i] = helper();\n  return 0;\n}\n"},
               {"value.h", "#pragma once\n#define VALUE " + value + "\n"}};
  return s;
}

Result<BuildOutcome> build(const Solution& solution, const std::string& cache) {
  KW_TRY(Builder builder, Builder::open({.cache_dir = cache}));
  BuildRequest request;
  request.sources = solution.sources;
  request.entry_file = solution.spec.entry_file();
  request.entry = solution.spec.entry_function();
  return builder.build(request);
}

TEST(Dispatch, ForeignKernelsOfOneNameMeetInOneObject) {
  const Result<TempDir> dir = TempDir::create("kw-dispatch-e2e");
  ASSERT_TRUE(dir);
  const Solution one = kernel("1.0f"), two = kernel("2.0f");
  const std::vector<Branch> branches = {{.when = "m <= 16", .foreign = &one},
                                        {.when = "", .foreign = &two}};
  const Result<Solution> made = instantiate_dispatch(fill(), branches);
  ASSERT_TRUE(made) << made.error().text();
  const Result<BuildOutcome> built = build(*made, dir->file("cache"));
  ASSERT_TRUE(built) << built.error().text();
  ASSERT_TRUE(built->ok) << built->raw_log;
  void* const object = ::dlopen(built->object_path.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(object, nullptr) << ::dlerror();
  using Entry = int (*)(float*, std::int64_t);
  const auto call = reinterpret_cast<Entry>(::dlsym(object, "fill"));
  ASSERT_NE(call, nullptr);
  std::vector<float> y(17);
  EXPECT_EQ(call(y.data(), 16), 0);
  EXPECT_EQ(y[15], 1);
  EXPECT_EQ(call(y.data(), 17), 0);
  EXPECT_EQ(y[16], 2);
  ::dlclose(object);
}

TEST(Dispatch, TwoGlobalsOfOneNameAreTheBuildersError) {
  const Result<TempDir> dir = TempDir::create("kw-dispatch-e2e");
  ASSERT_TRUE(dir);
  Solution one = kernel("1.0f"), two = kernel("2.0f");
  for (Solution* s : {&one, &two})
    s->sources[0].content += "int shared_counter(int x) { return x + 1; }\n";
  const std::vector<Branch> branches = {{.when = "m <= 16", .foreign = &one},
                                        {.when = "", .foreign = &two}};
  const Result<Solution> made = instantiate_dispatch(fill(), branches);
  ASSERT_TRUE(made) << made.error().text();
  const Result<BuildOutcome> built = build(*made, dir->file("cache"));
  ASSERT_TRUE(built) << built.error().text();
  EXPECT_FALSE(built->ok);
  EXPECT_NE(built->raw_log.find("shared_counter"), std::string::npos) << built->raw_log;
}

} // namespace
} // namespace kw
