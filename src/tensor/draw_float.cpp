// SPDX-License-Identifier: Apache-2.0
#include "tensor/convert.hpp"
#include "tensor/draw_plan.hpp"
#include "tensor/simd.hpp"

#include <array>
#include <cmath>
#include <vector>

namespace kw {
namespace {

constexpr std::size_t tile_size = 16 * chunk_size;

/// Random sequences of whole chunks, and the values made from them.
struct Tile {
  alignas(64) std::array<float, tile_size> z;
  alignas(64) std::array<std::uint32_t, tile_size> w;
  alignas(64) std::array<float, tile_size> x;
};

struct ScaleAndClamp {
  KW_INLINE void run(const float* from, float* to, std::size_t n, float factor, float limit) {
    for (std::size_t i = 0; i < n; ++i) {
      const float x = from[i] * factor;
      const float low = x < -limit ? -limit : x;
      to[i] = low > limit ? limit : low;
    }
  }
};

bool needs_words(InputClass cls) {
  switch (cls) {
  case InputClass::normal:
  case InputClass::scale_sweep:
  case InputClass::row_scales:
  case InputClass::offset:
  case InputClass::alternating:
  case InputClass::impulse:
  case InputClass::mask_edges:
  case InputClass::ill_conditioned:
    return false;
  default:
    return true;
  }
}

float largest(DType t) {
  return static_cast<float>(std::min(max_finite(t), max_finite(DType::float32)));
}

/// Values of kinds "uniform" and "positive" for elements that start at index `skip` of the tile.
void interval_tile(const DrawPlan& plan, Tile& tile, std::int64_t first, std::size_t skip,
                   std::size_t count) {
  const DrawSpec& spec = plan.spec;
  plan.by_row(first, count, [&](const RowSegment& at, std::size_t offset, std::size_t length) {
    fraction_pattern(plan.cls, at, 0, std::span(tile.w).subspan(skip + offset, length));
  });
  const double a = spec.low * spec.scale, b = spec.high * spec.scale;
  const auto low = static_cast<float>(std::min(a, b)), width = static_cast<float>(std::abs(b - a));
  const float least = spec.kind == "positive"
                          ? static_cast<float>(std::max(min_normal(spec.dtype), 0x1p-126))
                          : -largest(spec.dtype);
  const float most = largest(spec.dtype);
  for (std::size_t i = skip; i < skip + count; ++i) {
    const float q = static_cast<float>(static_cast<std::int32_t>(tile.w[i] >> 8)) * 0x1p-24F;
    tile.x[i] = std::min(std::max(low + width * q, least), most);
  }
}

/// Values of the unbounded kinds. Classes that live at the ends of the format ignore the scale;
/// classes of exact integers use the power of two below it.
void unbounded_tile(const DrawPlan& plan, Tile& tile, std::int64_t first, std::size_t skip,
                    std::size_t count) {
  auto factor = static_cast<float>(plan.spec.scale);
  const float* from = tile.z.data();
  if (plan.cls != InputClass::normal) {
    const bool any = plan.spec.kind != "normal" && plan.spec.kind != "l2_normalized";
    const Reach reach = any ? reach_any(plan.spec.dtype) : reach_normal(plan.spec.dtype);
    plan.by_row(first, count, [&](const RowSegment& at, std::size_t offset, std::size_t length) {
      float_pattern(plan.cls, reach, at, std::span(tile.z).subspan(skip + offset, length),
                    std::span(tile.w).subspan(skip + offset, length),
                    std::span(tile.x).subspan(skip + offset, length));
    });
    from = tile.x.data();
    if (reach.extremes && (plan.cls == InputClass::specials || plan.cls == InputClass::denormals ||
                           plan.cls == InputClass::max_finite || plan.cls == InputClass::near_ties))
      return;
    if (keeps_integers(plan.cls) && factor != 0)
      factor = std::copysign(std::ldexp(1.0F, std::ilogb(factor)), factor);
  }
  run_widest<ScaleAndClamp>(from + skip, tile.x.data() + skip, count, factor,
                            largest(plan.spec.dtype));
}

/// Calls emit(offset, values) for pieces that cover [first, first + count).
template <class Emit>
void tiles(const DrawPlan& plan, Tile& tile, std::int64_t first, std::int64_t count,
           const Emit& emit) {
  const bool interval = plan.spec.kind == "uniform" || plan.spec.kind == "positive";
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t at = first + done;
    const std::size_t skip = static_cast<std::size_t>(at) % chunk_size;
    const std::size_t length = std::min(static_cast<std::size_t>(count - done), tile_size - skip);
    const auto start = static_cast<std::uint64_t>(at) - skip;
    const std::size_t whole = (skip + length + chunk_size - 1) / chunk_size * chunk_size;
    if (!interval)
      random_normals(plan.stream, start, std::span(tile.z).first(whole));
    if (interval || needs_words(plan.cls))
      random_words(plan.stream, start, std::span(tile.w).first(whole));
    if (interval)
      interval_tile(plan, tile, at, skip, length);
    else
      unbounded_tile(plan, tile, at, skip, length);
    emit(done, std::span<const float>(tile.x).subspan(skip, length));
    done += static_cast<std::int64_t>(length);
  }
}

/// Divides a row by its norm, summed in double in a fixed order. A zero row becomes a unit vector.
void normalize_row(std::span<float> row, double scale, const RandomWords& random) {
  double sum = 0;
  for (const float x : row)
    sum += static_cast<double>(x) * static_cast<double>(x);
  if (!(sum > 0)) {
    std::fill(row.begin(), row.end(), 0.0F);
    row[random[1] % row.size()] = 1;
    sum = 1;
  }
  const double factor = scale / std::sqrt(sum);
  for (float& x : row)
    x = static_cast<float>(static_cast<double>(x) * factor);
}

void normalized(DrawPlan plan, std::int64_t first, std::int64_t count, std::span<std::byte> out) {
  const double scale = plan.spec.scale;
  const DType dtype = plan.spec.dtype;
  plan.spec.scale = 1;
  Tile tile;
  std::vector<float> row(static_cast<std::size_t>(plan.columns)), values;
  values.reserve(static_cast<std::size_t>(count));
  for (std::int64_t r = first / plan.columns; r * plan.columns < first + count; ++r) {
    const std::int64_t start = r * plan.columns;
    tiles(plan, tile, start, plan.columns, [&](std::int64_t offset, std::span<const float> x) {
      std::copy(x.begin(), x.end(), row.begin() + offset);
    });
    normalize_row(row, scale, plan.row_words(r));
    values.insert(values.end(), row.begin() + (std::max(first, start) - start),
                  row.begin() + (std::min(first + count, start + plan.columns) - start));
  }
  from_float(dtype, values, out);
}

} // namespace

void draw_floats(const DrawPlan& plan, std::int64_t first, std::int64_t count,
                 std::span<std::byte> out) {
  if (plan.spec.kind == "l2_normalized")
    return normalized(plan, first, count, out);
  Tile tile;
  const DType dtype = plan.spec.dtype;
  tiles(plan, tile, first, count, [&](std::int64_t offset, std::span<const float> x) {
    from_float(dtype, x, out.subspan(byte_size(dtype, offset)));
  });
}

} // namespace kw
