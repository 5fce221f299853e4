// SPDX-License-Identifier: Apache-2.0
#include "target/cpu/ceilings.hpp"

#include "os/cpu.hpp"
#include "os/files.hpp"
#include "target/cpu/ceiling_loops.hpp"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <sys/mman.h>
#include <thread>

namespace kw {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int schema_version = 1;
/// Each figure is the best of this many samples: a ceiling is a maximum, noise only lowers it.
constexpr int samples = 5;
constexpr double sample_seconds = 4e-3;

double seconds_of(const std::function<void()>& work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Best rate of `threads` copies of work(thread, repetitions), in units per second all together.
double best_rate(int threads, double units_per_repetition,
                 const std::function<void(int, long)>& work) {
  long repetitions = 1;
  double once = seconds_of([&] { work(0, repetitions); });
  while (once < sample_seconds / 2 && repetitions < (1L << 40)) {
    repetitions =
        std::max(repetitions * 2, static_cast<long>(static_cast<double>(repetitions) *
                                                    sample_seconds / std::max(once, 1e-9) * 0.8));
    once = seconds_of([&] { work(0, repetitions); });
  }
  double best = 0;
  std::barrier gate(threads);
  std::vector<double> elapsed(static_cast<std::size_t>(threads));
  const auto run = [&](int thread) {
    for (int s = 0; s < samples; ++s) {
      gate.arrive_and_wait();
      elapsed[static_cast<std::size_t>(thread)] = seconds_of([&] { work(thread, repetitions); });
      gate.arrive_and_wait();
      if (thread == 0) {
        const double slowest = *std::max_element(elapsed.begin(), elapsed.end());
        best = std::max(best, threads * units_per_repetition * static_cast<double>(repetitions) /
                                  slowest);
      }
    }
  };
  std::vector<std::jthread> helpers;
  for (int t = 1; t < threads; ++t)
    helpers.emplace_back(run, t);
  run(0);
  return best;
}

/// Memory of the kind kernels get: a shared mapping, prefaulted.
class SharedBuffer {
 public:
  explicit SharedBuffer(std::size_t bytes) : bytes_(bytes) {
    data_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE,
                 -1, 0);
    KW_ASSERT(data_ != MAP_FAILED);
  }
  SharedBuffer(const SharedBuffer&) = delete;
  SharedBuffer& operator=(const SharedBuffer&) = delete;
  ~SharedBuffer() { munmap(data_, bytes_); }
  [[nodiscard]] float* data() const { return static_cast<float*>(data_); }

 private:
  std::size_t bytes_;
  void* data_;
};

struct Mix {
  int reads, writes;
};

BandwidthCeiling measure_bandwidth(const std::string& level, std::size_t footprint, Mix mix,
                                   int threads) {
  BandwidthCeiling out{
      .level = level, .footprint = footprint, .reads = mix.reads, .writes = mix.writes};
  const std::size_t streams = static_cast<std::size_t>(mix.reads + mix.writes);
  const std::size_t floats = footprint / streams / sizeof(float) / 64 * 64;
  std::vector<std::unique_ptr<SharedBuffer>> buffers;
  for (std::size_t i = 0; i < streams * static_cast<std::size_t>(threads); ++i)
    buffers.push_back(std::make_unique<SharedBuffer>(floats * sizeof(float)));
  const double bytes = static_cast<double>(floats * sizeof(float) * streams);
  const auto pass = [&](bool streaming) {
    return [&, streaming](int thread, long repetitions) {
      float* base[4] = {};
      for (std::size_t s = 0; s < streams; ++s)
        base[s] = buffers[static_cast<std::size_t>(thread) * streams + s]->data();
      for (long r = 0; r < repetitions; ++r)
        stream_pass(base, mix.reads, mix.writes, floats, streaming);
    };
  };
  out.plain_1 = best_rate(1, bytes, pass(false));
  out.plain_all = threads > 1 ? best_rate(threads, bytes, pass(false)) : out.plain_1;
  if (mix.writes > 0) {
    out.streaming_1 = best_rate(1, bytes, pass(true));
    out.streaming_all = threads > 1 ? best_rate(threads, bytes, pass(true)) : out.streaming_1;
  }
  return out;
}

nlohmann::ordered_json to_json(const Ceilings& c) {
  nlohmann::ordered_json out{{"schema", schema_version},
                             {"cpu", c.cpu},
                             {"fma_f32_1", c.fma_f32_1},
                             {"fma_f32_all", c.fma_f32_all},
                             {"fma_f32_256_1", c.fma_f32_256_1},
                             {"fma_f32_256_all", c.fma_f32_256_all},
                             {"bandwidth", nlohmann::ordered_json::array()}};
  for (const BandwidthCeiling& b : c.bandwidth)
    out["bandwidth"].push_back({{"level", b.level},
                                {"footprint", b.footprint},
                                {"reads", b.reads},
                                {"writes", b.writes},
                                {"plain_1", b.plain_1},
                                {"streaming_1", b.streaming_1},
                                {"plain_all", b.plain_all},
                                {"streaming_all", b.streaming_all}});
  return out;
}

/// Our own cache file: anything unexpected simply means "measure again".
bool from_json(const std::string& text, Ceilings& out) {
  try {
    const auto in = nlohmann::ordered_json::parse(text);
    if (in.at("schema") != schema_version)
      return false;
    out.cpu = in.at("cpu");
    out.fma_f32_1 = in.at("fma_f32_1"), out.fma_f32_all = in.at("fma_f32_all");
    out.fma_f32_256_1 = in.at("fma_f32_256_1"), out.fma_f32_256_all = in.at("fma_f32_256_all");
    for (const auto& b : in.at("bandwidth"))
      out.bandwidth.push_back({b.at("level"), b.at("footprint"), b.at("reads"), b.at("writes"),
                               b.at("plain_1"), b.at("streaming_1"), b.at("plain_all"),
                               b.at("streaming_all")});
    return out.fma_f32_1 > 0 && !out.bandwidth.empty();
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

/// What one of all threads got on average when all ran: one alone can do at least that, also where
/// its own measurement was disturbed.
double mean_of_one(double all) {
  return all / std::max(1, cpu_info().online);
}

} // namespace

namespace {

/// Bytes that the level of a measurement holds. L1 and L2 are measured at half of it; the last
/// level at no more than it surely has, and whether a virtual machine gets all that it is told of,
/// nobody knows: say yes.
double held_bytes(const BandwidthCeiling& b, int threads) {
  const double holds = 2.0 * static_cast<double>(b.footprint) * threads;
  return b.level == "L3" ? std::max(holds, static_cast<double>(cpu_info().last_level_bytes()))
                         : holds;
}

/// Best bytes/s of all measurements at one footprint whose share of writes is nearest.
double rate_of(const std::vector<BandwidthCeiling>& bandwidth, std::size_t footprint, double share,
               int threads) {
  double best = 0, nearest = 2;
  for (const BandwidthCeiling& b : bandwidth) {
    if (b.footprint != footprint)
      continue;
    const double distance = std::abs(static_cast<double>(b.writes) / (b.reads + b.writes) - share);
    if (distance > nearest + 1e-9)
      continue;
    nearest = distance;
    const double all = std::max(b.plain_all, b.streaming_all);
    best = threads > 1 ? all : std::max({b.plain_1, b.streaming_1, mean_of_one(all)});
  }
  return best;
}

} // namespace

double Ceilings::cold_transfer_ns(double bytes_read, double bytes_written, int threads) const {
  const double total = bytes_read + bytes_written;
  const double rate =
      bandwidth.empty() || total <= 0
          ? 0
          : rate_of(bandwidth, bandwidth.back().footprint, bytes_written / total, threads);
  return rate > 0 ? 1e9 * total / rate : 0;
}

std::string Ceilings::level_of(double bytes, int threads) const {
  for (const BandwidthCeiling& b : bandwidth)
    if (b.level != bandwidth.back().level && bytes <= held_bytes(b, threads))
      return b.level;
  return "DRAM";
}

double Ceilings::transfer_ns(double bytes_read, double bytes_written, int threads) const {
  const double total = bytes_read + bytes_written;
  const double share = total > 0 ? bytes_written / total : 0;
  double ns = 0, done = 0;
  std::size_t before = 0;
  for (const BandwidthCeiling& b : bandwidth) { // levels in order, several mixes each
    if (b.footprint == before)
      continue;
    before = b.footprint;
    double holds = held_bytes(b, threads);
    if (b.footprint == bandwidth.back().footprint || holds > total)
      holds = total;
    const double rate = rate_of(bandwidth, b.footprint, share, threads);
    if (rate <= 0)
      return 0;
    ns += 1e9 * std::max(0.0, holds - done) / rate;
    done = std::max(done, holds);
  }
  return ns;
}

double Ceilings::floor_ns(double flops, double bytes_read, double bytes_written,
                          int threads) const {
  const double all = std::max(fma_f32_all, fma_f32_256_all);
  const double peak = threads > 1 ? all : std::max({fma_f32_1, fma_f32_256_1, mean_of_one(all)});
  if (peak <= 0 || bandwidth.empty())
    return 0;
  return std::max(1e9 * flops / peak, transfer_ns(bytes_read, bytes_written, threads));
}

Ceilings measure_ceilings() {
  Ceilings out;
  const CpuInfo& cpu = cpu_info();
  out.cpu = cpu.describe();
  const int threads = std::max(1, cpu.online);
  const auto fma = [&](bool wide) {
    return [wide](int, long repetitions) { fma_pass(repetitions, wide); };
  };
  out.fma_f32_1 = best_rate(1, fma_flops(true), fma(true));
  out.fma_f32_all = threads > 1 ? best_rate(threads, fma_flops(true), fma(true)) : out.fma_f32_1;
  out.fma_f32_256_1 = best_rate(1, fma_flops(false), fma(false));
  out.fma_f32_256_all =
      threads > 1 ? best_rate(threads, fma_flops(false), fma(false)) : out.fma_f32_256_1;

  const std::size_t l1 = std::max<std::size_t>(cpu.cache_bytes(1), 32 << 10);
  const std::size_t l2 = std::max<std::size_t>(cpu.cache_bytes(2), 256 << 10);
  const std::size_t last = std::max(cpu.last_level_bytes(), l2);
  // A virtual machine may report the host's whole last-level cache: cap what "memory" has to
  // exceed.
  const std::size_t memory =
      std::min<std::size_t>(std::max<std::size_t>(4 * last, 64 << 20), 256 << 20);
  const std::pair<std::string, std::size_t> levels[] = {
      {"L1", l1 / 2}, {"L2", l2 / 2}, {"L3", std::min(last / 2, 8 * l2)}, {"memory", memory}};
  constexpr Mix mixes[] = {{1, 0}, {2, 1}, {1, 1}, {0, 1}};
  for (const auto& [level, footprint] : levels)
    for (const Mix mix : mixes)
      out.bandwidth.push_back(measure_bandwidth(level, footprint, mix, threads));
  return out;
}

Result<Ceilings> stored_ceilings(const std::string& folder) {
  const std::string path = join_path(folder, "ceilings.json");
  KW_TRY(const std::string text, read_file(path, 1 << 20));
  Ceilings stored;
  if (from_json(text, stored) && stored.cpu == cpu_info().describe())
    return stored;
  return fail(ErrorKind::not_found, "the stored ceilings are of another machine or version",
              "run `kernwright doctor`", path);
}

Ceilings best_of(const Ceilings& a, const Ceilings& b) {
  Ceilings out = a;
  out.fma_f32_1 = std::max(a.fma_f32_1, b.fma_f32_1);
  out.fma_f32_all = std::max(a.fma_f32_all, b.fma_f32_all);
  out.fma_f32_256_1 = std::max(a.fma_f32_256_1, b.fma_f32_256_1);
  out.fma_f32_256_all = std::max(a.fma_f32_256_all, b.fma_f32_256_all);
  for (BandwidthCeiling& x : out.bandwidth)
    for (const BandwidthCeiling& y : b.bandwidth)
      if (x.footprint == y.footprint && x.reads == y.reads && x.writes == y.writes) {
        x.plain_1 = std::max(x.plain_1, y.plain_1);
        x.streaming_1 = std::max(x.streaming_1, y.streaming_1);
        x.plain_all = std::max(x.plain_all, y.plain_all);
        x.streaming_all = std::max(x.streaming_all, y.streaming_all);
      }
  return out;
}

Result<Ceilings> improve_ceilings(const std::string& folder) {
  Ceilings best = measure_ceilings();
  if (const Result<Ceilings> stored = stored_ceilings(folder))
    best = best_of(best, *stored);
  KW_CHECK(make_dirs(folder));
  KW_CHECK(write_file_atomic(join_path(folder, "ceilings.json"), to_json(best).dump(2) + "\n"));
  return best;
}

Result<Ceilings> cached_ceilings(const std::string& folder, bool refresh) {
  if (!refresh)
    if (Result<Ceilings> stored = stored_ceilings(folder))
      return stored;
  Ceilings fresh = measure_ceilings();
  KW_CHECK(make_dirs(folder));
  KW_CHECK(write_file_atomic(join_path(folder, "ceilings.json"), to_json(fresh).dump(2) + "\n"));
  return fresh;
}

} // namespace kw
