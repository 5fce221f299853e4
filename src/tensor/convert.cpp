// SPDX-License-Identifier: Apache-2.0
#include "tensor/convert.hpp"

#include "base/result.hpp"
#include "tensor/simd.hpp"
#include "tensor/small_float.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace kw {
namespace {

template <class T> KW_INLINE T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}
template <class T> KW_INLINE void store(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

// ---- storage -> double ----

template <class T> struct DecodePlain {
  KW_INLINE void run(const std::byte* in, double* out, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
      out[i] = static_cast<double>(load<T>(in + i * sizeof(T)));
  }
};
template <class F> struct Decode16 {
  KW_INLINE void run(const std::byte* in, double* out, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
      out[i] = static_cast<double>(decode<F>(load<std::uint16_t>(in + i * 2)));
  }
};

template <class F> constexpr auto table_of() {
  std::array<float, std::size_t{1} << F::bits> table{};
  for (std::uint32_t code = 0; code < table.size(); ++code)
    table[code] = decode<F>(code);
  return table;
}
template <class F> constexpr auto table = table_of<F>();

template <class F> void decode8(const std::byte* in, double* out, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    out[i] = static_cast<double>(table<F>[std::to_integer<std::size_t>(in[i])]);
}
void decode4(const std::byte* in, double* out, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const auto pair = std::to_integer<std::size_t>(in[i / 2]);
    out[i] = static_cast<double>(table<Float4E2M1>[i % 2 ? pair >> 4 : pair & 15]);
  }
}

// ---- double or float -> storage ----

template <class To, class From> struct EncodePlain {
  KW_INLINE void run(const From* in, std::byte* out, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
      store(out + i * sizeof(To), static_cast<To>(in[i]));
  }
};
template <class F, class Bits, class From> struct EncodeSmall {
  KW_INLINE void run(const From* in, std::byte* out, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
      store(out + i * sizeof(Bits), static_cast<Bits>(encode<F>(in[i])));
  }
};
template <class From> void encode4(const From* in, std::byte* out, std::size_t n) {
  for (std::size_t i = 0; i < n; i += 2) {
    const std::uint32_t low = encode<Float4E2M1>(in[i]);
    const std::uint32_t high = i + 1 < n ? encode<Float4E2M1>(in[i + 1]) : 0;
    out[i / 2] = static_cast<std::byte>(low | (high << 4));
  }
}
template <class T> T to_integer(double x) {
  if (x != x)
    return 0;
  const double rounded = std::nearbyint(x);
  // The largest int64 is not a double: compare with the power of two above it.
  constexpr double above = -static_cast<double>(std::numeric_limits<T>::min());
  if (rounded >= above)
    return std::numeric_limits<T>::max();
  if (rounded < -above)
    return std::numeric_limits<T>::min();
  return static_cast<T>(rounded);
}
template <class T, class From> void encode_integers(const From* in, std::byte* out, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    store(out + i * sizeof(T), to_integer<T>(static_cast<double>(in[i])));
}

template <class From>
void encode_all(DType t, std::span<const From> in, std::span<std::byte> out_span) {
  KW_ASSERT(out_span.size() >= byte_size(t, static_cast<std::int64_t>(in.size())));
  const From* from = in.data();
  std::byte* out = out_span.data();
  const std::size_t n = in.size();
  switch (t) {
  case DType::float64:
    return run_widest<EncodePlain<double, From>>(from, out, n);
  case DType::float32:
    return run_widest<EncodePlain<float, From>>(from, out, n);
  case DType::float16:
    return run_widest<EncodeSmall<Float16, std::uint16_t, From>>(from, out, n);
  case DType::bfloat16:
    return run_widest<EncodeSmall<BFloat16, std::uint16_t, From>>(from, out, n);
  case DType::float8_e4m3fn:
    return run_widest<EncodeSmall<Float8E4M3FN, std::uint8_t, From>>(from, out, n);
  case DType::float8_e5m2:
    return run_widest<EncodeSmall<Float8E5M2, std::uint8_t, From>>(from, out, n);
  case DType::float4_e2m1:
    return encode4(from, out, n);
  case DType::int64:
    return encode_integers<std::int64_t>(from, out, n);
  case DType::int32:
    return encode_integers<std::int32_t>(from, out, n);
  case DType::int16:
    return encode_integers<std::int16_t>(from, out, n);
  case DType::int8:
    return encode_integers<std::int8_t>(from, out, n);
  case DType::boolean:
    for (std::size_t i = 0; i < n; ++i)
      out[i] = in[i] == From{0} ? std::byte{0} : std::byte{1};
    return;
  }
}

/// Value of the largest finite code, and of the step below it.
template <class F> double top_of() {
  return static_cast<double>(decode<F>(F::top));
}
template <class F> double threshold_of() {
  const double top = top_of<F>();
  return top + (top - static_cast<double>(decode<F>(F::top - 1))) / 2;
}

} // namespace

void to_double(DType t, std::span<const std::byte> in_span, std::span<double> out_span) {
  KW_ASSERT(in_span.size() >= byte_size(t, static_cast<std::int64_t>(out_span.size())));
  const std::byte* in = in_span.data();
  double* out = out_span.data();
  const std::size_t n = out_span.size();
  switch (t) {
  case DType::float64:
    return run_widest<DecodePlain<double>>(in, out, n);
  case DType::float32:
    return run_widest<DecodePlain<float>>(in, out, n);
  case DType::float16:
    return run_widest<Decode16<Float16>>(in, out, n);
  case DType::bfloat16:
    return run_widest<Decode16<BFloat16>>(in, out, n);
  case DType::float8_e4m3fn:
    return decode8<Float8E4M3FN>(in, out, n);
  case DType::float8_e5m2:
    return decode8<Float8E5M2>(in, out, n);
  case DType::float4_e2m1:
    return decode4(in, out, n);
  case DType::int64:
    return run_widest<DecodePlain<std::int64_t>>(in, out, n);
  case DType::int32:
    return run_widest<DecodePlain<std::int32_t>>(in, out, n);
  case DType::int16:
    return run_widest<DecodePlain<std::int16_t>>(in, out, n);
  case DType::int8:
    return run_widest<DecodePlain<std::int8_t>>(in, out, n);
  case DType::boolean:
    return run_widest<DecodePlain<std::uint8_t>>(in, out, n);
  }
}

void from_double(DType t, std::span<const double> in, std::span<std::byte> out) {
  encode_all<double>(t, in, out);
}
void from_float(DType t, std::span<const float> in, std::span<std::byte> out) {
  encode_all<float>(t, in, out);
}

double element(DType t, std::span<const std::byte> buffer, std::size_t index) {
  double value = 0;
  if (t == DType::float4_e2m1) {
    const auto pair = std::to_integer<std::size_t>(buffer[index / 2]);
    return static_cast<double>(table<Float4E2M1>[index % 2 ? pair >> 4 : pair & 15]);
  }
  const std::size_t width = byte_size(t, 1);
  to_double(t, buffer.subspan(index * width, width), std::span(&value, 1));
  return value;
}

double round_to(DType t, double x) {
  std::array<std::byte, 8> bytes{};
  from_double(t, std::span(&x, 1), bytes);
  return element(t, bytes, 0);
}

double max_finite(DType t) {
  switch (t) {
  case DType::float64:
    return std::numeric_limits<double>::max();
  case DType::float32:
    return static_cast<double>(std::numeric_limits<float>::max());
  case DType::float16:
    return top_of<Float16>();
  case DType::bfloat16:
    return top_of<BFloat16>();
  case DType::float8_e4m3fn:
    return top_of<Float8E4M3FN>();
  case DType::float8_e5m2:
    return top_of<Float8E5M2>();
  case DType::float4_e2m1:
    return top_of<Float4E2M1>();
  case DType::int64:
    return 0x1.fffffffffffffp62; // the largest double below 2^63
  case DType::int32:
    return 2147483647;
  case DType::int16:
    return 32767;
  case DType::int8:
    return 127;
  case DType::boolean:
    return 1;
  }
  return 0;
}

double min_normal(DType t) {
  switch (t) {
  case DType::float64:
    return std::numeric_limits<double>::min();
  case DType::float32:
  case DType::bfloat16:
    return 0x1p-126;
  case DType::float16:
  case DType::float8_e5m2:
    return 0x1p-14;
  case DType::float8_e4m3fn:
    return 0x1p-6;
  default:
    return 1;
  }
}

double min_subnormal(DType t) {
  // One unit in the last place of the least normal number.
  return is_float(t) ? min_normal(t) * unit_roundoff(t) * 2 : 1;
}

double overflow_threshold(DType t) {
  switch (t) {
  case DType::float32:
    return 0x1.ffffffp127;
  case DType::float16:
    return threshold_of<Float16>();
  case DType::bfloat16:
    return threshold_of<BFloat16>();
  case DType::float8_e4m3fn:
    return threshold_of<Float8E4M3FN>();
  case DType::float8_e5m2:
    return threshold_of<Float8E5M2>();
  default:
    return std::numeric_limits<double>::infinity();
  }
}

bool has_infinity(DType t) {
  return is_float(t) && t != DType::float8_e4m3fn && t != DType::float4_e2m1;
}
bool has_nan(DType t) {
  return is_float(t) && t != DType::float4_e2m1;
}

} // namespace kw
