// SPDX-License-Identifier: Apache-2.0
#include "nki/cost/model.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace kw::nki {
namespace {

constexpr double least_interval = 64; ///< cycles of a tiny instruction

double elements(const View& v) {
  return static_cast<double>(v.elements());
}
double free_elements(const View& v) {
  return static_cast<double>(v.free_elements());
}

struct Tile {
  double written = 0; ///< ns at which the last write ends
  double read = 0;    ///< ns at which the last read ends
  Engine writer = Engine::none;
};

class Schedule {
 public:
  Schedule(const Program& program, const CostOptions& options)
      : program_(program), options_(options), core_(core(options.generation)) {
    values_.assign(std::max(program.variables.size(), program.grid.size()), 0);
    tiles_.resize(program.buffers.size());
    clock_ = {0, core_.tensor_ghz, core_.vector_ghz, core_.scalar_ghz, core_.gpsimd_ghz, 1};
  }

  CostReport run() {
    std::int64_t programs = 1;
    for (const std::int64_t g : program_.grid)
      programs *= g;
    for (std::int64_t p = 0; p < programs; ++p) { // one after the other on a core
      std::int64_t rest = p;
      for (std::size_t axis = program_.grid.size(); axis-- > 0;) {
        values_[axis] = rest % program_.grid[axis];
        rest /= program_.grid[axis];
      }
      body(program_.body);
    }
    for (const Buffer& b : program_.buffers)
      if (b.parameter)
        report_.floor_bytes +=
            static_cast<double>(b.elements()) * static_cast<double>(bytes_of(b.element));
    for (const BufferId id : program_.results) {
      const Buffer& b = buffer(id);
      report_.floor_bytes +=
          static_cast<double>(b.elements()) * static_cast<double>(bytes_of(b.element));
    }
    std::size_t most = 1;
    for (std::size_t e = 1; e < report_.busy_ns.size(); ++e)
      if (report_.busy_ns[e] > report_.busy_ns[most])
        most = e;
    report_.bound = static_cast<Engine>(most);
    return report_;
  }

 private:
  const Buffer& buffer(BufferId id) const { return program_.buffers[static_cast<std::size_t>(id)]; }

  void body(const std::vector<Node>& nodes) {
    for (const Node& n : nodes) {
      if (const auto* loop = std::get_if<std::unique_ptr<Loop>>(&n)) {
        for (std::int64_t k = 0; k < (*loop)->count; ++k) {
          values_[static_cast<std::size_t>((*loop)->variable)] = (*loop)->first + k * (*loop)->step;
          body((*loop)->body);
        }
      } else {
        instruction(std::get<Instruction>(n));
      }
    }
  }

  /// Stamps of the tile that a view lies in; of HBM all of a tensor.
  Tile& tile(const View& v) {
    const Buffer& b = buffer(v.buffer);
    std::int64_t block = 0;
    if (on_chip(b.memory) && b.partition_axis > 0) {
      std::int64_t size = 1;
      for (std::size_t k = static_cast<std::size_t>(b.partition_axis); k < b.shape.size(); ++k)
        size *= b.shape[k];
      block = v.offset.at(values_) / std::max<std::int64_t>(size, 1);
    }
    return tiles_[static_cast<std::size_t>(v.buffer)][block];
  }

  void move(const View& v, bool writes) {
    const Buffer& b = buffer(v.buffer);
    const double bytes = elements(v) * static_cast<double>(bytes_of(b.element));
    double& counter =
        b.memory == Memory::sbuf   ? (writes ? report_.sbuf_write_bytes : report_.sbuf_read_bytes)
        : b.memory == Memory::psum ? (writes ? report_.psum_write_bytes : report_.psum_read_bytes)
                                   : (writes ? report_.hbm_write_bytes : report_.hbm_read_bytes);
    counter += bytes;
  }

  /// Bytes of the transfer and the share of the rate that its runs reach.
  double dma_ns(const View& v) const {
    const Buffer& b = buffer(v.buffer);
    const double size = static_cast<double>(bytes_of(b.element)), bytes = elements(v) * size;
    std::int64_t run = 1;
    for (std::size_t j = v.dims.size(); j-- > 0;) {
      if (v.dims[j].stride != run && v.dims[j].size > 1)
        break;
      run *= v.dims[j].size;
    }
    const double run_bytes = static_cast<double>(run) * size;
    return bytes / core_.dma_gb_per_s * (1 + options_.constants.dma_half_bytes / run_bytes);
  }

  void instruction(const Instruction& i) {
    if (i.kind == Kind::print || i.kind == Kind::seed)
      return;
    if (i.kind == Kind::allocate) { // a tile of its own in every iteration
      tiles_[static_cast<std::size_t>(i.dst.buffer)].clear();
      return;
    }
    const auto engine = static_cast<std::size_t>(i.engine);
    double ready = 0;
    const CostConstants& c = options_.constants;
    const double clock = clock_[engine];
    const auto after = [&](double when, Engine who) {
      if (when <= 0)
        return;
      const double signal =
          who != i.engine
              ? c.semaphore_cycles /
                    std::max(
                        clock_[static_cast<std::size_t>(who == Engine::dma ? Engine::vector : who)],
                        0.5)
              : 0;
      ready = std::max(ready, when + signal);
    };
    const auto reads = [&](const View& v) {
      Tile& t = tile(v);
      after(t.written, t.writer);
      move(v, false);
      if (v.indirect)
        after(tile(*v.indirect->by).written, tile(*v.indirect->by).writer);
    };
    for (const Operand& o : i.sources)
      if (const View* v = o.view())
        reads(*v);
    for (const Step& s : i.steps)
      if (const View* v = s.with.view())
        reads(*v);
    Tile& target = tile(i.dst);
    const bool chip = on_chip(buffer(i.dst.buffer).memory);
    if (chip) {
      after(target.read, i.engine);
      if (!(i.kind == Kind::matmul && i.accumulate))
        after(target.written, target.writer);
    }
    move(i.dst, true);
    if (i.reduce_dst)
      move(*i.reduce_dst, true);
    double busy = 0, latency = 0;
    if (i.engine == Engine::dma) {
      const View* source = i.sources.empty() ? nullptr : i.sources[0].view();
      const bool from_hbm = source != nullptr && !on_chip(buffer(source->buffer).memory);
      busy = dma_ns(from_hbm ? *source : i.dst);
      latency = c.dma_latency_ns;
    } else {
      busy = (cycles_of(i, program_) + c.issue_cycles) / clock;
    }
    const double start = std::max(free_[engine], ready);
    free_[engine] = start + busy;
    const double end = start + busy + latency;
    report_.busy_ns[engine] += busy;
    report_.latency_ns = std::max(report_.latency_ns, end);
    ++report_.instructions;
    if (i.kind == Kind::matmul || (i.kind == Kind::transpose && i.engine == Engine::tensor)) {
      const View& s = *i.sources[0].view();
      const double k = static_cast<double>(s.dims[0].size), m = free_elements(s),
                   n = i.kind == Kind::matmul ? free_elements(*i.sources[1].view()) : k;
      const bool full = buffer(s.buffer).element == Element::float32;
      const bool transposes = i.transposes || i.kind == Kind::transpose;
      const double flops = 2 * k * m * n * (full && !transposes ? 2 : 1);
      report_.hardware_flops += flops;
      if (transposes)
        report_.transpose_flops += flops;
    }
    const auto done = [&](const View& v, bool writes) {
      Tile& t = tile(v);
      if (writes)
        t.written = std::max(t.written, end), t.writer = i.engine;
      else
        t.read = std::max(t.read, start + busy);
    };
    for (const Operand& o : i.sources)
      if (const View* v = o.view())
        done(*v, false);
    for (const Step& s : i.steps)
      if (const View* v = s.with.view())
        done(*v, false);
    done(i.dst, true);
    if (i.reduce_dst)
      done(*i.reduce_dst, true);
    if (static_cast<std::int64_t>(report_.events.size()) < options_.most_events)
      report_.events.push_back({i.api, i.engine, start, busy, i.place.line});
  }

  const Program& program_;
  const CostOptions& options_;
  const Core& core_;
  std::vector<std::int64_t> values_;
  std::vector<std::unordered_map<std::int64_t, Tile>> tiles_; ///< by buffer and block
  std::array<double, 6> clock_{};
  std::array<double, 6> free_{};
  CostReport report_;
};

} // namespace

CostReport cost_of(const Program& program, const CostOptions& options) {
  return Schedule(program, options).run();
}

double cycles_of(const Instruction& i, const Program& program) {
  const auto element = [&](const View& v) {
    return program.buffers[static_cast<std::size_t>(v.buffer)].element;
  };
  const auto in = [&](const View& v, Memory m) {
    return program.buffers[static_cast<std::size_t>(v.buffer)].memory == m;
  };
  const View* source = i.sources.empty() ? nullptr : i.sources[0].view();
  const double n = source != nullptr ? free_elements(*source) : free_elements(i.dst);
  const auto at_least = [](double cycles) { return std::max(least_interval, cycles); };
  switch (i.kind) {
  case Kind::matmul: {
    const double cycles = std::max(std::min(64.0, n), free_elements(*i.sources[1].view()));
    const bool full = element(*source) == Element::float32;
    return cycles * (full ? (i.transposes ? 1 : i.one_zero ? 2 : 4) : 1);
  }
  case Kind::transpose:
    return i.engine == Engine::tensor
               ? std::max(static_cast<double>(source->dims[0].size), std::min(64.0, n))
               : at_least(n);
  case Kind::scan:
    return at_least(2 * n);
  case Kind::bn_aggr:
    return at_least(13 * n / 3);
  case Kind::partition_reduce:
  case Kind::iota:
  case Kind::affine_select:
  case Kind::gather:
  case Kind::local_gather:
    return 150 + n;
  case Kind::copy_where:
  case Kind::select:
    return at_least(2 * n);
  case Kind::compute: {
    const bool reduces = i.reduce != Operation::none;
    double cycles = at_least(n);
    if (i.engine == Engine::gpsimd)
      return 150 + n;
    if (i.steps.size() == 1 && i.steps[0].op == Operation::reciprocal && i.engine == Engine::vector)
      return at_least(8 * n);
    for (const Step& s : i.steps) {
      const View* with = s.with.view();
      if (with == nullptr || with->free_elements() < static_cast<std::int64_t>(n) || n <= 1)
        continue; // a number or a column
      const bool one_psum =
          in(*with, Memory::psum) != (source != nullptr && in(*source, Memory::psum));
      const bool small = element(*with) == Element::bfloat16 && source != nullptr &&
                         element(*source) == Element::bfloat16 &&
                         element(i.dst) == Element::bfloat16;
      cycles = at_least(one_psum || small ? n : 2 * n);
    }
    if (reduces && !i.reduce_dst && i.steps.empty()) // tensor_reduce
      cycles = source != nullptr && element(*source) == Element::bfloat16 &&
                       element(i.dst) == Element::bfloat16
                   ? at_least(n / 2)
                   : at_least(n);
    return reduces && i.reduce_dst ? cycles + least_interval : cycles;
  }
  default:
    return at_least(n);
  }
}

} // namespace kw::nki
