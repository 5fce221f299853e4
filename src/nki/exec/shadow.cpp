// SPDX-License-Identifier: Apache-2.0
#include "nki/exec/shadow.hpp"

#include <algorithm>

namespace kw::nki {

Shadow::Shadow(std::int64_t elements, std::int64_t row)
    : elements_(elements), row_(std::max<std::int64_t>(row, 1)),
      chunks_per_row_((row_ + chunk - 1) / chunk),
      chunks_(static_cast<std::size_t>(elements / row_ * chunks_per_row_)) {}

void Shadow::reset(Stamp written) {
  std::fill(chunks_.begin(), chunks_.end(), Chunk{.all = {.written = written, .read = 0}});
  own_.clear();
  free_.clear();
}

Shadow::Stamps* Shadow::split(Chunk& c) {
  if (c.split < 0) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::int32_t>(own_.size()));
      own_.emplace_back(chunk);
    }
    c.split = free_.back();
    free_.pop_back();
    std::ranges::fill(own_[static_cast<std::size_t>(c.split)], c.all);
  }
  return own_[static_cast<std::size_t>(c.split)].data();
}

void Shadow::join(Chunk& c) {
  if (c.split >= 0)
    free_.push_back(c.split);
  c.split = -1;
}

template <typename Check, typename Update>
Hazard Shadow::visit(const ElementRun& run, std::int64_t& where, Check check, Update update) {
  Hazard found = Hazard::none;
  const auto note = [&](Hazard h, std::int64_t element) {
    if (found == Hazard::none && h != Hazard::none)
      found = h, where = element;
  };
  const std::int64_t step = run.stride,
                     count = step == 0 ? std::min<std::int64_t>(run.count, 1) : run.count;
  std::int64_t element = run.first;
  for (std::int64_t left = count; left > 0;) {
    const std::int64_t row = element / row_, column = element % row_,
                       begin = column / chunk * chunk, end = std::min(begin + chunk, row_);
    Chunk& c = chunks_[static_cast<std::size_t>(row * chunks_per_row_ + column / chunk)];
    const std::int64_t n = step == 1 ? std::min(left, end - column) : 1;
    if (n == end - begin) {
      if (c.split < 0) {
        note(check(c.all), element);
      } else {
        const Stamps* own = split(c);
        for (std::int64_t i = 0; i < n; ++i)
          note(check(own[i]), element + i);
      }
      if (update(c.all, c.split >= 0))
        join(c);
      else if (c.split >= 0)
        for (Stamps *own = split(c), *last = own + n; own != last; ++own)
          update(*own, false);
    } else {
      if (c.split < 0) {
        Stamps changed = c.all;
        note(check(c.all), element);
        update(changed, false);
        if (changed.written != c.all.written || changed.read != c.all.read)
          for (Stamps *own = split(c) + (column - begin), *last = own + n; own != last; ++own)
            *own = changed;
      } else {
        Stamps* own = split(c) + (column - begin);
        for (std::int64_t i = 0; i < n; ++i) {
          note(check(own[i]), element + i);
          update(own[i], false);
        }
      }
    }
    left -= n;
    element += n * step;
  }
  return found;
}

Hazard Shadow::read(const ElementRun& run, Stamp now, std::span<const ParallelSpan> parallel,
                    bool reduction, std::int64_t& where) {
  return visit(
      run, where,
      [&](const Stamps& s) {
        if (s.written == 0)
          return Hazard::uninitialised;
        if (!reduction)
          for (const ParallelSpan& p : parallel)
            if (p.holds(s.written))
              return Hazard::read_after_write;
        return Hazard::none;
      },
      [&](Stamps& s, bool) {
        s.read = reduction ? s.read : now;
        return false;
      });
}

Hazard Shadow::write(const ElementRun& run, Stamp now, std::span<const ParallelSpan> parallel,
                     bool reduction, std::int64_t& where) {
  return visit(
      run, where,
      [&](const Stamps& s) {
        if (reduction)
          return Hazard::none;
        for (const ParallelSpan& p : parallel) {
          if (s.written != 0 && p.holds(s.written))
            return Hazard::write_after_write;
          if (s.read != 0 && p.holds(s.read))
            return Hazard::write_after_read;
        }
        return Hazard::none;
      },
      [&](Stamps& s, bool) {
        s = {.written = now, .read = 0};
        return true; // all of a chunk that is written whole is alike
      });
}

void Shadow::undefined(const ElementRun& run, std::vector<char>& flags) const {
  for (std::int64_t i = 0; i < run.count; ++i) {
    const std::int64_t element = run.first + i * run.stride;
    const Chunk& c = chunks_[chunk_of(element)];
    const auto within = static_cast<std::size_t>(element % row_ % chunk);
    const Stamps& s = c.split < 0 ? c.all : own_[static_cast<std::size_t>(c.split)][within];
    if (s.written == 0)
      flags[static_cast<std::size_t>(i)] = 1;
  }
}

void Shadow::undefine(const ElementRun& run, const std::vector<char>& flags) {
  for (std::int64_t i = 0; i < run.count; ++i)
    if (flags[static_cast<std::size_t>(i)] != 0) {
      const std::int64_t element = run.first + i * run.stride;
      split(chunks_[chunk_of(element)])[element % row_ % chunk].written = 0;
    }
}

std::int64_t Shadow::unwritten(std::int64_t& first) const {
  std::int64_t n = 0;
  for (std::size_t k = 0; k < chunks_.size(); ++k) {
    const Chunk& c = chunks_[k];
    const std::int64_t row = static_cast<std::int64_t>(k) / chunks_per_row_,
                       begin = static_cast<std::int64_t>(k) % chunks_per_row_ * chunk,
                       size = std::min(chunk, row_ - begin);
    for (std::int64_t i = 0; i < size; ++i) {
      const Stamps& s = c.split < 0
                            ? c.all
                            : own_[static_cast<std::size_t>(c.split)][static_cast<std::size_t>(i)];
      if (s.written != 0) {
        if (c.split < 0)
          break;
        continue;
      }
      if (n++ == 0)
        first = row * row_ + begin + i;
    }
  }
  return n;
}

} // namespace kw::nki
