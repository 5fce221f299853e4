// SPDX-License-Identifier: Apache-2.0
// Every decision of a run, one JSON object per line. It follows from the journal alone: the same
// journal gives the same bytes.
#pragma once

#include "base/json.hpp"
#include "base/result.hpp"

#include <string>

namespace kw {

class DecisionLog {
 public:
  /// Kept in memory only.
  DecisionLog() = default;
  /// The file is replaced: what was decided before an interruption is decided again.
  explicit DecisionLog(std::string path) : path_(std::move(path)) {}

  void add(const Json& decision);
  /// Writes what is new; while a run is replayed that may be much at once.
  Status flush();
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string path_;
  std::string text_;
  std::size_t written_ = 0;
};

} // namespace kw
