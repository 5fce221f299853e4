// SPDX-License-Identifier: Apache-2.0
#include "oracle/copy_peer.hpp"

#include <fmt/format.h>

namespace kw {
namespace {

/// Blocks of output are paired with the matching share of input, so that reads and writes alternate
/// as they do in a real kernel. `extra` input is folded into one value that is stored once.
constexpr const char* mover = R"cpp(#include <cstddef>
#include <cstdint>
#include <cstring>
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace {

using Line = std::uint64_t __attribute__((vector_size(64)));
constexpr std::size_t block = 4096;

struct Cursor {
  const char* const* parts;
  const std::size_t* sizes;
  std::size_t count, part = 0, at = 0;
  // At most `want` contiguous bytes from here, whole lines where the part allows; 0 at the end.
  std::size_t next(std::size_t want, const char*& p) {
    while (part < count && at == sizes[part])
      ++part, at = 0;
    if (part == count)
      return 0;
    const std::size_t n = want < sizes[part] - at ? want : sizes[part] - at;
    p = parts[part] + at;
    at += n;
    return n;
  }
};

Line read_all(const char* p, std::size_t n) {
  Line sink{};
  for (std::size_t i = 0; i + 64 <= n; i += 64) {
    Line v;
    std::memcpy(&v, p + i, 64);
    sink |= v;
  }
  for (std::size_t i = n / 64 * 64; i < n; ++i)
    sink[0] |= static_cast<std::uint64_t>(static_cast<unsigned char>(p[i]));
  return sink;
}

void move(char* to, const char* from, std::size_t n) {
  std::size_t i = 0;
#if defined(__AVX512F__)
  if (KW_STREAMING && (reinterpret_cast<std::uintptr_t>(to) & 63) == 0)
    for (; i + 64 <= n; i += 64)
      _mm512_stream_si512(reinterpret_cast<__m512i*>(to + i), _mm512_loadu_si512(from + i));
#endif
  for (; i + 64 <= n; i += 64) {
    Line v;
    std::memcpy(&v, from + i, 64);
    std::memcpy(to + i, &v, 64);
  }
  for (; i < n; ++i)
    to[i] = from[i];
}

int copy_all(const char* const* in, const std::size_t* in_bytes, std::size_t ins, char* const* out, const std::size_t* out_bytes, std::size_t outs) {
  std::size_t total_in = 0, total_out = 0;
  for (std::size_t i = 0; i < ins; ++i)
    total_in += in_bytes[i];
  for (std::size_t i = 0; i < outs; ++i)
    total_out += out_bytes[i];
  const std::size_t surplus = total_in > total_out ? total_in - total_out : 0;
  Cursor source{in, in_bytes, ins};
  alignas(64) static const char zeros[block] = {};
  Line sink{};
  const char* p = nullptr;
  std::size_t done = 0, skipped = 0;
  for (std::size_t o = 0; o < outs; ++o)
    for (std::size_t at = 0; at < out_bytes[o];) {
      const std::size_t want = block < out_bytes[o] - at ? block : out_bytes[o] - at;
      std::size_t n = source.next(want, p);
      if (n == 0)
        n = want, p = zeros;
      move(out[o] + at, p, n);
      at += n;
      done += n;
      const std::size_t due = static_cast<std::size_t>(static_cast<double>(surplus) * static_cast<double>(done) / static_cast<double>(total_out)) / 64 * 64;
      while (skipped < due) {
        const std::size_t more = source.next(due - skipped, p);
        if (more == 0)
          break;
        sink |= read_all(p, more);
        skipped += more;
      }
    }
  while (const std::size_t rest = source.next(block, p))
    sink |= read_all(p, rest);
#if defined(__AVX512F__)
  if (KW_STREAMING)
    _mm_sfence();
#endif
  asm volatile("" : : "m"(sink));
  return 0;
}

} // namespace
)cpp";

/// Bytes of a tensor as a C++ expression over the axis parameters.
std::string bytes_of(const Definition& definition, const TensorSpec& spec) {
  std::string out = fmt::format("{}", byte_size(spec.dtype, 8));
  for (const std::string& axis : *spec.shape) {
    const Axis* a = definition.axis(axis);
    out += a != nullptr && a->value ? fmt::format(" * {}", *a->value)
                                    : fmt::format(" * static_cast<std::size_t>({})", axis);
  }
  return "(" + out + ") / 8";
}

} // namespace

std::string copy_peer_source(const Definition& definition, bool streaming) {
  std::string parameters, in, in_bytes, out, out_bytes;
  std::size_t ins = 0, number = 0;
  const auto parameter = [&](const std::string& text) {
    parameters += (parameters.empty() ? "" : ", ") + text;
  };
  for (const TensorSpec& t : definition.inputs) {
    const std::string name = fmt::format("in{}", number++);
    if (t.is_scalar()) {
      parameter(t.dtype == DType::float64 ? "double"
                : is_float(t.dtype)       ? "float"
                                          : "std::int64_t");
      continue;
    }
    ++ins;
    parameter("const char* " + name);
    in += name + ", ";
    in_bytes += bytes_of(definition, t) + ", ";
  }
  for (const TensorSpec& t : definition.outputs) {
    const std::string name = fmt::format("out{}", number++);
    parameter("char* " + name);
    out += name + ", ";
    out_bytes += bytes_of(definition, t) + ", ";
  }
  for (const Axis& a : definition.axes)
    if (a.is_variable())
      parameter("[[maybe_unused]] std::int64_t " + a.name);
  return fmt::format("// Generated by Kernwright: moves the bytes of `{}` and computes "
                     "nothing.\n#define KW_STREAMING {}\n{}\n"
                     "extern \"C\" int kw_copy({}) {{\n  const char* const in[] = {{{}}};\n  const "
                     "std::size_t in_bytes[] = {{{}}};\n"
                     "  char* const out[] = {{{}}};\n  const std::size_t out_bytes[] = {{{}}};\n"
                     "  return copy_all(in, in_bytes, {}, out, out_bytes, {});\n}}\n",
                     definition.name, streaming ? "true" : "false", mover, parameters,
                     in.empty() ? "nullptr" : in, in_bytes.empty() ? "0" : in_bytes, out, out_bytes,
                     ins, definition.outputs.size());
}

std::vector<PeerSpec> copy_peers(const Definition& definition) {
  std::vector<PeerSpec> out;
  for (const bool streaming : {false, true})
    out.push_back({.name = streaming ? "copy-nt" : "copy",
                   .kind = "copy",
                   .source = "copy.cpp",
                   .source_text = copy_peer_source(definition, streaming),
                   .entry = "kw_copy",
                   .link = {}});
  return out;
}

} // namespace kw
