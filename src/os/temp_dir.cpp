// SPDX-License-Identifier: Apache-2.0
#include "os/temp_dir.hpp"

#include "os/files.hpp"
#include "os/system_error.hpp"

#include <cstdlib>
#include <utility>

namespace kw {

Result<TempDir> TempDir::create(const std::string& prefix, std::string parent) {
  if (parent.empty()) {
    const char* chosen = std::getenv("TMPDIR"); // NOLINT(concurrency-mt-unsafe): never set by us
    parent = chosen != nullptr && *chosen != '\0' ? chosen : "/tmp";
  }
  std::string path = join_path(parent, prefix + ".XXXXXX");
  if (::mkdtemp(path.data()) == nullptr)
    return fail_errno("create a temporary folder in", parent);
  return TempDir(std::move(path));
}

TempDir::TempDir(TempDir&& other) noexcept : path_(std::exchange(other.path_, {})) {}

TempDir& TempDir::operator=(TempDir&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

TempDir::~TempDir() {
  if (!path_.empty())
    (void)remove_tree(path_); // nobody to tell in a destructor; /tmp is cleaned by the system
}

} // namespace kw
