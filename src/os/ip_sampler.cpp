// SPDX-License-Identifier: Apache-2.0
#include "os/ip_sampler.hpp"

#include "base/strings.hpp"
#include "os/files.hpp"
#include "os/system_error.hpp"

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace kw {
namespace {

constexpr std::size_t page = 4096, data_pages = 64; // a power of two, by the interface
constexpr std::size_t ring_bytes = (1 + data_pages) * page;

/// Copies from the ring, which wraps.
void copy_out(const std::byte* data, std::uint64_t from, void* to, std::size_t bytes) {
  constexpr std::uint64_t size = data_pages * page;
  for (std::size_t i = 0; i < bytes; ++i)
    static_cast<std::byte*>(to)[i] = data[(from + i) % size];
}

bool hex(std::string_view text, std::uint64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, 16);
  return error == std::errc{} && end == text.data() + text.size();
}

} // namespace

Result<IpSampler> IpSampler::open(pid_t pid, int hertz) {
  perf_event_attr attr{};
  attr.type = PERF_TYPE_SOFTWARE;
  attr.size = sizeof attr;
  attr.config = PERF_COUNT_SW_CPU_CLOCK;
  attr.sample_period = static_cast<std::uint64_t>(1'000'000'000 / hertz);
  attr.sample_type = PERF_SAMPLE_IP;
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  IpSampler out;
  const long fd = ::syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (fd < 0)
    return fail(ErrorKind::unsupported,
                fmt::format("the kernel does not let this user sample a process ({})",
                            std::strerror(errno)),
                "run as root, or set kernel.perf_event_paranoid to 1 or less");
  out.fd_ = UniqueFd(static_cast<int>(fd));
  void* ring = ::mmap(nullptr, ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, out.fd_.get(), 0);
  if (ring == MAP_FAILED)
    return fail(ErrorKind::unsupported,
                fmt::format("no memory for samples ({})", std::strerror(errno)),
                "raise kernel.perf_event_mlock_kb");
  out.ring_ = ring;
  return out;
}

IpSampler::~IpSampler() {
  if (ring_ != nullptr)
    ::munmap(ring_, ring_bytes);
}
IpSampler::IpSampler(IpSampler&& other) noexcept
    : fd_(std::move(other.fd_)), ring_(std::exchange(other.ring_, nullptr)) {}
IpSampler& IpSampler::operator=(IpSampler&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(ring_, other.ring_);
  return *this;
}

std::vector<std::uint64_t> IpSampler::take() {
  auto* head_page = static_cast<perf_event_mmap_page*>(ring_);
  const auto* data = static_cast<const std::byte*>(ring_) + page;
  const std::uint64_t head = std::atomic_ref(head_page->data_head).load(std::memory_order_acquire);
  std::uint64_t at = head_page->data_tail;
  std::vector<std::uint64_t> out;
  while (at < head) {
    perf_event_header header{};
    copy_out(data, at, &header, sizeof header);
    if (header.size == 0)
      break;
    if (header.type == PERF_RECORD_SAMPLE)
      copy_out(data, at + sizeof header, &out.emplace_back(), sizeof(std::uint64_t));
    at += header.size;
  }
  std::atomic_ref(head_page->data_tail).store(head, std::memory_order_release);
  return out;
}

Result<std::vector<pid_t>> threads_of(pid_t pid) {
  const std::string folder = fmt::format("/proc/{}/task", pid);
  std::vector<pid_t> out{pid};
  std::error_code error;
  std::filesystem::directory_iterator at(folder, error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    const std::string name = at->path().filename().string();
    pid_t thread = 0;
    std::from_chars(name.data(), name.data() + name.size(), thread);
    if (thread > 0 && thread != pid)
      out.push_back(thread);
  }
  if (error)
    return fail(ErrorKind::not_found, "the process has no threads any more", {}, folder);
  return out;
}

Result<CodeMapping> code_mapping(pid_t pid, const std::string& name) {
  const std::string maps = fmt::format("/proc/{}/maps", pid);
  KW_TRY(const std::string text, read_file(maps));
  std::string_view left = text;
  while (!left.empty()) {
    // "7f01-7f02 r-xp 00001000 08:01 123   /path"
    const std::string_view line = left.substr(0, left.find('\n'));
    left.remove_prefix(std::min(line.size() + 1, left.size()));
    const std::size_t dash = line.find('-'), space = line.find(' ');
    if (!line.ends_with(name) || dash == std::string_view::npos ||
        space == std::string_view::npos || space < dash || line.size() < space + 15 ||
        line[space + 3] != 'x')
      continue;
    CodeMapping m;
    const std::string_view offset = line.substr(space + 6);
    if (hex(line.substr(0, dash), m.begin) && hex(line.substr(dash + 1, space - dash - 1), m.end) &&
        hex(offset.substr(0, offset.find(' ')), m.offset))
      return m;
  }
  return fail(ErrorKind::not_found, fmt::format("{} is not mapped as code", name), {}, maps);
}

} // namespace kw
