// SPDX-License-Identifier: Apache-2.0
#include "tensor/safetensors.hpp"

#include "tensor/convert.hpp"

#include <array>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <vector>

namespace kw {
namespace {

using Bytes = std::vector<std::byte>;

Bytes file_of(const std::string& header, std::size_t data_bytes, std::uint64_t claimed) {
  Bytes out(8 + header.size() + data_bytes);
  for (std::size_t i = 0; i < 8; ++i)
    out[i] = static_cast<std::byte>(claimed >> (8 * i));
  std::memcpy(out.data() + 8, header.data(), header.size());
  return out;
}
Bytes file_of(const std::string& header, std::size_t data_bytes) {
  return file_of(header, data_bytes, header.size());
}
Result<SafetensorsFile> read(const Bytes& bytes) {
  return read_safetensors_header(bytes, bytes.size(), "t.safetensors");
}
std::string complaint(const Bytes& bytes) {
  const auto r = read(bytes);
  if (r)
    return "accepted";
  EXPECT_FALSE(r.error().remedy.empty() && r.error().where.empty());
  return r.error().message;
}
std::string tensor(const std::string& name, const std::string& dtype, const std::string& shape,
                   const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":[" + shape +
         "],\"data_offsets\":[" + offsets + "]}";
}
Bytes golden(const std::string& name) {
  std::ifstream in(std::string(KW_SOURCE_DIR) + "/tests/golden/safetensors/" + name,
                   std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  Bytes bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

TEST(Safetensors, ReadsAFileOfTheReferenceLibrary) {
  const Bytes bytes = golden("mixed.safetensors");
  const auto file = read(bytes);
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_EQ(file->tensors.size(), 7U);
  EXPECT_EQ(file->metadata.size(), 2U);
  const SafetensorsEntry* x = file->find("x");
  ASSERT_TRUE(x);
  EXPECT_EQ(x->dtype, DType::float32);
  EXPECT_EQ(x->shape, (std::vector<std::int64_t>{2, 3}));
  std::array<double, 6> values{};
  to_double(*x->dtype, std::span(bytes).subspan(x->begin, x->end - x->begin), values);
  EXPECT_EQ(values, (std::array<double, 6>{0, 0.25, 0.5, 0.75, 1, 1.25}));
  EXPECT_EQ(file->find("half")->dtype, DType::float16);
  EXPECT_EQ(element(DType::float16, std::span(bytes).subspan(file->find("half")->begin), 1), -2);
  EXPECT_EQ(element(DType::int64, std::span(bytes).subspan(file->find("i")->begin), 0), 7);
  EXPECT_EQ(file->find("flags")->dtype, DType::boolean);
  EXPECT_FALSE(file->find("bytes")->dtype) << "uint8 is not in the Definition schema";
  EXPECT_EQ(file->find("bytes")->dtype_name, "U8");
  EXPECT_EQ(file->find("empty")->begin, file->find("empty")->end);
  EXPECT_TRUE(file->find("scalar")->shape.empty());
  EXPECT_FALSE(file->find("y"));
  EXPECT_TRUE(read(golden("none.safetensors"))->tensors.empty());
}

TEST(Safetensors, EveryTruncationIsAnError) {
  const Bytes whole = golden("mixed.safetensors");
  for (std::size_t n = 0; n < whole.size(); ++n) {
    const Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n));
    EXPECT_FALSE(read(part)) << n;
    EXPECT_EQ(static_cast<bool>(read_safetensors_header(part, whole.size())),
              n >= read(whole)->data_start)
        << "only the header has to be in memory: " << n;
  }
}

TEST(Safetensors, HostileHeaders) {
  const std::string f32 = tensor("a", "F32", "2", "0,8");
  EXPECT_EQ(complaint(file_of("{" + f32 + "}  ", 8)), "accepted") << "padding is allowed";
  EXPECT_NE(complaint(file_of("{" + f32 + "}", 9)).find("follow the last"), std::string::npos);
  EXPECT_NE(complaint(file_of("{" + f32 + "}", 7)).find("truncated"), std::string::npos);
  EXPECT_NE(complaint(file_of("{" + f32 + "," + tensor("b", "F32", "1", "4,8") + "}", 8))
                .find("overlaps"),
            std::string::npos);
  EXPECT_NE(
      complaint(file_of("{" + f32 + "," + tensor("b", "F32", "1", "12,16") + "}", 16)).find("hole"),
      std::string::npos);
  EXPECT_NE(complaint(file_of("{" + tensor("a", "F32", "3", "0,8") + "}", 8)).find("occupies"),
            std::string::npos);
  EXPECT_NE(complaint(file_of("{" + tensor("a", "Q7", "2", "0,8") + "}", 8)).find("Q7"),
            std::string::npos);
  EXPECT_NE(complaint(file_of("{}", 0, 1u << 30)).find("more than"), std::string::npos);
  EXPECT_NE(complaint(file_of("{}", 0, 3)).find("the file has 2"), std::string::npos);
  EXPECT_NE(complaint(file_of("{}", 0, ~std::uint64_t{0})).find("more than"), std::string::npos);
  for (const std::string& bad :
       {tensor("a", "F32", "-2", "0,8"), tensor("a", "F32", "2.5", "0,8"),
        tensor("a", "F32", "\"2\"", "0,8"), tensor("a", "F32", "2", "8,0"),
        tensor("a", "F32", "2", "0"), tensor("a", "F32", "2", "0,8,9"),
        tensor("a", "F32", "2", "-8,0"), tensor("a", "F4", "15", "0,8"),
        // 2^62 * 4 * 4 bytes wraps to 0
        tensor("a", "F32", "4611686018427387904,4", "0,0"),
        tensor("a", "F32", "18446744073709551615", "0,8"),
        tensor("a", "F32", "2", "0,18446744073709551616"), std::string("\"a\":3"),
        std::string("\"a\":{}"), std::string("\"__metadata__\":{\"k\":1}"),
        std::string("\"__metadata__\":[]"), f32 + "," + f32})
    EXPECT_NE(complaint(file_of("{" + bad + "}", 8)), "accepted") << bad;
  for (const char* bad : {"", " {}", "[]", "{", "null", "{}x"})
    EXPECT_NE(complaint(file_of(bad, 0)), "accepted") << bad;
}

TEST(Safetensors, PackedFloat4CountsElements) {
  const auto file = read(file_of("{" + tensor("a", "F4", "4,4", "0,8") + "}", 8));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->tensors[0].dtype, DType::float4_e2m1);
}

TEST(Safetensors, RecognisesAnLfsPointer) {
  const std::string text = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n";
  Bytes bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  const auto r = read(bytes);
  ASSERT_FALSE(r);
  EXPECT_NE(r.error().remedy.find("git lfs pull"), std::string::npos);
}

} // namespace
} // namespace kw
