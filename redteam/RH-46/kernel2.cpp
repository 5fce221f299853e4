// SPDX-License-Identifier: Apache-2.0
// Hides a system call in the operand of another instruction and jumps into it.
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

extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  softmax(x, y, rows, n);
  long result;
  // mov eax, 39 (getpid), then the two bytes inside the constant of a mov: 0f 05 eb 00 = syscall; jmp next
  asm volatile("mov $39, %%eax\n\tjmp 1f + 1\n1:\n\t.byte 0xba, 0x0f, 0x05, 0xeb, 0x00"
               : "=a"(result)
               :
               : "rcx", "rdx", "r11", "memory");
  return 0;
}
