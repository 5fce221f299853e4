// SPDX-License-Identifier: Apache-2.0
#include "runner/run_delay.hpp"

#include <charconv>
#include <fcntl.h>
#include <fmt/format.h>
#include <string_view>
#include <unistd.h>

namespace kw {

RunDelay::RunDelay() : file_(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {}

RunDelay::RunDelay(pid_t pid)
    : file_(::open(fmt::format("/proc/{}/schedstat", pid).c_str(), O_RDONLY | O_CLOEXEC)) {}

std::uint64_t RunDelay::ns() const {
  char buffer[128]; // "<ns on a CPU> <ns waiting for one> <time slices>"
  const ssize_t n = file_ ? ::pread(file_.get(), buffer, sizeof buffer, 0) : 0;
  const std::string_view text(buffer, n > 0 ? static_cast<std::size_t>(n) : 0);
  const std::size_t blank = text.find(' ');
  std::uint64_t waited = 0;
  if (blank != std::string_view::npos)
    std::from_chars(text.data() + blank + 1, text.data() + text.size(), waited);
  return waited;
}

} // namespace kw
