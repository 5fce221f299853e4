// SPDX-License-Identifier: Apache-2.0
#include "arm.hpp"

#include "runner/doorbell.hpp"
#include "trampoline.hpp"

#include <cerrno>
#include <cmath>
#include <cpuid.h>
#include <cstring>
#include <dlfcn.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace kw::child {
namespace {

constexpr int object_fd = 3;

// Candidates resolve expf and its kin from this program's libraries; a linker that drops unused
// ones must find a use.
[[gnu::used]] float (*const volatile keeps_libm)(float) = &::expf;
constexpr std::size_t kernel_stack_bytes = std::size_t{8} << 20;

template <class T> T* map_shared(int fd, std::size_t bytes, int protection) {
  void* p = ::mmap(nullptr, bytes, protection, MAP_SHARED, fd, 0);
  return p == MAP_FAILED ? nullptr : static_cast<T*>(p);
}

/// Outputs, then inputs, in one piece of address space: see confine_for_serving.
void map_arenas(Arm& arm, int inputs, int outputs) {
  void* p = ::mmap(nullptr, arm.output_bytes + arm.input_bytes, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    return;
  auto* base = static_cast<std::byte*>(p);
  const auto place = [](std::byte* at, std::size_t bytes, int fd) {
    void* placed = ::mmap(at, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, fd, 0);
    return placed == MAP_FAILED ? nullptr : static_cast<std::byte*>(placed);
  };
  arm.outputs = place(base, arm.output_bytes, outputs);
  arm.inputs = place(base + arm.output_bytes, arm.input_bytes, inputs);
}

/// Anonymous memory between inaccessible ranges, wide enough for a large frame not to step over.
std::byte* map_stack(std::size_t bytes) {
  void* p = ::mmap(nullptr, bytes + 2 * protocol::stack_guard, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    return nullptr;
  std::byte* usable = static_cast<std::byte*>(p) + protocol::stack_guard;
  return ::mprotect(usable, bytes, PROT_READ | PROT_WRITE) == 0 ? usable : nullptr;
}

/// Only the object stays open, as descriptor 3; standard streams too for trusted arms.
void close_descriptors(const Start& start, bool trusted) {
  int first_unused = object_fd;
  if (start.request.has_object != 0) {
    ::dup2(start.descriptors.back(), object_fd);
    first_unused = object_fd + 1;
  }
  if (!trusted) {
    ::close(0);
    ::close(1);
    ::close(2);
    ::close_range(static_cast<unsigned>(first_unused), ~0U, 0);
  } else { // the socket stays: its end ends this process
    for (std::size_t i = 0; i < start.descriptors.size(); ++i)
      if (start.descriptors[i] != object_fd)
        ::close(start.descriptors[i]);
  }
}

void pin_to(int cpu) {
  if (cpu < 0)
    return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  ::sched_setaffinity(0, sizeof set, &set); // a failed pin shows in the timing statistics
}

bool cpu_has_avx() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_AVX) != 0 && (c & bit_OSXSAVE) != 0;
}

extern "C" int kw_empty_kernel() {
  return 0;
} // what calibration calls

void load(Arm& arm, const Start& start) {
  if (start.entries.empty()) {
    arm.entries[arm.entry_count++] = reinterpret_cast<const void*>(&kw_empty_kernel);
    return;
  }
  const std::string path =
      start.request.has_object != 0 ? "/proc/self/fd/" + std::to_string(object_fd) : start.object;
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    give_up(arm.shared, protocol::exit_load_failed, "the object cannot be loaded", ::dlerror());
  for (const std::string& entry : start.entries) {
    const void* address = ::dlsym(library, entry.c_str());
    if (address == nullptr)
      give_up(arm.shared, protocol::exit_load_failed, "the object has no entry", entry.c_str());
    arm.entries[arm.entry_count++] = address; // as many as decode_start allows
  }
}

void map_memory(Arm& arm, const Start& start) {
  const protocol::StartRequest& request = start.request;
  arm.shared =
      map_shared<protocol::ArmPage>(start.descriptors[1], protocol::page, PROT_READ | PROT_WRITE);
  if (arm.shared == nullptr)
    ::_exit(protocol::exit_protocol);
  arm.judge =
      map_shared<const protocol::JudgePage>(start.descriptors[0], protocol::page, PROT_READ);
  arm.input_bytes = request.input_bytes;
  arm.output_bytes = request.output_bytes;
  map_arenas(arm, start.descriptors[2], start.descriptors[3]);
  arm.stack_bytes = kernel_stack_bytes;
  arm.stack = map_stack(arm.stack_bytes);
  if (arm.judge == nullptr || arm.inputs == nullptr || arm.outputs == nullptr ||
      arm.stack == nullptr || reserve_workspace(arm, request.workspace_bytes) != 0 ||
      reserve_eviction_pages(arm) != 0)
    give_up(arm.shared, protocol::exit_confine_failed, "memory cannot be mapped",
            std::strerror(errno));
  arm.shared->input_base = reinterpret_cast<std::uint64_t>(arm.inputs);
  arm.shared->output_base = reinterpret_cast<std::uint64_t>(arm.outputs);
  arm.shared->stack_base = reinterpret_cast<std::uint64_t>(arm.stack);
  arm.shared->stack_bytes = arm.stack_bytes;
  arm.shared->workspace_base = reinterpret_cast<std::uint64_t>(arm.workspace);
  arm.shared->workspace_bytes = request.workspace_bytes;
}

void require(protocol::ArmPage* shared, int error, const char* what) {
  if (error != 0)
    give_up(shared, protocol::exit_confine_failed, what, std::strerror(error));
}

} // namespace

void give_up(protocol::ArmPage* shared, int exit_code, const char* what, const char* why) {
  auto append = [used = std::size_t{0}, shared](const char* text) mutable {
    const std::size_t n = ::strnlen(text, protocol::message_bytes - 1 - used);
    std::memcpy(shared->message.data() + used, text, n);
    used += n;
    shared->message[used] = '\0';
  };
  append(what);
  append(": ");
  append(why == nullptr ? "no reason given" : why);
  ::_exit(exit_code);
}

bool decode_start(const std::string& bytes, std::vector<int> descriptors, Start& start) {
  if (bytes.size() < sizeof start.request)
    return false;
  std::memcpy(&start.request, bytes.data(), sizeof start.request);
  const protocol::StartRequest& r = start.request;
  start.descriptors = std::move(descriptors);
  if (r.magic != protocol::magic || r.version != protocol::version ||
      r.names_bytes != bytes.size() - sizeof r || r.entries > protocol::max_entries ||
      start.descriptors.size() != (r.has_object != 0 ? 5U : 4U))
    return false;
  std::vector<std::string> names;
  for (std::size_t at = sizeof r; at < bytes.size();) {
    names.emplace_back(bytes.c_str() + at);
    at += names.back().size() + 1;
  }
  if (names.size() != 1 + std::size_t{r.entries})
    return false;
  start.object = names.front();
  start.entries.assign(names.begin() + 1, names.end());
  return true;
}

void run_arm(const Start& start, const Sandbox* sandbox) {
  Arm& arm = kw_fixed.arm;
  const protocol::StartRequest& request = start.request;
  map_memory(arm, start);
  install_fault_notes(arm.shared);
  if (sandbox != nullptr)
    require(arm.shared, accept_resets(), "resets cannot be accepted");
  kw_trampoline_has_avx = cpu_has_avx() ? 1 : 0;
  if (request.threads == 1)
    pin_to(request.cpu);
  if (sandbox != nullptr)
    require(arm.shared, confine_before_threads(request, *sandbox), "the sandbox cannot be closed");
  close_descriptors(start, sandbox == nullptr);
  require(arm.shared, start_workers(static_cast<int>(request.threads)),
          "threads cannot be started");
  if (request.threads > 1 && sandbox == nullptr)
    pin_to(request.cpu); // this thread only
  if (sandbox != nullptr)
    require(arm.shared, confine_for_loading(request, *sandbox), "the load filter was refused");
  load(arm, start);
  if (request.has_object != 0)
    ::close(object_fd);
  if (sandbox != nullptr) {
    require(arm.shared, protect_fixed(), "the runner's own data cannot be protected");
    require(arm.shared, confine_for_serving(arm, request, *sandbox),
            "the final filter was refused");
  }
  arm.shared->loaded = 1;
  doorbell::ring(arm.shared->done, protocol::loaded_sequence, arm.judge->sleeping);
  serve(arm, protocol::loaded_sequence); // where the judge starts counting
}

} // namespace kw::child
