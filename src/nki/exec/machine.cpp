// SPDX-License-Identifier: Apache-2.0
#include "nki/exec/machine.hpp"

#include "nki/exec/access.hpp"
#include "nki/exec/work.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <utility>

namespace kw::nki {

Machine::Machine(MachineOptions options) : options_(std::move(options)), registers_(128, 0.0F) {
  random_ = options_.seed;
}
Machine::~Machine() = default;

Machine::Storage& Machine::storage(BufferId id) {
  return *buffers_[static_cast<std::size_t>(id)];
}

void Machine::add(const Buffer& buffer, std::span<const std::byte> content) {
  const auto at = static_cast<std::size_t>(buffer.id);
  if (buffers_.size() <= at)
    buffers_.resize(at + 1);
  auto s = std::make_unique<Storage>();
  s->buffer = buffer;
  s->size = static_cast<std::size_t>(buffer.elements()) * bytes_of(buffer.element);
  s->data.reset(static_cast<std::byte*>(std::calloc(std::max<std::size_t>(s->size, 64), 1)));
  if (!content.empty())
    std::memcpy(s->data.get(), content.data(), std::min(content.size(), s->size));
  const bool changes = buffer.writable || !(buffer.parameter || buffer.constant);
  if (options_.shadow && changes && buffer.elements() > 0) {
    s->shadow.emplace(buffer.elements(), buffer.shape.empty() ? 1 : buffer.shape.back());
    if (!content.empty() || buffer.parameter)
      s->shadow->reset(now_);
  }
  buffers_[at] = std::move(s);
  if (buffer.fill)
    fill(*buffers_[at], *buffer.fill, now_);
}

void Machine::fill(Storage& s, double value, Stamp now) {
  const auto n = s.buffer.elements();
  if (value == 0) {
    std::memset(s.data.get(), 0, s.size);
  } else {
    std::vector<float> row(1024, static_cast<float>(value));
    const auto width = static_cast<std::int64_t>(bytes_of(s.buffer.element));
    for (std::int64_t i = 0; i < n; i += 1024)
      store_floats(s.buffer.element, row.data(), s.at(i * width), 1,
                   std::min<std::int64_t>(1024, n - i));
  }
  if (s.shadow)
    s.shadow->reset(now);
}

std::span<const std::byte> Machine::content(BufferId buffer) const {
  const Storage& s = *buffers_[static_cast<std::size_t>(buffer)];
  return {s.data.get(), s.size};
}
std::span<std::byte> Machine::mutable_content(BufferId buffer) {
  Storage& s = storage(buffer);
  return {s.data.get(), s.size};
}

std::int64_t Machine::unwritten(BufferId buffer, std::int64_t& first) const {
  const Storage& s = *buffers_[static_cast<std::size_t>(buffer)];
  return s.shadow ? s.shadow->unwritten(first) : 0;
}

bool Machine::defers(const Instruction& i) {
  switch (i.kind) {
  case Kind::compute:
  case Kind::select:
  case Kind::affine_select:
  case Kind::scan:
  case Kind::transpose:
  case Kind::bn_stats:
  case Kind::bn_aggr:
  case Kind::max8:
  case Kind::find_index8:
  case Kind::match_replace8:
    return on_chip(storage(i.dst.buffer).buffer.memory);
  case Kind::matmul: // what it adds to must be there
    return !i.accumulate;
  default:
    return false;
  }
}

void Machine::note(RunFinding finding) {
  const std::int64_t where = (static_cast<std::int64_t>(finding.place.file) << 48) +
                             (static_cast<std::int64_t>(finding.place.line) << 16) +
                             finding.place.column;
  const auto [at, fresh] = seen_.try_emplace({finding.code, where}, findings_.size());
  if (fresh)
    findings_.push_back(std::move(finding));
  else
    ++findings_[at->second].times;
}

void Machine::enter(LoopKind kind, Variable variable) {
  if (values_.size() <= static_cast<std::size_t>(variable))
    values_.resize(static_cast<std::size_t>(variable) + 1);
  begins_.resize(values_.size());
  fresh_ = true;
  loops_.push_back({kind, variable, ++now_});
  if (kind == LoopKind::affine)
    parallel_.push_back({now_, now_});
}

void Machine::iterate(std::int64_t value) {
  const LoopState& loop = loops_.back();
  values_[static_cast<std::size_t>(loop.variable)] = value;
  if (std::exchange(fresh_, false))
    begins_[static_cast<std::size_t>(loop.variable)] = value;
  ++now_;
  if (loop.kind == LoopKind::affine)
    parallel_.back().iteration = now_;
}

void Machine::leave() {
  if (loops_.back().kind == LoopKind::affine)
    parallel_.pop_back();
  loops_.pop_back();
  ++now_;
}

void Machine::run_loop(const Loop& loop) {
  enter(loop.kind, loop.variable);
  std::vector<std::int64_t> order;
  if (loop.kind == LoopKind::affine && options_.order != Order::forward) {
    order.resize(static_cast<std::size_t>(loop.count));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    if (options_.order == Order::backward) {
      std::reverse(order.begin(), order.end());
    } else {
      std::mt19937_64 random(options_.seed + static_cast<std::uint64_t>(now_));
      std::shuffle(order.begin(), order.end(), random);
    }
  }
  for (std::int64_t i = 0; i < loop.count && !stopped_; ++i) {
    const std::int64_t at = order.empty() ? i : order[static_cast<std::size_t>(i)];
    iterate(loop.first + at * loop.step);
    run_body(loop.body);
  }
  leave();
}

void Machine::run_body(const std::vector<Node>& body) {
  for (const Node& node : body) {
    if (stopped_)
      return;
    if (const auto* loop = std::get_if<std::unique_ptr<Loop>>(&node))
      run_loop(**loop);
    else
      execute(std::get<Instruction>(node));
  }
}

void Machine::run(const Program& program) {
  values_.assign(std::max(program.variables.size(), program.grid.size()), 0);
  begins_.assign(values_.size(), 0);
  std::int64_t programs = 1;
  for (const std::int64_t g : program.grid)
    programs *= g;
  std::vector<std::int64_t> order(static_cast<std::size_t>(programs));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  if (options_.order == Order::backward)
    std::reverse(order.begin(), order.end());
  else if (options_.order == Order::shuffled)
    std::shuffle(order.begin(), order.end(), std::mt19937_64(options_.seed));
  // Programs of a launch may run at the same time, as iterations of an affine_range may.
  loops_.push_back({LoopKind::affine, 0, ++now_});
  parallel_.push_back({now_, now_});
  for (const std::int64_t p : order) {
    parallel_.back().iteration = ++now_;
    std::int64_t rest = p;
    for (std::size_t axis = program.grid.size(); axis-- > 0;) {
      values_[axis] = rest % program.grid[axis];
      rest /= program.grid[axis];
    }
    run_body(program.body);
    if (stopped_)
      break;
  }
  leave();
}

void Machine::execute(const Instruction& instruction) {
  ++executed_;
  if ((executed_ & 255) == 0 && options_.stop())
    stopped_ = true;
  if (options_.most_steps > 0 && executed_ > options_.most_steps)
    stopped_ = true;
  if (stopped_)
    return;
  if (instruction.kind == Kind::allocate) {
    Storage& s = storage(instruction.dst.buffer);
    if (s.buffer.fill)
      fill(s, *s.buffer.fill, now_);
    else if (s.shadow)
      s.shadow->reset(0);
    s.undefined_origin.clear();
    return;
  }
  Work(*this, instruction).run();
}

} // namespace kw::nki
