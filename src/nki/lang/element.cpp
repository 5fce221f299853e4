// SPDX-License-Identifier: Apache-2.0
#include "nki/lang/element.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace kw::nki {
namespace {

struct Facts {
  std::string_view name;
  std::uint8_t bytes;
  bool floating, is_signed;
};
constexpr std::array<Facts, element_count> facts = {{
    {"bool_", 1, false, false},
    {"uint8", 1, false, false},
    {"int8", 1, false, true},
    {"uint16", 2, false, false},
    {"int16", 2, false, true},
    {"uint32", 4, false, false},
    {"int32", 4, false, true},
    {"float8_e4m3", 1, true, true},
    {"float8_e5m2", 1, true, true},
    {"float16", 2, true, true},
    {"bfloat16", 2, true, true},
    {"tfloat32", 4, true, true},
    {"float32", 4, true, true},
}};

const Facts& of(Element e) {
  return facts[static_cast<std::size_t>(e)];
}

/// A binary format of `E` exponent and `M` mantissa bits with subnormals and infinity.
template <int E, int M> struct Small {
  static constexpr int bias = (1 << (E - 1)) - 1;

  static std::uint32_t encode(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t sign = bits >> 31 << (E + M), magnitude = bits & 0x7fffffffU;
    constexpr std::uint32_t infinity = ((1U << E) - 1U) << M;
    if (magnitude > 0x7f800000U)
      return sign | infinity | 1U << (M - 1);
    // A step of the target at this magnitude; below the least normal one all steps are equal.
    const int exponent = static_cast<int>(magnitude >> 23) - 127;
    const int step = std::max(exponent, 1 - bias) - M;
    const float scaled = std::nearbyint(std::ldexp(std::bit_cast<float>(magnitude), -step));
    const auto steps = static_cast<std::uint64_t>(std::min(scaled, 0x1p40F));
    // 2^M steps make a normal number of this exponent: the implicit one carries into the exponent.
    const std::uint64_t code =
        (static_cast<std::uint64_t>(std::max(exponent, 1 - bias) + bias - 1) << M) + steps;
    return sign | static_cast<std::uint32_t>(std::min<std::uint64_t>(code, infinity));
  }
  static float decode(std::uint32_t code) {
    const std::uint32_t sign = code >> (E + M) & 1U, exponent = code >> M & ((1U << E) - 1U),
                        mantissa = code & ((1U << M) - 1U);
    float x = 0;
    if (exponent == (1U << E) - 1U)
      x = mantissa == 0 ? std::numeric_limits<float>::infinity()
                        : std::numeric_limits<float>::quiet_NaN();
    else if (exponent == 0)
      x = std::ldexp(static_cast<float>(mantissa), 1 - bias - M);
    else
      x = std::ldexp(static_cast<float>(mantissa | 1U << M), static_cast<int>(exponent) - bias - M);
    return sign != 0 ? -x : x;
  }
};

/// The upper bits of a float32, ties to even.
std::uint32_t upper_bits(float x, int dropped) {
  auto bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & 0x7fffffffU) > 0x7f800000U)
    return (bits >> dropped | 1U << (22 - dropped)) << dropped;
  const std::uint32_t half = 1U << (dropped - 1), odd = bits >> dropped & 1U;
  bits += half - 1U + odd;
  return bits >> dropped << dropped;
}

template <typename Code, float (*Decode)(std::uint32_t)> const std::array<float, 256>& table() {
  static const auto values = [] {
    std::array<float, 256> t{};
    for (std::uint32_t i = 0; i < 256; ++i)
      t[i] = Decode(i);
    return t;
  }();
  return values;
}

template <typename T> T read(const std::byte* at) {
  T x;
  std::memcpy(&x, at, sizeof x);
  return x;
}
template <typename T> void write(std::byte* at, T x) {
  std::memcpy(at, &x, sizeof x);
}

float decode(Element e, const std::byte* at) {
  switch (e) {
  case Element::boolean:
  case Element::uint8:
    return static_cast<float>(read<std::uint8_t>(at));
  case Element::int8:
    return static_cast<float>(read<std::int8_t>(at));
  case Element::uint16:
    return static_cast<float>(read<std::uint16_t>(at));
  case Element::int16:
    return static_cast<float>(read<std::int16_t>(at));
  case Element::uint32:
    return static_cast<float>(read<std::uint32_t>(at));
  case Element::int32:
    return static_cast<float>(read<std::int32_t>(at));
  case Element::float8_e4m3:
    return table<std::uint8_t, Small<4, 3>::decode>()[read<std::uint8_t>(at)];
  case Element::float8_e5m2:
    return table<std::uint8_t, Small<5, 2>::decode>()[read<std::uint8_t>(at)];
  case Element::float16:
    return static_cast<float>(read<_Float16>(at));
  case Element::bfloat16:
    return std::bit_cast<float>(static_cast<std::uint32_t>(read<std::uint16_t>(at)) << 16);
  case Element::tfloat32:
  case Element::float32:
    return read<float>(at);
  }
  return 0;
}

template <typename T> T saturated(float x) {
  if (std::isnan(x))
    return 0;
  const double y = std::nearbyint(static_cast<double>(x));
  return static_cast<T>(std::clamp(y, static_cast<double>(std::numeric_limits<T>::min()),
                                   static_cast<double>(std::numeric_limits<T>::max())));
}

void encode(Element e, float x, std::byte* at) {
  switch (e) {
  case Element::boolean:
    return write<std::uint8_t>(at, x != 0 ? 1 : 0);
  case Element::uint8:
    return write(at, saturated<std::uint8_t>(x));
  case Element::int8:
    return write(at, saturated<std::int8_t>(x));
  case Element::uint16:
    return write(at, saturated<std::uint16_t>(x));
  case Element::int16:
    return write(at, saturated<std::int16_t>(x));
  case Element::uint32:
    return write(at, saturated<std::uint32_t>(x));
  case Element::int32:
    return write(at, saturated<std::int32_t>(x));
  case Element::float8_e4m3:
    return write(at, static_cast<std::uint8_t>(Small<4, 3>::encode(x)));
  case Element::float8_e5m2:
    return write(at, static_cast<std::uint8_t>(Small<5, 2>::encode(x)));
  case Element::float16:
    return write(at, static_cast<_Float16>(x));
  case Element::bfloat16:
    return write(at, static_cast<std::uint16_t>(upper_bits(x, 16) >> 16));
  case Element::tfloat32:
    return write(at, upper_bits(x, 13));
  case Element::float32:
    return write(at, x);
  }
}

/// The type of the same kind that holds all of both, by width and sign.
Element wider_integer(Element a, Element b) {
  const auto bits = [](Element e) {
    return e == Element::boolean ? 8 : 8 * static_cast<int>(bytes_of(e));
  };
  const bool sign = is_signed(a) || is_signed(b);
  int width = std::max(bits(a), bits(b));
  // An unsigned operand as wide as the result needs one bit more beside a signed one.
  for (const Element e : {a, b})
    if (sign && !is_signed(e) && bits(e) >= width)
      width = 2 * bits(e);
  switch (width) {
  case 8:
    return sign ? Element::int8 : Element::uint8;
  case 16:
    return sign ? Element::int16 : Element::uint16;
  case 32:
    return sign ? Element::int32 : Element::uint32;
  default:
    return Element::float32; // no 64-bit integers
  }
}

Element wider_float(Element a, Element b) {
  if (a == b)
    return a;
  const auto [low, high] = std::minmax(a, b);
  if (high == Element::float32 || high == Element::tfloat32)
    return high;
  if (low == Element::float16 && high == Element::bfloat16)
    return Element::float32;
  if (low == Element::float8_e4m3 && high == Element::float8_e5m2)
    return Element::bfloat16;
  return high;
}

} // namespace

std::string_view name(Element e) {
  return of(e).name;
}

std::optional<Element> element_from_name(std::string_view s) {
  for (int i = 0; i < element_count; ++i)
    if (facts[static_cast<std::size_t>(i)].name == s)
      return static_cast<Element>(i);
  if (s == "bool")
    return Element::boolean;
  if (s == "float8_e4m3fn")
    return Element::float8_e4m3;
  if (s == "|V4" || s == "void32")
    return Element::tfloat32;
  return std::nullopt;
}

std::size_t bytes_of(Element e) {
  return of(e).bytes;
}
bool is_floating(Element e) {
  return of(e).floating;
}
bool is_integer(Element e) {
  return !of(e).floating && e != Element::boolean;
}
bool is_signed(Element e) {
  return of(e).is_signed;
}

Element promote(Element a, Element b) {
  if (a == b)
    return a;
  if (is_floating(a) && is_floating(b))
    return wider_float(a, b);
  if (is_floating(a) || is_floating(b))
    return is_floating(a) ? a : b;
  return wider_integer(a, b);
}

float rounded(Element e, float x) {
  if (e == Element::float32)
    return x;
  std::array<std::byte, 4> stored{};
  encode(e, x, stored.data());
  return decode(e, stored.data());
}

void load_floats(Element e, const std::byte* from, std::int64_t stride, float* to, std::int64_t n) {
  if (e == Element::float32 && stride == 1) {
    std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(float));
    return;
  }
  const std::int64_t step = stride * static_cast<std::int64_t>(bytes_of(e));
  const auto each = [&](auto convert) {
    for (std::int64_t i = 0; i < n; ++i, from += step)
      to[i] = convert(from);
  };
  switch (e) { // the common ones without a switch in the loop
  case Element::float32:
    return each([](const std::byte* at) { return read<float>(at); });
  case Element::bfloat16:
    return each([](const std::byte* at) { return decode(Element::bfloat16, at); });
  default:
    return each([e](const std::byte* at) { return decode(e, at); });
  }
}

void store_floats(Element e, const float* from, std::byte* to, std::int64_t stride,
                  std::int64_t n) {
  if (e == Element::float32 && stride == 1) {
    std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(float));
    return;
  }
  const std::int64_t step = stride * static_cast<std::int64_t>(bytes_of(e));
  const auto each = [&](auto convert) {
    for (std::int64_t i = 0; i < n; ++i, to += step)
      convert(from[i], to);
  };
  switch (e) {
  case Element::float32:
    return each([](float x, std::byte* at) { write(at, x); });
  case Element::bfloat16:
    return each([](float x, std::byte* at) { encode(Element::bfloat16, x, at); });
  default:
    return each([e](float x, std::byte* at) { encode(e, x, at); });
  }
}

void load_integers(Element e, const std::byte* from, std::int64_t stride, std::int64_t* to,
                   std::int64_t n) {
  const std::int64_t step = stride * static_cast<std::int64_t>(bytes_of(e));
  for (std::int64_t i = 0; i < n; ++i, from += step) {
    switch (bytes_of(e)) {
    case 1:
      to[i] = is_signed(e) ? read<std::int8_t>(from) : read<std::uint8_t>(from);
      break;
    case 2:
      to[i] = is_signed(e) ? read<std::int16_t>(from) : read<std::uint16_t>(from);
      break;
    default:
      to[i] = is_signed(e) ? read<std::int32_t>(from) : read<std::uint32_t>(from);
    }
  }
}

void store_integers(Element e, const std::int64_t* from, std::byte* to, std::int64_t stride,
                    std::int64_t n) {
  const std::int64_t step = stride * static_cast<std::int64_t>(bytes_of(e));
  for (std::int64_t i = 0; i < n; ++i, to += step) {
    switch (bytes_of(e)) {
    case 1:
      write(to, static_cast<std::uint8_t>(from[i]));
      break;
    case 2:
      write(to, static_cast<std::uint16_t>(from[i]));
      break;
    default:
      write(to, static_cast<std::uint32_t>(from[i]));
    }
  }
}

} // namespace kw::nki
