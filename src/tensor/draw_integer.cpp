// SPDX-License-Identifier: Apache-2.0
#include "base/result.hpp"
#include "tensor/convert.hpp"
#include "tensor/draw_plan.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace kw {
namespace {

/// Closed interval of the values.
struct Range {
  std::int64_t low = 0, high = 0;
  [[nodiscard]] std::int64_t at(std::uint32_t fraction) const {
    if (fraction == 0xffffffffu) // also where the range is wider than the fraction is fine
      return high;
    const auto width = static_cast<unsigned __int128>(static_cast<__int128>(high) -
                                                      static_cast<__int128>(low) + 1);
    return static_cast<std::int64_t>(static_cast<__int128>(low) +
                                     static_cast<__int128>((width * fraction) >> 32));
  }
  /// The fraction whose value is 0, or of `low` where 0 is outside.
  [[nodiscard]] std::uint32_t rest() const {
    if (low >= 0 || high < 0)
      return 0;
    const auto width = static_cast<unsigned __int128>(static_cast<__int128>(high) -
                                                      static_cast<__int128>(low) + 1);
    const auto below = static_cast<unsigned __int128>(-static_cast<__int128>(low));
    return static_cast<std::uint32_t>(((below << 32) + width - 1) / width);
  }
};

std::int64_t rounded(double x) {
  constexpr double limit = 0x1.fffffffffffffp62;
  return static_cast<std::int64_t>(std::min(std::max(std::ceil(x), -limit), limit));
}
template <class T> Range limits() {
  return {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
}
Range whole_range(DType t) {
  switch (t) {
  case DType::int64:
    return limits<std::int64_t>();
  case DType::int32:
    return limits<std::int32_t>();
  case DType::int16:
    return limits<std::int16_t>();
  case DType::int8:
    return limits<std::int8_t>();
  case DType::boolean:
    return {0, 1};
  default:
    return {0, static_cast<std::int64_t>(max_finite(t) < 0x1p62 ? max_finite(t) : 0x1p62)};
  }
}

Range range_of(const DrawPlan& plan) {
  const DrawSpec& spec = plan.spec;
  const Range whole = whole_range(spec.dtype);
  Range r;
  if (spec.dtype == DType::boolean)
    return whole;
  if (spec.kind == "indices" || spec.kind == "positions")
    r = {0, std::max<std::int64_t>(spec.limit, 1) - 1};
  else if (spec.kind == "uniform" || spec.kind == "positive")
    r = {rounded(spec.low * spec.scale), rounded(spec.high * spec.scale) - 1};
  else if (plan.cls == InputClass::max_finite)
    r = whole;
  else if (plan.cls == InputClass::small_integers || spec.kind == "normal")
    r = {-4, 4};
  else
    r = {-1024, 1023};
  if (spec.kind == "positive")
    r.low = std::max<std::int64_t>(r.low, 1);
  r.high = std::max(r.low, r.high);
  return {std::clamp(r.low, whole.low, whole.high), std::clamp(r.high, whole.low, whole.high)};
}

/// A contiguous ascending run, where it fits into the limit.
void contiguous(const DrawPlan& plan, const Range& range, const RowSegment& at,
                std::span<std::int64_t> values) {
  const std::int64_t room = range.high + 1 - at.columns; // starts 0 .. room
  std::int64_t start = Range{0, room}.at(at.row_words[1]);
  if (plan.cls == InputClass::mask_edges)
    start = at.row_words[1] & 1u ? room : 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = start + at.column + static_cast<std::int64_t>(i);
}

/// Ascending with gaps (or repeats, when the row is longer than the limit).
void spread(const Range& range, const RowSegment& at, std::span<const std::uint32_t> words,
            std::span<std::int64_t> values) {
  const auto length = static_cast<unsigned __int128>(at.columns);
  const auto width = static_cast<std::uint64_t>(range.high) + 1; // low is 0
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto column = static_cast<std::uint64_t>(at.column) + i;
    const unsigned __int128 place =
        (static_cast<unsigned __int128>(column) << 32) + words[i]; // units of 2^-32 columns
    values[i] = range.low + static_cast<std::int64_t>((place * width / length) >> 32);
  }
}

template <class T> void narrow(std::span<const std::int64_t> values, std::byte* out) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T value = static_cast<T>(values[i]);
    std::memcpy(out + i * sizeof(T), &value, sizeof(T));
  }
}

void store(DType t, std::span<const std::int64_t> values, std::span<std::byte> out) {
  switch (t) {
  case DType::int64:
    return narrow<std::int64_t>(values, out.data());
  case DType::int32:
    return narrow<std::int32_t>(values, out.data());
  case DType::int16:
    return narrow<std::int16_t>(values, out.data());
  case DType::int8:
  case DType::boolean:
    return narrow<std::int8_t>(values, out.data());
  default:
    break;
  }
  std::array<double, chunk_size> reals{};
  for (std::size_t i = 0; i < values.size(); ++i)
    reals[i] = static_cast<double>(values[i]);
  from_double(t, std::span(reals).first(values.size()), out);
}

} // namespace

void draw_integers(const DrawPlan& plan, std::int64_t first, std::int64_t count,
                   std::span<std::byte> out) {
  const Range range = range_of(plan);
  const std::uint32_t rest = range.rest();
  const bool positions = plan.spec.kind == "positions";
  const bool runs = positions && plan.columns <= range.high + 1 && plan.cls != InputClass::uniform;
  std::array<std::uint32_t, chunk_size> words{};
  std::array<std::int64_t, chunk_size> values{};
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t index = first + done;
    const std::size_t skip = static_cast<std::size_t>(index) % chunk_size;
    const std::size_t length = std::min(static_cast<std::size_t>(count - done), chunk_size - skip);
    random_words(plan.stream, static_cast<std::uint64_t>(index) - skip, words);
    plan.by_row(index, length, [&](const RowSegment& at, std::size_t offset, std::size_t piece) {
      const auto w = std::span(words).subspan(skip + offset, piece);
      const auto v = std::span(values).subspan(skip + offset, piece);
      if (runs)
        return contiguous(plan, range, at, v);
      if (positions)
        return spread(range, at, w, v);
      fraction_pattern(plan.cls, at, rest, w);
      for (std::size_t i = 0; i < piece; ++i)
        v[i] = range.at(w[i]);
    });
    store(plan.spec.dtype, std::span<const std::int64_t>(values).subspan(skip, length),
          out.subspan(byte_size(plan.spec.dtype, done)));
    done += static_cast<std::int64_t>(length);
  }
}

} // namespace kw
