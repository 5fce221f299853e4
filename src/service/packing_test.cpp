// SPDX-License-Identifier: Apache-2.0
#include "service/packing.hpp"

#include "formats/solution_files.hpp"
#include "os/files.hpp"
#include "os/temp_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

using testing::HasSubstr;

class Packing : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(make_dirs(dir.file("in/sub")));
    write("in/k.cpp", "extern \"C\" int f() { return 0; }\n");
    write("in/sub/k.hpp", "// h\n");
  }
  void write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(write_file_atomic(dir.file(name), text));
  }
  Result<Packed> pack(const PackRequest& request) {
    return pack_to_file(dir.file("in"), dir.file("out/s.json"), request);
  }
  TempDir dir = TempDir::create().value();
};

TEST_F(Packing, AFolderComesBackAsItWas) {
  const Result<Packed> packed =
      pack({.name = "mine", .definition = "scale", .author = "me", .entry = "k.cpp::f"});
  ASSERT_TRUE(packed) << packed.error().text();
  EXPECT_EQ(packed->name, "mine");
  EXPECT_EQ(packed->sources, 2U);
  const Result<Packed> unpacked = unpack_to_folder(dir.file("out/s.json"), dir.file("back"));
  ASSERT_TRUE(unpacked) << unpacked.error().text();
  EXPECT_EQ(unpacked->fib_hash, packed->fib_hash);
  for (const char* name : {"k.cpp", "sub/k.hpp"})
    EXPECT_EQ(read_file(dir.file(std::string("back/") + name)).value(),
              read_file(dir.file(std::string("in/") + name)).value());
}

TEST_F(Packing, AnUnpackedFolderPacksToTheSameWithoutAnyOption) {
  const std::string odd = "a \"quoted\" \\ name\twith \xc3\xa9";
  const Result<Packed> packed =
      pack({.name = odd, .definition = "scale", .author = odd, .entry = "k.cpp::f"});
  ASSERT_TRUE(packed) << packed.error().text();
  ASSERT_TRUE(unpack_to_folder(dir.file("out/s.json"), dir.file("back")));
  const Result<Packed> again = pack_to_file(dir.file("back"), dir.file("again.json"), {});
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(again->name, odd);
  EXPECT_EQ(again->fib_hash, packed->fib_hash);
  EXPECT_EQ(read_file(dir.file("again.json")).value(), read_file(dir.file("out/s.json")).value());
}

TEST_F(Packing, AConfigurationAmongTheSourcesIsKept) {
  write(
      "in/config.toml",
      "[solution]\nname = \"own\"\ndefinition = \"scale\"\n[build]\nentry_point = \"k.cpp::f\"\n");
  const Result<Packed> packed = pack({});
  ASSERT_TRUE(packed) << packed.error().text();
  EXPECT_EQ(packed->name, "own");
  EXPECT_EQ(packed->sources, 2U) << "it is no source";
}

TEST_F(Packing, WhatIsMissingIsSaid) {
  const Result<Packed> nowhere =
      pack_to_file(dir.file("none"), dir.file("out/s.json"), {.definition = "scale"});
  ASSERT_FALSE(nowhere);
  EXPECT_THAT(nowhere.error().text(), HasSubstr("none does not exist"));
  EXPECT_FALSE(pack({.entry = "k.cpp::f"})) << "no definition";
  EXPECT_FALSE(pack({.definition = "scale", .entry = "nowhere"})) << "an entry needs its file";
  EXPECT_FALSE(is_file(dir.file("out/s.json")));
}

TEST_F(Packing, NothingIsOverwrittenWhenUnpacking) {
  ASSERT_TRUE(pack({.name = "mine", .definition = "scale", .author = "me", .entry = "k.cpp::f"}));
  ASSERT_TRUE(make_dirs(dir.file("back")));
  write("back/k.cpp", "// mine\n");
  const Result<Packed> unpacked = unpack_to_folder(dir.file("out/s.json"), dir.file("back"));
  ASSERT_FALSE(unpacked);
  EXPECT_THAT(unpacked.error().text(), HasSubstr("back/k.cpp"));
  EXPECT_EQ(read_file(dir.file("back/k.cpp")).value(), "// mine\n");
}

} // namespace
} // namespace kw
