// SPDX-License-Identifier: Apache-2.0
// Instructions that work element by element: VectorE, ScalarE, GpSimdE and plain DMA.
#include "nki/exec/work.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fmt/format.h>

namespace kw::nki {
namespace {

using Place = std::span<const std::int64_t>;

std::size_t grow(std::vector<float>& v, std::int64_t n) {
  if (static_cast<std::int64_t>(v.size()) < n)
    v.resize(static_cast<std::size_t>(n));
  return v.size();
}

/// An operand of a step: a number or a tensor.
struct Reader {
  float number = 0;
  std::optional<Access> access;
  std::vector<float> scratch;

  Reader(Machine& machine, const Instruction& instruction, const Operand& operand,
         const Region& region) {
    if (const double* x = operand.number())
      number = static_cast<float>(*x);
    else if (const View* v = operand.view())
      access.emplace(machine, instruction, *v, region);
  }
  [[nodiscard]] bool ok() const { return !access || access->ok(); }
  /// Flags of undefined elements of the last row; nullptr: it has none.
  const Access* undefined(std::vector<char>& flags) {
    return access && access->take_undefined(flags) ? &*access : nullptr;
  }
  Access::Floats row(Place place, std::int64_t low, std::int64_t high, bool reduction = false) {
    if (!access)
      return {&number, 0};
    return access->floats(place, low, high, scratch, reduction);
  }
};

bool same_place(const View& a, const View& b) {
  return a.buffer == b.buffer && a.offset == b.offset && a.dims == b.dims;
}

/// x[i] = x[i] + what is there already, in any order of iterations.
bool is_reduction(const Instruction& i) {
  if (i.kind != Kind::compute || i.steps.size() != 1 || i.sources.empty() ||
      i.sources[0].view() == nullptr)
    return false;
  const Operation op = i.steps[0].op;
  const bool associative = op == Operation::add || op == Operation::multiply ||
                           op == Operation::maximum || op == Operation::minimum;
  const View* with = i.steps[0].with.view();
  return associative && with != nullptr &&
         (same_place(*i.sources[0].view(), i.dst) || same_place(*with, i.dst));
}

} // namespace

void Work::run() {
  switch (instruction.kind) {
  case Kind::allocate:
  case Kind::seed:
  case Kind::print:
    return;
  case Kind::compute:
    return compute();
  case Kind::select:
    return select();
  case Kind::copy_where:
    return copy_where();
  case Kind::partition_reduce:
    return partition_reduce();
  case Kind::matmul:
    return matmul();
  case Kind::transpose:
    return transpose();
  case Kind::scan:
    return scan();
  case Kind::iota:
    return iota();
  case Kind::affine_select:
    return affine_select();
  case Kind::range_select:
    return range_select();
  case Kind::bn_stats:
    return bn_stats();
  case Kind::bn_aggr:
    return bn_aggr();
  case Kind::max8:
    return max8();
  case Kind::find_index8:
    return find_index8();
  case Kind::match_replace8:
    return match_replace8();
  case Kind::local_gather:
    return local_gather();
  case Kind::gather:
    return gather();
  case Kind::shuffle:
    return shuffle();
  case Kind::random:
  case Kind::dropout:
    return random();
  case Kind::dma_accumulate:
    return dma_accumulate();
  case Kind::loop_reduce:
    return loop_reduce();
  }
}

Region Work::region(const std::vector<std::int64_t>& sizes) const {
  return region_of(instruction.mask, sizes, machine.values_);
}

void Work::round_via(float* x, std::int64_t n) const {
  if (instruction.via && *instruction.via != Element::float32)
    for (std::int64_t i = 0; i < n; ++i)
      x[i] = rounded(*instruction.via, x[i]);
}

void Work::check_range(Operation op, const float* x, std::int64_t n, int step) {
  const auto range = activation_range(op);
  if (instruction.engine != Engine::scalar || !range ||
      (std::isinf(range->low) && std::isinf(range->high)))
    return;
  for (std::int64_t i = 0; i < n; ++i) {
    const float v = range->both_signs ? std::fabs(x[i * step]) : x[i * step];
    if (v >= range->low && v <= range->high)
      continue;
    if (v == 0 &&
        (op == Operation::sqrt || op == Operation::reciprocal || op == Operation::rsqrt ||
         op == Operation::log) &&
        op == Operation::sqrt)
      continue; // the root of 0 is right
    machine.note(
        {.code = "NK-activation-range",
         .message = fmt::format("{} of {:g}: ScalarE is right only for inputs from {:g} to {:g}",
                                name(op), x[i * step], range->low, range->high),
         .limit = fmt::format("{:g} to {:g}", range->low, range->high),
         .edit = "bring the input into the range first, or use VectorE where it has the operator",
         .place = instruction.place,
         .api = instruction.api,
         .warning = true});
    return;
  }
}

void Work::copy_bits(const Region& r) {
  Access to(machine, instruction, instruction.dst, r);
  Access from(machine, instruction, *instruction.sources[0].view(), r);
  if (!to.ok() || !from.ok())
    return;
  Region flat = r;
  if (r.is_whole(instruction.dst.shape()) && !to.is_indirect() && !from.is_indirect())
    flatten({&to, &from}, r, 0, flat);
  std::vector<char> flags;
  for_rows(flat, [&](Place place, std::int64_t low, std::int64_t high) {
    to.copy_from(from, place, low, high);
    flags.assign(static_cast<std::size_t>(high - low), 0);
    if (from.take_undefined(flags))
      to.undefine(flags, from.origin());
  });
}

void Work::compute_bits(const Region& r) {
  Access to(machine, instruction, instruction.dst, r);
  Access from(machine, instruction, *instruction.sources[0].view(), r);
  std::vector<std::optional<Access>> with(instruction.steps.size());
  for (std::size_t s = 0; s < with.size(); ++s)
    if (const View* v = instruction.steps[s].with.view())
      with[s].emplace(machine, instruction, *v, r);
  if (!to.ok() || !from.ok())
    return;
  const int width = 8 * static_cast<int>(bytes_of(from.element()));
  std::vector<std::int64_t> x, y;
  for_rows(r, [&](Place place, std::int64_t low, std::int64_t high) {
    from.integers(place, low, high, x);
    if (x.size() == 1 && high - low > 1)
      x.resize(static_cast<std::size_t>(high - low), x[0]);
    for (std::size_t s = 0; s < with.size(); ++s) {
      const Step& step = instruction.steps[s];
      y.assign(x.size(), 0);
      if (with[s])
        with[s]->integers(place, low, high, y);
      else if (const double* number = step.with.number())
        y.assign(x.size(), static_cast<std::int64_t>(*number));
      for (std::size_t i = 0; i < x.size(); ++i) {
        const std::int64_t a = step.reversed ? y[i] : x[i], b = step.reversed ? x[i] : y[i];
        switch (step.op) {
        case Operation::add: // exact on GpSimdE
          x[i] = a + b;
          break;
        case Operation::multiply:
          x[i] = a * b;
          break;
        default:
          x[i] = apply_bits(step.op, a, b, width);
        }
      }
    }
    to.store_integers(place, low, high, x.data());
    std::vector<char> flags(x.size(), 0);
    if (from.take_undefined(flags))
      to.undefine(flags, from.origin());
  });
}

void Work::compute() {
  const bool reduces = instruction.reduce != Operation::none;
  const bool into_dst = reduces && !instruction.reduce_dst;
  const View* first = instruction.sources[0].view();
  const std::vector<std::int64_t> sizes = into_dst ? first->shape() : instruction.dst.shape();
  const Region r = region(sizes);
  if (r.is_empty())
    return;
  const bool bits =
      std::ranges::any_of(instruction.steps, [](const Step& s) { return is_bitvec(s.op); });
  if (first != nullptr && (bits || instruction.exact_integers) && !reduces)
    return compute_bits(r);
  const auto element_of = [&](const View& v) { return machine.storage(v.buffer).buffer.element; };
  if (instruction.steps.empty() && !reduces && first != nullptr && !instruction.via &&
      element_of(*first) == element_of(instruction.dst) &&
      (is_floating(element_of(*first)) || instruction.engine != Engine::scalar))
    return copy_bits(r);

  const bool reduction = is_reduction(instruction);
  const bool first_is_dst = reduction && same_place(*first, instruction.dst);
  Reader from(machine, instruction, instruction.sources[0], r);
  std::vector<Reader> with;
  with.reserve(instruction.steps.size());
  bool ok = from.ok();
  for (const Step& s : instruction.steps) {
    with.emplace_back(machine, instruction, s.with, r);
    ok = ok && with.back().ok();
  }
  std::optional<Access> to;
  if (!into_dst) {
    to.emplace(machine, instruction, instruction.dst, r);
    ok = ok && to->ok();
  }
  if (!ok)
    return;
  const std::size_t rank = sizes.size();
  const std::size_t kept =
      !reduces ? 0
      : instruction.reduced_dims == 0
          ? std::min<std::size_t>(1, rank)
          : rank - std::min<std::size_t>(rank, static_cast<std::size_t>(instruction.reduced_dims));
  std::int64_t groups = 1;
  for (std::size_t j = 0; j < kept; ++j)
    groups *= sizes[j];
  std::vector<float> sums(reduces ? static_cast<std::size_t>(groups) : 0,
                          identity(instruction.reduce));
  std::vector<char> met(sums.size(), 0), tainted(sums.size(), 0), flags;
  const Access* taint = nullptr;

  Region flat = r;
  std::vector<Access*> all;
  if (from.access)
    all.push_back(&*from.access);
  for (Reader& reader : with)
    if (reader.access)
      all.push_back(&*reader.access);
  if (to)
    all.push_back(&*to);
  const bool plain = std::ranges::none_of(all, [](const Access* a) { return a->is_indirect(); });
  if (r.is_whole(sizes) && plain && (!reduces || kept == 1))
    flatten(all, r, kept, flat);

  std::vector<float> x;
  for_rows(flat, [&](Place place, std::int64_t low, std::int64_t high) {
    const std::int64_t n = high - low;
    grow(x, n);
    Access::Floats a = from.row(place, low, high, reduction && first_is_dst);
    flags.assign(static_cast<std::size_t>(n), 0);
    const Access* undefined = from.undefined(flags);
    bool in_x = false;
    for (std::size_t s = 0; s < with.size(); ++s) {
      const Step& step = instruction.steps[s];
      const Access::Floats b = with[s].row(place, low, high, reduction && !first_is_dst);
      if (const Access* more = with[s].undefined(flags))
        undefined = more;
      if (undefined == nullptr)
        check_range(step.op, a.data, a.step == 0 ? 1 : n, a.step);
      if (step.reversed)
        apply(step.op, b.data, b.step, a.data, a.step, x.data(), n);
      else
        apply(step.op, a.data, a.step, b.data, b.step, x.data(), n);
      a = {x.data(), 1};
      in_x = true;
    }
    if (!in_x && (a.step == 0 || instruction.via)) {
      for (std::int64_t i = 0; i < n; ++i)
        x[static_cast<std::size_t>(i)] = a.data[i * a.step];
      a = {x.data(), 1};
    }
    if (reduces) {
      std::int64_t group = 0;
      for (std::size_t j = 0; j < kept && j < place.size(); ++j)
        group = group * (flat.low.size() == rank ? sizes[j] : flat.high[j]) + place[j];
      if (kept == rank && rank > 0) // nothing left to reduce: every element by itself
        group = group * sizes[rank - 1];
      const auto combine = [&](std::size_t g, float v) {
        if (undefined != nullptr)
          tainted[g] = 1, taint = undefined;
        sums[g] =
            met[g] != 0 ? apply(instruction.reduce, sums[g], v)
            : instruction.reduce == Operation::subtract || instruction.reduce == Operation::copy
                ? v
                : apply(instruction.reduce, sums[g], v);
        met[g] = 1;
      };
      if (kept == rank) {
        for (std::int64_t i = 0; i < n; ++i)
          combine(static_cast<std::size_t>(group + low + i), a.data[i]);
      } else if (instruction.reduce == Operation::add) {
        // Eight partial sums: the order of an engine's additions is not documented.
        std::array<float, 8> part{};
        std::int64_t i = 0;
        for (; i + 8 <= n; i += 8)
          for (std::size_t l = 0; l < 8; ++l)
            part[l] += a.data[i + static_cast<std::int64_t>(l)];
        float total = 0;
        for (; i < n; ++i)
          total += a.data[i];
        for (const float p : part)
          total += p;
        combine(static_cast<std::size_t>(group), total);
      } else {
        for (std::int64_t i = 0; i < n; ++i)
          combine(static_cast<std::size_t>(group), a.data[i]);
      }
    }
    if (to) {
      if (instruction.via && a.data == x.data())
        round_via(x.data(), n);
      to->store(place, low, high, a.data, reduction);
      if (undefined != nullptr)
        to->undefine(flags, undefined->origin());
    }
  });
  if (!reduces)
    return;
  const View& target = instruction.reduce_dst ? *instruction.reduce_dst : instruction.dst;
  const bool registers = instruction.engine == Engine::scalar;
  const std::vector<std::int64_t> target_sizes = target.shape();
  Region out;
  out.low.assign(target_sizes.size(), 0);
  out.high = target_sizes;
  Access result(machine, instruction, target, out);
  if (!result.ok())
    return;
  std::size_t g = 0;
  for_rows(out, [&](Place place, std::int64_t low, std::int64_t high) {
    for (std::int64_t i = low; i < high && g < sums.size(); ++i, ++g) {
      if (met[g] == 0)
        continue;
      float v = sums[g];
      if (registers && g < machine.registers_.size()) {
        if (instruction.keep_register)
          v = apply(instruction.reduce, machine.registers_[g], v);
        machine.registers_[g] = v;
      }
      if (instruction.negate)
        v = -v;
      if (!instruction.reduce_dst)
        round_via(&v, 1);
      result.store(place, i, i + 1, &v);
      if (tainted[g] != 0)
        result.undefine({1}, taint->origin());
    }
  });
}

void Work::select() {
  const std::vector<std::int64_t> sizes = instruction.dst.shape();
  const Region r = region(sizes);
  Access to(machine, instruction, instruction.dst, r);
  Reader condition(machine, instruction, instruction.sources[0], r),
      yes(machine, instruction, instruction.sources[1], r),
      no(machine, instruction, instruction.sources[2], r);
  if (!to.ok() || !condition.ok() || !yes.ok() || !no.ok())
    return;
  std::vector<float> x;
  std::vector<char> flags;
  for_rows(r, [&](Place place, std::int64_t low, std::int64_t high) {
    const std::int64_t n = high - low;
    grow(x, n);
    const auto c = condition.row(place, low, high), a = yes.row(place, low, high),
               b = no.row(place, low, high);
    for (std::int64_t i = 0; i < n; ++i)
      x[static_cast<std::size_t>(i)] =
          c.data[i * c.step] != 0 ? a.data[i * a.step] : b.data[i * b.step];
    round_via(x.data(), n);
    to.store(place, low, high, x.data());
    flags.assign(static_cast<std::size_t>(n), 0);
    for (Reader* reader : {&condition, &yes, &no})
      if (const Access* undefined = reader->undefined(flags))
        to.undefine(flags, undefined->origin());
  });
}

void Work::copy_where() {
  const Region r = region(instruction.dst.shape());
  Access to(machine, instruction, instruction.dst, r);
  Reader condition(machine, instruction, instruction.sources[0], r),
      from(machine, instruction, instruction.sources[1], r);
  if (!to.ok() || !condition.ok() || !from.ok())
    return;
  const bool reversed = !instruction.numbers.empty() && instruction.numbers[0] != 0;
  for_rows(r, [&](Place place, std::int64_t low, std::int64_t high) {
    const auto c = condition.row(place, low, high), a = from.row(place, low, high);
    for (std::int64_t i = 0; i < high - low; ++i)
      if ((c.data[i * c.step] != 0) != reversed) {
        const float v = a.data[i * a.step];
        to.store(place, low + i, low + i + 1, &v);
      }
  });
}

void Work::partition_reduce() {
  const View& data = *instruction.sources[0].view();
  const Region r = region(data.shape());
  Reader from(machine, instruction, instruction.sources[0], r);
  const std::vector<std::int64_t> sizes = instruction.dst.shape();
  Region out;
  out.low.assign(sizes.size(), 0);
  out.high = sizes;
  Access to(machine, instruction, instruction.dst, out);
  if (!from.ok() || !to.ok())
    return;
  const auto free = static_cast<std::size_t>(data.free_elements());
  std::vector<float> sums(free, identity(instruction.reduce));
  for_rows(r, [&](Place place, std::int64_t low, std::int64_t high) {
    const auto row = from.row(place, low, high);
    std::int64_t at = 0;
    for (std::size_t j = 1; j < place.size(); ++j)
      at = at * data.dims[j].size + place[j];
    at = data.dims.size() > 1 ? at * data.dims.back().size + low : 0;
    for (std::int64_t i = 0; i < high - low; ++i) {
      float& s = sums[static_cast<std::size_t>(data.dims.size() > 1 ? at + i : 0)];
      s = apply(instruction.reduce, s, row.data[i * row.step]);
    }
  });
  to.scatter_matrix(sums.data());
}

void Work::scan() {
  const Region r = region(instruction.dst.shape());
  Access to(machine, instruction, instruction.dst, r);
  Reader a(machine, instruction, instruction.sources[0], r),
      b(machine, instruction, instruction.sources[1], r),
      initial(machine, instruction, instruction.sources[2], r);
  if (!to.ok() || !a.ok() || !b.ok() || !initial.ok())
    return;
  const Step &op0 = instruction.steps[0], &op1 = instruction.steps[1];
  std::vector<float> x;
  std::vector<char> flags;
  std::int64_t partition = -1;
  float state = 0;
  for_rows(r, [&](Place place, std::int64_t low, std::int64_t high) {
    const std::int64_t n = high - low;
    grow(x, n);
    if (place.empty() || place[0] != partition) {
      const auto begin = initial.row(place, low, low + 1);
      state = begin.data[0];
      partition = place.empty() ? -1 : place[0];
    }
    const auto p = a.row(place, low, high), q = b.row(place, low, high);
    for (std::int64_t i = 0; i < n; ++i) {
      const float u = p.data[i * p.step], v = q.data[i * q.step];
      const float t = op0.reversed ? apply(op0.op, state, u) : apply(op0.op, u, state);
      state = op1.reversed ? apply(op1.op, v, t) : apply(op1.op, t, v);
      x[static_cast<std::size_t>(i)] = state;
    }
    round_via(x.data(), n);
    to.store(place, low, high, x.data());
    flags.assign(static_cast<std::size_t>(n), 0);
    for (Reader* reader : {&a, &b})
      if (const Access* undefined = reader->undefined(flags)) {
        // What comes after an undefined element was made of it.
        for (auto at = std::ranges::find(flags, char{1}); at != flags.end(); ++at)
          *at = 1;
        to.undefine(flags, undefined->origin());
      }
  });
}

namespace {
/// An affine expression at the places of a row.
struct Expression {
  const Index& index;
  std::int64_t base;
  std::size_t rank;

  [[nodiscard]] std::int64_t coefficient(std::size_t j) const {
    const std::size_t own = index.dims.size();
    if (rank - j > own)
      return 0;
    const Index::Dim& d = index.dims[own - (rank - j)];
    return d.size == 1 ? 0 : d.coefficient;
  }
  [[nodiscard]] std::int64_t at(Place place, std::int64_t last) const {
    std::int64_t sum = base;
    for (std::size_t j = 0; j < place.size(); ++j)
      sum += coefficient(j) * place[j];
    return rank == 0 ? sum : sum + coefficient(rank - 1) * last;
  }
};
} // namespace

void Work::iota() {
  const Region r = region(instruction.dst.shape());
  Access to(machine, instruction, instruction.dst, r);
  if (!to.ok())
    return;
  const Expression e{*instruction.expression, instruction.expression->base.at(machine.values_),
                     r.low.size()};
  const bool integers = !is_floating(to.element());
  std::vector<std::int64_t> x;
  std::vector<float> y;
  for_rows(r, [&](Place place, std::int64_t low, std::int64_t high) {
    x.clear(), y.clear();
    for (std::int64_t i = low; i < high; ++i) {
      x.push_back(e.at(place, i));
      y.push_back(static_cast<float>(x.back()));
    }
    if (integers)
      to.store_integers(place, low, high, x.data());
    else
      to.store(place, low, high, y.data());
  });
}

void Work::affine_select() {
  const Region r = region(instruction.dst.shape());
  Access to(machine, instruction, instruction.dst, r);
  Reader yes(machine, instruction, instruction.sources[0], r),
      no(machine, instruction, instruction.sources[1], r);
  if (!to.ok() || !yes.ok() || !no.ok())
    return;
  const Expression e{*instruction.expression, instruction.expression->base.at(machine.values_),
                     r.low.size()};
  std::vector<float> x;
  std::vector<char> flags;
  for_rows(r, [&](Place place, std::int64_t low, std::int64_t high) {
    grow(x, high - low);
    const auto a = yes.row(place, low, high), b = no.row(place, low, high);
    for (std::int64_t i = 0; i < high - low; ++i)
      x[static_cast<std::size_t>(i)] =
          e.at(place, low + i) >= 0 ? a.data[i * a.step] : b.data[i * b.step];
    round_via(x.data(), high - low);
    to.store(place, low, high, x.data());
    flags.assign(static_cast<std::size_t>(high - low), 0);
    if (const Access* undefined = yes.undefined(flags))
      to.undefine(flags, undefined->origin());
  });
}

void Work::range_select() {
  const Region r = region(instruction.dst.shape());
  Access to(machine, instruction, instruction.dst, r);
  Reader data(machine, instruction, instruction.sources[0], r),
      bound0(machine, instruction, instruction.sources[1], r),
      bound1(machine, instruction, instruction.sources[2], r),
      other(machine, instruction, instruction.sources[3], r);
  if (!to.ok() || !data.ok() || !bound0.ok() || !bound1.ok())
    return;
  const std::int64_t start =
      instruction.expression ? instruction.expression->base.at(machine.values_) : 0;
  std::vector<float> x;
  std::vector<float> most(static_cast<std::size_t>(instruction.dst.dims[0].size),
                          identity(Operation::maximum));
  for_rows(r, [&](Place place, std::int64_t low, std::int64_t high) {
    grow(x, high - low);
    const auto d = data.row(place, low, high), b0 = bound0.row(place, low, high),
               b1 = bound1.row(place, low, high), f = other.row(place, low, high);
    std::int64_t at = 0;
    for (std::size_t j = 1; j < place.size(); ++j)
      at = at * instruction.dst.dims[j].size + place[j];
    at = at * instruction.dst.dims.back().size + low;
    float& m = most[static_cast<std::size_t>(place.empty() ? 0 : place[0])];
    for (std::int64_t i = 0; i < high - low; ++i) {
      const auto index = static_cast<float>(start + at + i);
      const bool in = apply(instruction.compare[0], index, b0.data[i * b0.step]) != 0 &&
                      apply(instruction.compare[1], index, b1.data[i * b1.step]) != 0;
      const float v = in ? d.data[i * d.step] : f.data[i * f.step];
      x[static_cast<std::size_t>(i)] = v;
      m = apply(Operation::maximum, m, v);
    }
    round_via(x.data(), high - low);
    to.store(place, low, high, x.data());
  });
  if (!instruction.reduce_dst)
    return;
  Region out;
  const auto sizes = instruction.reduce_dst->shape();
  out.low.assign(sizes.size(), 0);
  out.high = sizes;
  Access result(machine, instruction, *instruction.reduce_dst, out);
  if (!result.ok())
    return;
  std::size_t p = 0;
  for_rows(out, [&](Place place, std::int64_t low, std::int64_t high) {
    for (std::int64_t i = low; i < high && p < most.size(); ++i, ++p) {
      float v = most[p];
      if (instruction.keep_register)
        v = apply(Operation::maximum, machine.registers_[p], v);
      machine.registers_[p] = v;
      result.store(place, i, i + 1, &v);
    }
  });
}

} // namespace kw::nki
