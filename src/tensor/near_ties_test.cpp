// SPDX-License-Identifier: Apache-2.0
// The rows must be what a wrong top-k cannot survive: each kind of near-tie is counted.
#include "base/hash.hpp"
#include "tensor/convert.hpp"
#include "tensor/generate.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <vector>

namespace kw {
namespace {

constexpr std::int64_t rows = 2000, n = 256, k = 8;

DrawSpec spec_of(DType dtype = DType::float32, std::int64_t columns = n, std::int64_t ranked = k,
                 const char* kind = "any") {
  DrawSpec s;
  s.dtype = dtype;
  s.shape = {rows, columns};
  s.kind = kind;
  s.ranked = ranked;
  return s;
}

std::vector<std::vector<double>> drawn(const DrawSpec& s, std::uint64_t trial = 1) {
  const std::int64_t columns = s.shape[1];
  std::vector<std::byte> bytes(byte_size(s.dtype, rows * columns));
  draw(s, InputClass::near_ties, Seed{1, 2, 3}, trial, 0, bytes);
  std::vector<std::vector<double>> out;
  for (std::int64_t r = 0; r < rows; ++r) {
    out.emplace_back(static_cast<std::size_t>(columns));
    to_double(s.dtype, std::span(bytes).subspan(byte_size(s.dtype, r * columns)), out.back());
  }
  return out;
}

/// Rows in which the k-th and the next element satisfy `holds`.
int count(const std::vector<std::vector<double>>& all, std::int64_t ranked,
          const std::function<bool(double, double, const std::vector<double>&)>& holds) {
  int found = 0;
  for (const std::vector<double>& row : all) {
    std::vector<double> sorted = row;
    std::ranges::sort(sorted, std::greater());
    found += holds(sorted[static_cast<std::size_t>(ranked - 1)],
                   sorted[static_cast<std::size_t>(ranked)], row);
  }
  return found;
}

TEST(NearTies, EveryKindIsThere) {
  const auto all = drawn(spec_of());
  const auto some = [&](const char* what, int least, auto holds) {
    EXPECT_GE(count(all, k, holds), least) << what;
  };
  const auto next = [](double v) {
    return static_cast<double>(std::nextafter(static_cast<float>(v), INFINITY));
  };
  const auto same_upper = [](double a, double b, int bits) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(a)) >> bits ==
           std::bit_cast<std::uint32_t>(static_cast<float>(b)) >> bits;
  };
  some("ties", 200, [](double a, double b, const auto&) { return a == b; });
  some("one ulp", 150, [&](double a, double b, const auto&) { return a == next(b); });
  some("equal in float16", 400, [&](double a, double b, const auto&) {
    return a != b && round_to(DType::float16, a) == round_to(DType::float16, b);
  });
  some("equal in the upper 16 bits", 400,
       [&](double a, double b, const auto&) { return a != b && same_upper(a, b, 16); });
  some("equal in the upper 12 bits", 500,
       [&](double a, double b, const auto&) { return a != b && same_upper(a, b, 20); });
  some("one step of 1/256", 400, [](double a, double b, const auto&) {
    return a != b && std::rint(a * 256) == std::rint(b * 256);
  });
  some("32 and next below it", 30, [](double a, double b, const auto&) {
    return a >= 32 && a < 40 && b < 32 && round_to(DType::float16, b) == 32;
  });
  some("all equal", 50, [](double, double, const auto& row) {
    return std::ranges::all_of(row, [&](double v) { return v == row[0]; });
  });
  some("all negative", 200, [](double, double, const auto& row) {
    return std::ranges::all_of(row, [](double v) { return v < 0 && v > -INFINITY; });
  });
  some("subnormal", 50, [](double a, double b, const auto&) {
    return a != b && std::fabs(a) < 0x1p-126 && std::fabs(b) < 0x1p-126;
  });
  some("zeros of both signs", 50, [](double a, double b, const auto& row) {
    return a == 0 && b == 0 &&
           std::ranges::any_of(row, [](double v) { return v == 0 && std::signbit(v); }) &&
           std::ranges::any_of(row, [](double v) { return v == 0 && !std::signbit(v); });
  });
  some("-Inf next", 35,
       [](double a, double b, const auto&) { return a > -INFINITY && b == -INFINITY; });
  some("-Inf taken", 20, [](double a, double, const auto&) { return a == -INFINITY; });
  some("+Inf", 30, [](double a, double, const auto&) { return a == INFINITY; });
  some("the k-th in the last place", 80,
       [](double a, double b, const auto& row) { return a != b && row.back() == a; });
  some("the k-th in the first place", 80,
       [](double a, double b, const auto& row) { return a != b && row.front() == a; });
  some("more than 64 in one step of float16", 50, [&](double a, double b, const auto& row) {
    return a != b && std::ranges::count_if(row, [&](double v) {
                       return round_to(DType::float16, v) == round_to(DType::float16, a);
                     }) > 64;
  });
  EXPECT_EQ(count(all, k,
                  [](double, double, const auto& row) {
                    return std::ranges::any_of(row, [](double v) { return std::isnan(v); });
                  }),
            0);
}

TEST(NearTies, NarrowFormatsAndSmallRows) {
  for (const DType t : {DType::float64, DType::float16, DType::bfloat16}) {
    const auto all = drawn(spec_of(t));
    EXPECT_GE(count(all, k, [](double a, double b, const auto&) { return a == b; }), 100)
        << name(t);
    EXPECT_GE(count(all, k, [](double a, double b, const auto&) { return a != b; }), 500)
        << name(t);
    const double step = 4 * unit_roundoff(t == DType::float64 ? DType::float32 : t);
    EXPECT_GE(count(all, k,
                    [&](double a, double b, const auto&) {
                      return a != b && std::fabs(a - b) <= step * std::fabs(b);
                    }),
              200)
        << name(t);
  }
  for (const std::int64_t columns : {1, 2, 3, 8, 9, 129})
    for (const std::int64_t ranked : {1, 8, 2000}) {
      const auto all = drawn(spec_of(DType::float32, columns, ranked));
      EXPECT_EQ(all.size(), static_cast<std::size_t>(rows)); // drawn without a fault
    }
}

TEST(NearTies, NormalKindStaysBounded) {
  for (const std::vector<double>& row : drawn(spec_of(DType::float32, n, k, "normal")))
    for (const double v : row)
      ASSERT_LE(std::fabs(v), 8);
}

TEST(NearTies, OnlyWhereSomethingIsRanked) {
  const auto has = [](const DrawSpec& s) {
    const std::vector<InputClass> all = applicable_classes(s);
    return std::ranges::find(all, InputClass::near_ties) != all.end();
  };
  EXPECT_TRUE(has(spec_of()));
  EXPECT_TRUE(has(spec_of(DType::bfloat16, n, k, "normal")));
  EXPECT_FALSE(has(spec_of(DType::float32, n, 0)));
  EXPECT_FALSE(has(spec_of(DType::float32, n, 0, "normal")));
  EXPECT_FALSE(has(spec_of(DType::float8_e4m3fn)));
  EXPECT_FALSE(has(spec_of(DType::float32, n, k, "uniform")));
  EXPECT_FALSE(has(spec_of(DType::int32)));
}

/// As Draw.BitsAreFrozen: recorded seeds must replay for ever.
TEST(NearTies, BitsAreFrozen) {
  std::string all;
  for (const DType t : {DType::float32, DType::bfloat16, DType::float16})
    for (const char* kind : {"any", "normal"}) {
      const DrawSpec s = spec_of(t, 61, k, kind);
      std::vector<std::byte> bytes(byte_size(t, rows * 61));
      draw(s, InputClass::near_ties, Seed{1, 2, 3}, 3, 1, bytes);
      all += sha256_hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }
  EXPECT_EQ(sha256_hex(all), "5ecbf9793fa64ad682115da0ed07340705b9b317c34bba671bbba71ac0bda118");
}

TEST(NearTies, AnyRangeReplaysAlone) {
  const DrawSpec s = spec_of(DType::float32, 5000);
  std::vector<std::byte> whole(byte_size(s.dtype, rows * 5000)), part(4 * 777);
  draw(s, InputClass::near_ties, Seed{9}, 4, 2, whole);
  for (const std::int64_t first : {0, 4090, 4999, 123456}) {
    draw_range(s, InputClass::near_ties, Seed{9}, 4, 2, first, 777, part);
    EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + 4 * first)) << first;
  }
}

} // namespace
} // namespace kw
