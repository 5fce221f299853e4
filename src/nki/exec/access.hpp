// SPDX-License-Identifier: Apache-2.0
// A view at one moment of the run: where its elements lie, row by row, with bounds and stamps
// checked.
#pragma once

#include "nki/exec/machine.hpp"
#include "nki/exec/rows.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kw::nki {

struct Machine::Storage {
  Buffer buffer;
  std::unique_ptr<std::byte, void (*)(void*)> data{nullptr, std::free}; ///< pages come when touched
  std::size_t size = 0;
  std::optional<Shadow> shadow; ///< none: read-only, or stamps are off
  std::string undefined_origin; ///< what its undefined elements were made of; "" = itself

  [[nodiscard]] std::byte* at(std::int64_t byte) { return data.get() + byte; }
};

class Access {
 public:
  /// `region`: of the instruction; the view's dimensions align with its last ones, size 1 repeats.
  Access(Machine& machine, const Instruction& instruction, const View& view, const Region& region);

  [[nodiscard]] bool ok() const { return ok_; } ///< inside of the tensor
  [[nodiscard]] Element element() const { return storage_.buffer.element; }
  [[nodiscard]] std::int64_t stride() const { return stride_; } ///< of the last dimension
  [[nodiscard]] const std::vector<std::int64_t>& strides() const { return strides_; }
  [[nodiscard]] bool is_indirect() const { return !indirect_.empty(); }
  /// From now on rows are those of `region`, which has other dimensions for the same elements.
  void flatten(const Region& region, std::vector<std::int64_t> strides);

  /// Elements [low, high) of the row as float32, in place where they lie so, else in `scratch`;
  /// step 0: one element for all.
  struct Floats {
    const float* data = nullptr;
    int step = 1;
  };
  Floats floats(std::span<const std::int64_t> place, std::int64_t low, std::int64_t high,
                std::vector<float>& scratch, bool reduction = false);
  void integers(std::span<const std::int64_t> place, std::int64_t low, std::int64_t high,
                std::vector<std::int64_t>& to);
  void store(std::span<const std::int64_t> place, std::int64_t low, std::int64_t high,
             const float* from, bool reduction = false);
  void store_integers(std::span<const std::int64_t> place, std::int64_t low, std::int64_t high,
                      const std::int64_t* from);
  /// Which elements of the rows read since the last call nobody wrote. Values made of them are
  /// undefined themselves, and an error only where they reach HBM: the lanes that a mask left out
  /// are computed with and never stored. False: none; `flags` is as before then.
  bool take_undefined(std::vector<char>& flags);
  /// The elements that store() wrote last are undefined where flagged.
  void undefine(const std::vector<char>& flags, const std::string& origin);
  /// What its undefined elements come from, for messages.
  [[nodiscard]] std::string origin() const;
  /// The same for a matrix that was read: columns with an undefined element.
  bool take_undefined_columns(std::vector<char>& flags);
  void undefine_row(std::span<const std::int64_t> place, std::int64_t low,
                    const std::vector<char>& flags, const std::string& origin);
  /// Bits as they are, between equal element types.
  void copy_from(Access& source, std::span<const std::int64_t> place, std::int64_t low,
                 std::int64_t high);
  /// A dense float32 matrix of the first dimension by all others, or nullptr. Stamps are checked.
  float* matrix(std::int64_t& leading, bool writes, bool reduction = false);
  /// The same copied to `to` as float32, rows beside each other.
  void gather_matrix(std::vector<float>& to);
  void scatter_matrix(const float* from);

 private:
  std::int64_t start(std::span<const std::int64_t> place, std::int64_t low) const;
  void touch(std::int64_t first, std::int64_t count, bool writes, bool reduction);
  void check_bounds(const Region& region);
  void report(Hazard hazard, std::int64_t element);

  Machine& machine_;
  const Instruction& instruction_;
  const View& view_;
  Machine::Storage& storage_;
  const Region* region_;
  bool ok_ = true;
  std::int64_t offset_ = 0, stride_ = 0;
  std::vector<std::int64_t> strides_;  ///< of the region's dimensions
  std::vector<std::int64_t> indirect_; ///< offsets by place along the first dimension
  std::int64_t bytes_ = 1;             ///< of an element
  bool undefined_ = false;             ///< a row that was read has undefined elements
  ElementRun last_;                    ///< that was touched
};

/// Joins dimensions that lie beside each other in all of the accesses, so that rows become longer.
/// Dimensions before `leading` are not joined with those after it. Only where nothing is masked.
/// The accesses refer to `flat` afterwards.
void flatten(std::vector<Access*> accesses, const Region& region, std::size_t leading,
             Region& flat);

} // namespace kw::nki
