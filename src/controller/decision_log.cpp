// SPDX-License-Identifier: Apache-2.0
#include "controller/decision_log.hpp"

#include "os/files.hpp"

namespace kw {

void DecisionLog::add(const Json& decision) {
  text_ += dump_json(decision) + "\n";
}

Status DecisionLog::flush() {
  if (path_.empty() || written_ == text_.size())
    return {};
  written_ = text_.size();
  return write_file_atomic(path_, text_);
}

} // namespace kw
