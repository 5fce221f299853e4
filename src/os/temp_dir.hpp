// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.hpp"

#include <string>

namespace kw {

/// A private folder (mode 0700) that is removed with everything in it when the object goes.
class TempDir {
 public:
  /// Below `parent`; "" means $TMPDIR, else /tmp.
  static Result<TempDir> create(const std::string& prefix = "kernwright", std::string parent = {});
  TempDir(TempDir&& other) noexcept;
  TempDir& operator=(TempDir&& other) noexcept;
  ~TempDir();

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
  /// Leaves the folder on disk, e.g. to show it to the user.
  void keep() { path_.clear(); }

 private:
  explicit TempDir(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

} // namespace kw
