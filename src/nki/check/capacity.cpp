// SPDX-License-Identifier: Apache-2.0
#include "nki/check/capacity.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace kw::nki {
namespace {

struct OpenLoop {
  Variable variable;
  std::int64_t begin; ///< position of its first instruction
  std::int64_t end;   ///< one past its last
};

struct Access {
  std::int64_t position;
  std::vector<OpenLoop> loops; ///< from the outermost
  View view;
  SourcePlace place;
};

/// All accesses in program order, each body of a loop once.
class Walk {
 public:
  explicit Walk(const Program& program) : program_(program) { body(program.body); }

  std::map<BufferId, std::vector<Access>> accesses;
  std::int64_t largest = 0; ///< SBUF bytes of the tiles of one instruction
  std::vector<SourcePlace> places;

 private:
  void body(const std::vector<Node>& nodes) {
    for (const Node& n : nodes) {
      if (const auto* loop = std::get_if<std::unique_ptr<Loop>>(&n)) {
        const std::int64_t begin = static_cast<std::int64_t>(places.size());
        loops_.push_back({(*loop)->variable, begin, begin + size((*loop)->body)});
        body((*loop)->body);
        loops_.pop_back();
      } else {
        instruction(std::get<Instruction>(n));
      }
    }
  }
  static std::int64_t size(const std::vector<Node>& nodes) {
    std::int64_t n = 0;
    for (const Node& node : nodes)
      if (const auto* loop = std::get_if<std::unique_ptr<Loop>>(&node))
        n += size((*loop)->body);
      else
        ++n;
    return n;
  }
  void instruction(const Instruction& i) {
    const auto position = static_cast<std::int64_t>(places.size());
    places.push_back(i.place);
    if (i.kind == Kind::allocate)
      return;
    const auto touch = [&](const View& v) {
      if (v.buffer >= 0 && on_chip(program_.buffers[static_cast<std::size_t>(v.buffer)].memory))
        accesses[v.buffer].push_back({position, loops_, v, i.place});
      if (v.indirect)
        accesses[v.indirect->by->buffer].push_back({position, loops_, *v.indirect->by, i.place});
    };
    touch(i.dst);
    for (const Operand& o : i.sources)
      if (const View* v = o.view())
        touch(*v);
    for (const Step& s : i.steps)
      if (const View* v = s.with.view())
        touch(*v);
    if (i.reduce_dst)
      touch(*i.reduce_dst);
    std::set<BufferId> tiles;
    std::int64_t bytes = 0;
    for (const auto& [id, all] : accesses)
      if (all.back().position == position &&
          program_.buffers[static_cast<std::size_t>(id)].memory == Memory::sbuf &&
          tiles.insert(id).second)
        bytes += program_.buffers[static_cast<std::size_t>(id)].bytes_per_partition();
    largest = std::max(largest, bytes);
  }

  const Program& program_;
  std::vector<OpenLoop> loops_;
};

struct Range {
  std::int64_t begin = 0, end = 0; ///< positions
  LiveTensor tensor;
};

/// The variable that alone indexes a block axis; nullopt: a constant or several.
std::optional<Variable> only_variable(const View& v, std::size_t axis) {
  if (axis >= v.axes.size() || v.axes[axis].base.terms.size() != 1)
    return std::nullopt;
  return v.axes[axis].base.terms[0].first;
}

Range range_of(const Buffer& b, const std::vector<Access>& accesses, const Core& core) {
  // Loops that are around all accesses.
  std::vector<OpenLoop> common = accesses.front().loops;
  for (const Access& a : accesses) {
    std::size_t n = 0;
    while (n < common.size() && n < a.loops.size() && common[n].variable == a.loops[n].variable)
      ++n;
    common.resize(n);
  }
  // A tensor made inside a loop, or whose block is chosen by a loop around all of its uses, is not
  // shared between the iterations of that loop.
  std::int64_t tiles = 1;
  std::size_t level = 0; ///< loops that it is private to
  if (b.scope != 0 || b.result)
    level = common.size();
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(std::max(b.partition_axis, 0));
       ++axis) {
    const auto v = only_variable(accesses.front().view, axis);
    const bool same = v && std::ranges::all_of(accesses, [&](const Access& a) {
                        return only_variable(a.view, axis) == v;
                      });
    const auto loop = same ? std::ranges::find(common, *v, &OpenLoop::variable) : common.end();
    if (same && loop != common.end())
      level = std::max(level, static_cast<std::size_t>(loop - common.begin()) + 1);
    else
      tiles *= b.shape[axis];
  }
  Range r{.begin = accesses.front().position, .end = accesses.back().position + 1};
  for (const Access& a : accesses) {
    // Inside a loop that it is shared by it is there all the time.
    std::int64_t begin = a.position, end = a.position + 1;
    if (a.loops.size() > level)
      begin = a.loops[level].begin, end = a.loops[level].end;
    r.begin = std::min(r.begin, begin);
    r.end = std::max(r.end, end);
  }
  std::int64_t bytes = b.bytes_per_partition();
  if (b.memory == Memory::psum)
    bytes = (bytes + core.psum_bank_bytes - 1) / core.psum_bank_bytes * core.psum_bank_bytes;
  r.tensor = {.buffer = b.id, .tiles = tiles, .bytes_per_partition = tiles * bytes, .made = b.made};
  return r;
}

MemoryUse use_of(const std::vector<Range>& ranges, std::int64_t limit,
                 const std::vector<SourcePlace>& places) {
  MemoryUse use{.limit = limit};
  std::map<std::int64_t, std::int64_t> changes;
  for (const Range& r : ranges) {
    changes[r.begin] += r.tensor.bytes_per_partition;
    changes[r.end] -= r.tensor.bytes_per_partition;
  }
  std::int64_t now = 0, at = -1;
  for (const auto& [position, change] : changes) {
    now += change;
    if (now > use.most)
      use.most = now, at = position;
  }
  if (at < 0)
    return use;
  use.where = static_cast<std::size_t>(at) < places.size() ? places[static_cast<std::size_t>(at)]
                                                           : SourcePlace{};
  for (const Range& r : ranges)
    if (r.begin <= at && at < r.end)
      use.tensors.push_back(r.tensor);
  std::ranges::sort(use.tensors, std::greater<>(), &LiveTensor::bytes_per_partition);
  return use;
}

} // namespace

Capacity capacity_of(const Program& program, const Core& core) {
  const Walk walk(program);
  std::vector<Range> sbuf, psum;
  for (const auto& [id, accesses] : walk.accesses) {
    const Buffer& b = program.buffers[static_cast<std::size_t>(id)];
    if (!on_chip(b.memory))
      continue;
    (b.memory == Memory::psum ? psum : sbuf).push_back(range_of(b, accesses, core));
  }
  return {.sbuf = use_of(sbuf, core.sbuf_bytes, walk.places),
          .psum = use_of(psum, core.psum_bank_bytes * core.psum_banks, walk.places),
          .largest_instruction = walk.largest};
}

} // namespace kw::nki
