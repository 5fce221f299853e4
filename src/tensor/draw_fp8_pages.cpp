// SPDX-License-Identifier: Apache-2.0
// Kind "fp8_pages": a paged cache of float8_e4m3fn vectors with one float32 scale each, as bytes
// (int8). The first axis counts pages, the last is the vector and the four bytes of a scale; those
// between count the vectors of a page. A page is not a table of such rows: first come all its
// vectors, then all its scales.
//
//   codes  `normal`: quantiles of a normal distribution that reaches 448, as quantised vectors do.
//          `uniform`: any code. None is NaN (0x7f, 0xff) in any class.
//   scales positive and normal; 2^-8 to 2^-7 where the class asks for nothing else.
//
// A byte of the stream makes a code, four words of a token its scale, so that every byte depends
// on (spec, class, seed, trial, tensor, index) alone.
//
// `near_ties` is for scores that are ranked: all vectors are the same one (of one non-zero element
// in half of the trials), so that the scores of a row of queries are as near to each other as the
// scales are. These lie within 2^4 to 2^20 steps; spread over an octave or 1/8 of it; on two
// levels, the upper one with a fifth of the tokens; or a fifth above a power of two and the others
// next below.
#include "base/result.hpp"
#include "tensor/draw_plan.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <vector>

namespace kw {
namespace {

using enum InputClass;

/// Codes of 155 z, z the quantiles (128.5 + i) / 256 of the standard normal distribution.
constexpr std::array<std::uint8_t, 128> normal_codes{
    0x34, 0x41, 0x47, 0x4b, 0x4e, 0x50, 0x52, 0x53, 0x55, 0x56, 0x58, 0x59, 0x5a, 0x5a, 0x5b, 0x5c,
    0x5d, 0x5d, 0x5e, 0x5f, 0x60, 0x60, 0x61, 0x61, 0x61, 0x62, 0x62, 0x63, 0x63, 0x63, 0x64, 0x64,
    0x65, 0x65, 0x65, 0x66, 0x66, 0x67, 0x67, 0x67, 0x68, 0x68, 0x68, 0x69, 0x69, 0x69, 0x69, 0x69,
    0x6a, 0x6a, 0x6a, 0x6a, 0x6a, 0x6b, 0x6b, 0x6b, 0x6b, 0x6c, 0x6c, 0x6c, 0x6c, 0x6c, 0x6d, 0x6d,
    0x6d, 0x6d, 0x6e, 0x6e, 0x6e, 0x6e, 0x6f, 0x6f, 0x6f, 0x6f, 0x70, 0x70, 0x70, 0x70, 0x70, 0x71,
    0x71, 0x71, 0x71, 0x71, 0x71, 0x71, 0x72, 0x72, 0x72, 0x72, 0x72, 0x72, 0x73, 0x73, 0x73, 0x73,
    0x73, 0x73, 0x74, 0x74, 0x74, 0x74, 0x74, 0x75, 0x75, 0x75, 0x75, 0x76, 0x76, 0x76, 0x76, 0x77,
    0x77, 0x77, 0x78, 0x78, 0x78, 0x78, 0x79, 0x79, 0x79, 0x79, 0x7a, 0x7a, 0x7b, 0x7b, 0x7c, 0x7e,
};
constexpr std::array<std::uint8_t, 8> small_codes{0,    0x38, 0x40, 0x44,
                                                  0x48, 0x38, 0x40, 0x44}; // 0..4
constexpr std::uint8_t sign = 0x80, largest = 0x7e, one = 0x38;
constexpr std::int64_t scale_bytes = 4, prototypes = 4;
constexpr std::uint32_t ordinary = 127 - 8; ///< biased exponent of a scale

std::uint8_t normal_code(std::uint8_t b) {
  return static_cast<std::uint8_t>((b & sign) | normal_codes[b & 0x7f]);
}
std::uint8_t any_code(std::uint8_t b) {
  return (b & 0x7f) == 0x7f ? static_cast<std::uint8_t>(b - 1) : b;
}

class Pages {
 public:
  explicit Pages(const DrawPlan& plan)
      : plan_(plan), dim_(plan.columns - scale_bytes),
        tokens_(plan.rows / std::max<std::int64_t>(plan.spec.shape.front(), 1)),
        page_bytes_(tokens_ * plan.columns), words_(plan.tensor_words) {
    KW_ASSERT(dim_ > 0 && plan.spec.shape.size() > 1);
    if (plan.cls != ties && plan.cls != near_ties)
      return;
    prototypes_.resize(static_cast<std::size_t>(prototypes * dim_));
    for (std::size_t i = 0; i < prototypes_.size(); ++i) {
      const std::uint32_t word = plan.stream.at(Channel::tensor, 1 + i / 16)[i / 4 % 4];
      prototypes_[i] = normal_code(static_cast<std::uint8_t>(word >> (8 * (i % 4))));
    }
    if (plan.cls == near_ties && words_[0] >> 31 != 0)
      for (std::size_t i = 0; i < static_cast<std::size_t>(dim_); ++i)
        if (i != words_[2] % static_cast<std::uint32_t>(dim_))
          prototypes_[i] = 0;
  }

  /// Bytes from `index` on as far as one vector or scale goes; `random` are those of the stream.
  std::size_t piece(std::int64_t index, std::span<const std::uint8_t> random,
                    std::byte* out) const {
    const std::int64_t page = index / page_bytes_, inside = index % page_bytes_;
    const bool is_scale = inside >= tokens_ * dim_;
    const std::int64_t width = is_scale ? scale_bytes : dim_,
                       at = is_scale ? inside - tokens_ * dim_ : inside, column = at % width;
    const auto token = static_cast<std::uint64_t>(page * tokens_ + at / width);
    const std::size_t n = std::min(random.size(), static_cast<std::size_t>(width - column));
    if (is_scale) {
      const std::uint32_t bits = scale(plan_.stream.at(Channel::rows, token));
      std::memcpy(out, reinterpret_cast<const std::byte*>(&bits) + column, n);
    } else {
      codes(token, column, random.first(n), reinterpret_cast<std::uint8_t*>(out));
    }
    return n;
  }

 private:
  void codes(std::uint64_t token, std::int64_t column, std::span<const std::uint8_t> random,
             std::uint8_t* out) const {
    const auto each = [&](auto code) {
      for (std::size_t i = 0; i < random.size(); ++i)
        out[i] = static_cast<std::uint8_t>(code(random[i], column + static_cast<std::int64_t>(i)));
    };
    const auto token_words = [&] { return plan_.stream.at(Channel::rows, token); };
    switch (plan_.cls) {
    case uniform:
      return each([](std::uint8_t b, std::int64_t) { return any_code(b); });
    case offset: { // one sign
      const std::uint8_t flip = words_[1] % 2 == 0 ? 0 : sign;
      return each([&](std::uint8_t b, std::int64_t) { return normal_codes[b & 0x7f] | flip; });
    }
    case alternating: {
      const std::uint32_t odd = token_words()[1] % 2;
      return each([&](std::uint8_t b, std::int64_t c) {
        return 0x70 | (b & 7) | ((static_cast<std::uint32_t>(c) + odd) % 2 == 0 ? 0 : sign);
      });
    }
    case sparse:
      return each([](std::uint8_t b, std::int64_t) {
        return (b & 7) != 0 ? 0 : (b & sign) | (8 + 7 * (b >> 3 & 15));
      });
    case impulse: {
      const std::int64_t place = token_words()[1] % dim_;
      return each([&](std::uint8_t b, std::int64_t c) {
        return c != place ? 0 : (b & 0x7f) == 0 ? one : any_code(b);
      });
    }
    case small_integers:
      return each([](std::uint8_t b, std::int64_t) { return (b & sign) | small_codes[b & 7]; });
    case denormals:
      return each([](std::uint8_t b, std::int64_t) { return b & (sign | 7); });
    case max_finite:
      return each([](std::uint8_t b, std::int64_t) { return (b & sign) | largest; });
    case ties:
    case near_ties: {
      const std::int64_t which = plan_.cls == ties ? token_words()[1] % prototypes : 0;
      const std::uint8_t* vector = prototypes_.data() + which * dim_;
      return each([&](std::uint8_t, std::int64_t c) { return vector[c]; });
    }
    default:
      return each([](std::uint8_t b, std::int64_t) { return normal_code(b); });
    }
  }

  /// Bits of a float32, from the four words of a token.
  [[nodiscard]] std::uint32_t scale(const RandomWords& w) const {
    const auto power = [](std::uint32_t word) { return word % 41 - 20; }; // wraps, and back
    const std::uint32_t fraction = w[0] >> 9;
    switch (plan_.cls) {
    case uniform:
      return ((ordinary - 3 + w[1] % 7) << 23) | fraction;
    case scale_sweep:
      return ((ordinary + power(words_[3])) << 23) | fraction;
    case row_scales:
      return ((ordinary + power(w[2])) << 23) | fraction;
    case small_integers:
      return 127u << 23;
    case ties:
      return (ordinary << 23) | words_[1] >> 9;
    case near_ties:
      return near_scale(w[0]);
    default:
      return (ordinary << 23) | fraction;
    }
  }
  [[nodiscard]] std::uint32_t near_scale(std::uint32_t word) const {
    const std::uint32_t choice = words_[0] >> 8 & 0xffff, base = ordinary << 23,
                        some = base | words_[1] >> 9;
    switch (words_[0] % 4) {
    case 0: // a window that begins at a multiple of 2^20
      return (some & ~((1u << 20) - 1)) + (word & ((1u << (4 + choice % 17)) - 1));
    case 1:
      return some + (word >> (9 + choice % 4));
    case 2:
      return some + (word % 5 == 0 ? 1u << (2 + choice % 16) : 0);
    default:
      return word % 5 == 0 ? base + (word >> 11) : base - 1 - (word >> 20);
    }
  }

  const DrawPlan& plan_;
  std::int64_t dim_, tokens_, page_bytes_;
  RandomWords words_;
  std::vector<std::uint8_t> prototypes_;
};

} // namespace

void draw_fp8_pages(const DrawPlan& plan, std::int64_t first, std::int64_t count,
                    std::span<std::byte> out) {
  const Pages pages(plan);
  std::array<std::uint32_t, chunk_size> words{};
  std::array<std::uint8_t, sizeof words> random{};
  for (std::int64_t done = 0; done < count;) {
    const std::size_t skip = static_cast<std::size_t>(first + done) % random.size();
    const std::int64_t end =
        std::min(count, done + static_cast<std::int64_t>(random.size() - skip));
    random_words(plan.stream, (static_cast<std::uint64_t>(first + done) - skip) / 4, words);
    static_assert(std::endian::native == std::endian::little);
    std::memcpy(random.data(), words.data(), random.size());
    std::span<const std::uint8_t> left =
        std::span<const std::uint8_t>(random).subspan(skip, static_cast<std::size_t>(end - done));
    while (!left.empty()) {
      const std::size_t n =
          pages.piece(first + done, left, out.data() + static_cast<std::size_t>(done));
      left = left.subspan(n);
      done += static_cast<std::int64_t>(n);
    }
  }
}

} // namespace kw
