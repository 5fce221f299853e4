// SPDX-License-Identifier: Apache-2.0
#include "runner/shared_memory.hpp"

#include "os/files.hpp"
#include "os/system_error.hpp"
#include "runner/protocol.hpp"
#include "runner/session.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010 // Linux 5.1
#endif

namespace kw {

SharedMemory::~SharedMemory() {
  if (base_ != nullptr)
    ::munmap(base_, bytes_);
}

Result<SharedMemory> SharedMemory::create(const char* name, std::size_t bytes, Others others) {
  SharedMemory memory;
  memory.bytes_ = (bytes + protocol::page - 1) / protocol::page * protocol::page;
  memory.fd_.reset(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory.fd_)
    return fail_errno("create shared memory");
  if (::ftruncate(memory.fd(), static_cast<off_t>(memory.bytes_)) != 0)
    return fail_errno("size shared memory");
  void* p = ::mmap(nullptr, memory.bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, memory.fd(), 0);
  if (p == MAP_FAILED)
    return fail_errno("map shared memory");
  memory.base_ = static_cast<std::byte*>(p);
  const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL |
                    (others == Others::read_only ? F_SEAL_FUTURE_WRITE : 0);
  if (::fcntl(memory.fd(), F_ADD_SEALS, seals) != 0)
    return fail_errno("seal shared memory");
  return memory;
}

Result<UniqueFd> sealed_copy(const std::string& path) {
  KW_TRY(const std::string bytes, read_file(path));
  UniqueFd fd{::memfd_create(object_memory, MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  if (!fd)
    return fail_errno("create memory for the object", path);
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t n = ::write(fd.get(), bytes.data() + at, bytes.size() - at);
    if (n < 0 && errno != EINTR)
      return fail_errno("copy the object", path);
    at += n > 0 ? static_cast<std::size_t>(n) : 0;
  }
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0)
    return fail_errno("seal the object", path);
  return fd;
}

} // namespace kw
