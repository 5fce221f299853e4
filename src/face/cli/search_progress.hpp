// SPDX-License-Identifier: Apache-2.0
// What a search shows while it goes on.
#pragma once

#include "os/interrupt.hpp"
#include "service/optimizing.hpp"

#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <string>
#include <unistd.h>

namespace kw::cli {

/// One line per probe; on a terminal the verifying step is shown in place and overwritten.
class SearchProgress {
 public:
  explicit SearchProgress(bool quiet)
      : quiet_(quiet), live_(!quiet && isatty(STDERR_FILENO) == 1) {}

  /// Makes a run report here and listen to Ctrl-C.
  void watch(OptimizeRequest& request) {
    request.judging.stop = [] { return interrupted(); };
    request.judging.progress = [this](const std::string& stage, std::uint64_t done,
                                      std::uint64_t total) { step(stage, done, total); };
    request.hooks.stop = [] { return interrupted(); };
    request.hooks.probe = [this](const ProbeEvent& e) { probe(e); };
    request.hooks.note = [this](const std::string& text) { note(text); };
  }

  void note(const std::string& text) {
    if (quiet_)
      return;
    clear();
    fmt::print(stderr, "{}\n", text);
  }

  void probe(const ProbeEvent& e) {
    if (quiet_)
      return;
    clear();
    if (e.index == 1 || !header_) {
      fmt::print(stderr, "{:>6}  {:>7}  {:<8} {:>9} {:>9}  {:<14}  {}\n", "probe", "time",
                 "decision", "estimate", "best", "finding", "configuration");
      header_ = true;
    }
    const std::string estimate =
        e.probe.estimate ? fmt::format("{:.2f}x", std::exp(*e.probe.estimate)) : "-";
    const std::string finding =
        e.probe.verdict.finding == Finding::none ? "" : name(e.probe.verdict.finding);
    fmt::print(stderr, "{:>6}  {:>6.1f}s  {:<8} {:>9} {:>8.2f}x  {:<14}  {:.90}\n", e.index,
               e.seconds, e.probe.decision, estimate, e.best, finding, e.probe.hypothesis);
  }

  void step(const std::string& stage, std::uint64_t done, std::uint64_t total) {
    if (!live_ || done % 4 != 0)
      return;
    fmt::print(stderr, "\r\033[K  {} {}/{}", stage, done, total);
    std::fflush(stderr);
    dirty_ = true;
  }

  void clear() {
    if (dirty_)
      fmt::print(stderr, "\r\033[K");
    dirty_ = false;
  }

 private:
  bool quiet_, live_, dirty_ = false, header_ = false;
};

} // namespace kw::cli
