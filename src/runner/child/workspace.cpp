// SPDX-License-Identifier: Apache-2.0
// The kernel's scratch block, one per process, poisoned before every call so that a kernel that
// reads what it did not write gives different answers on different trials.
#include "arm.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>

namespace kw::child {
namespace {

std::size_t used = 0;

} // namespace

int reserve_workspace(Arm& arm, std::size_t bytes) {
  const std::size_t reserved = (bytes + protocol::page - 1) / protocol::page * protocol::page;
  void* p = ::mmap(nullptr, reserved + 2 * protocol::page, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    return errno;
  arm.workspace = static_cast<std::byte*>(p) + protocol::page;
  arm.workspace_bytes = reserved;
  return reserved == 0 || ::mprotect(arm.workspace, reserved, PROT_READ | PROT_WRITE) == 0 ? 0
                                                                                           : errno;
}

std::size_t workspace_used(const Arm& arm) {
  return std::min(used, arm.workspace_bytes); // the kernel may have written anything there
}

void poison_workspace(const Arm& arm, std::uint32_t pattern) {
  // All of the first MiB, then one cache line a page: enough to disturb any use of stale contents
  // without turning a large workspace into milliseconds per call.
  constexpr std::size_t whole = std::size_t{1} << 20, line = 64;
  const int fill = static_cast<int>(0x11U + pattern * 0x3dU) & 0xff;
  const std::size_t bytes = workspace_used(arm);
  std::memset(arm.workspace, fill, std::min(bytes, whole));
  for (std::size_t at = whole; at + line <= bytes; at += protocol::page)
    std::memset(arm.workspace + at, fill, line);
}

} // namespace kw::child

extern "C" __attribute__((visibility("default"))) void* kw_workspace(std::size_t bytes) {
  using namespace kw::child;
  if (bytes > kw_fixed.arm.workspace_bytes)
    return nullptr;
  used = std::max(used, bytes);
  return kw_fixed.arm.workspace;
}
