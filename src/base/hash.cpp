// SPDX-License-Identifier: Apache-2.0
#include "base/hash.hpp"

#include "base/result.hpp"

#include <array>
#include <cstdint>
#include <openssl/evp.h>

namespace kw {
namespace {

std::string to_hex(const unsigned char* bytes, unsigned size) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out;
  out.reserve(size * 2);
  for (unsigned i = 0; i < size; ++i) {
    out += digits[bytes[i] >> 4];
    out += digits[bytes[i] & 15];
  }
  return out;
}

std::string one_shot(const EVP_MD* md, std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> out{};
  unsigned size = 0;
  KW_ASSERT(EVP_Digest(bytes.data(), bytes.size(), out.data(), &size, md, nullptr) == 1);
  return to_hex(out.data(), size);
}

} // namespace

std::string sha256_hex(std::string_view bytes) {
  return one_shot(EVP_sha256(), bytes);
}
std::string sha1_hex(std::string_view bytes) {
  return one_shot(EVP_sha1(), bytes);
}

struct Digest::State {
  EVP_MD_CTX* ctx = EVP_MD_CTX_new();
  State() { KW_ASSERT(ctx != nullptr && EVP_DigestInit_ex(ctx, EVP_sha256(), nullptr) == 1); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { EVP_MD_CTX_free(ctx); }
};

Digest::Digest() : state_(std::make_unique<State>()) {}
Digest::~Digest() = default;
Digest::Digest(Digest&&) noexcept = default;
Digest& Digest::operator=(Digest&&) noexcept = default;

Digest& Digest::field(std::string_view bytes) {
  std::array<unsigned char, 8> length{};
  for (unsigned i = 0; i < 8; ++i)
    length[i] = static_cast<unsigned char>(static_cast<std::uint64_t>(bytes.size()) >> (8 * i));
  KW_ASSERT(EVP_DigestUpdate(state_->ctx, length.data(), length.size()) == 1);
  KW_ASSERT(EVP_DigestUpdate(state_->ctx, bytes.data(), bytes.size()) == 1);
  return *this;
}

Digest& Digest::raw(std::span<const std::byte> bytes) {
  KW_ASSERT(EVP_DigestUpdate(state_->ctx, bytes.data(), bytes.size()) == 1);
  return *this;
}

std::string Digest::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> out{};
  unsigned size = 0;
  KW_ASSERT(EVP_DigestFinal_ex(state_->ctx, out.data(), &size) == 1);
  return to_hex(out.data(), size);
}

} // namespace kw
