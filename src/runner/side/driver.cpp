// SPDX-License-Identifier: Apache-2.0
// Calls a kernel that was built with sanitizers: driver FD OBJECT ENTRY. Compiled by Kernwright
// with the same sanitizers, so it provides their runtime; kernwright-runner itself never has one.
//
// Every tensor is an allocation of its own and of its exact size, so that one element too far is a
// finding. The workspace is open as far as it was asked for during this call. Loops are dealt out
// to fresh threads in turn: two iterations that conflict and are not on one thread are a data race
// by the thread sanitizer's own account, whatever the timing was.
#include "wire.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#pragma GCC visibility push(default)
extern "C" {
void* kw_workspace(size_t bytes);
int kw_threads(void);
void kw_parallel_for(int64_t count, void (*body)(void* context, int64_t i), void* context);
// Present when built with the address sanitizer.
__attribute__((weak)) void __asan_poison_memory_region(const volatile void* begin, size_t bytes);
__attribute__((weak)) void __asan_unpoison_memory_region(const volatile void* begin, size_t bytes);
}
#pragma GCC visibility pop

namespace {

using namespace kw::side;

constexpr size_t alignment = 64;                  // what docs/abi.md promises
constexpr size_t kernel_stack = size_t{64} << 20; // sanitizers make frames several times larger
constexpr size_t worker_stack = size_t{16} << 20;
constexpr int max_threads = 1024;

char* memory = nullptr;
char* workspace = nullptr;
size_t workspace_reserved = 0, workspace_open = 0;
int workspace_fill = 0;
pthread_mutex_t workspace_lock = PTHREAD_MUTEX_INITIALIZER;
int threads = 1;
thread_local bool inside = false;

template <class T> T* at(uint64_t offset) {
  return reinterpret_cast<T*>(memory + offset);
}

[[noreturn]] void give_up(const char* what, const char* why) {
  fprintf(stderr, "side run: %s: %s\n", what, why == nullptr ? "no reason given" : why);
  _exit(3);
}

void close_workspace() {
  if (__asan_poison_memory_region != nullptr)
    __asan_poison_memory_region(workspace, workspace_reserved);
  workspace_open = 0;
}

struct Share {
  int64_t count, first, stride;
  void (*body)(void*, int64_t);
  void* context;
};

void* run_share(void* argument) {
  const Share share = *static_cast<Share*>(argument);
  inside = true;
  for (int64_t i = share.first; i < share.count; i += share.stride)
    share.body(share.context, i);
  inside = false;
  return nullptr;
}

// Integers that do not fit into registers go to the stack in order; more of them than the kernel
// takes do no harm. A ninth float is not passed: nothing shipped has one, and the judge knows.
#define KW_STACK_ARGUMENTS(X)                                                                      \
  X(0), X(1), X(2), X(3), X(4), X(5), X(6), X(7), X(8), X(9), X(10), X(11), X(12), X(13), X(14),   \
      X(15), X(16), X(17), X(18), X(19), X(20), X(21), X(22), X(23), X(24), X(25), X(26), X(27),   \
      X(28), X(29), X(30), X(31)
#define KW_TYPE(i) long
#define KW_VALUE(i) stack[i]
using Kernel = int (*)(long, long, long, long, long, long, double, double, double, double, double,
                       double, double, double, KW_STACK_ARGUMENTS(KW_TYPE));

int call_kernel(Kernel kernel, const Argument* arguments, char* const* buffers, uint32_t count) {
  long integers[6] = {}, stack[32] = {};
  double floats[8] = {};
  int used = 0, used_floats = 0, used_stack = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const Argument& a = arguments[i];
    if (a.kind == Argument::floating) {
      if (used_floats < 8)
        memcpy(&floats[used_floats++], &a.bits, sizeof a.bits);
      continue;
    }
    const long value =
        buffers[i] != nullptr ? reinterpret_cast<long>(buffers[i]) : static_cast<long>(a.bits);
    if (used < 6)
      integers[used++] = value;
    else if (used_stack < 32)
      stack[used_stack++] = value;
  }
  return kernel(integers[0], integers[1], integers[2], integers[3], integers[4], integers[5],
                floats[0], floats[1], floats[2], floats[3], floats[4], floats[5], floats[6],
                floats[7], KW_STACK_ARGUMENTS(KW_VALUE));
}

void run_trial(Kernel kernel, Trial& trial) {
  Argument arguments[max_arguments] = {};
  char* buffers[max_arguments] = {};
  const uint32_t count = trial.count < max_arguments ? trial.count : max_arguments;
  memcpy(arguments, at<char>(trial.arguments), count * sizeof(Argument));
  for (uint32_t i = 0; i < count; ++i) {
    const Argument& a = arguments[i];
    if (a.kind != Argument::input && a.kind != Argument::output)
      continue;
    void* p = nullptr;
    if (posix_memalign(&p, alignment, a.bytes) != 0)
      give_up("memory for a tensor", "there is not enough");
    memcpy(p, at<char>(a.offset), a.bytes);
    buffers[i] = static_cast<char*>(p);
  }
  workspace_fill += 0x3d;
  close_workspace();
  trial.return_code = call_kernel(kernel, arguments, buffers, count);
  close_workspace();
  for (uint32_t i = 0; i < count; ++i) {
    if (arguments[i].kind == Argument::output)
      memcpy(at<char>(arguments[i].offset), buffers[i], arguments[i].bytes);
    free(buffers[i]);
  }
}

struct Run {
  const char *object, *entry;
};

void* run_all(void* argument) {
  const Run& run = *static_cast<Run*>(argument);
  auto* header = at<Header>(0);
  __atomic_store_n(&header->stage, loading, __ATOMIC_SEQ_CST);
  void* library = dlopen(run.object, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    give_up("the object cannot be loaded", dlerror());
  void* entry = dlsym(library, run.entry);
  if (entry == nullptr)
    give_up("the object has no entry", run.entry);
  __atomic_store_n(&header->stage, calling, __ATOMIC_SEQ_CST);
  auto* trials = at<Trial>(sizeof(Header));
  for (uint32_t i = 0; i < header->trials; ++i) {
    run_trial(reinterpret_cast<Kernel>(entry), trials[i]);
    __atomic_store_n(&header->done, i + 1, __ATOMIC_SEQ_CST);
  }
  __atomic_store_n(&header->stage, finished, __ATOMIC_SEQ_CST);
  return nullptr;
}

pthread_t start_thread(void* (*body)(void*), void* argument, size_t stack) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack);
  pthread_t thread{};
  if (const int error = pthread_create(&thread, &attributes, body, argument); error != 0)
    give_up("a thread cannot be started", strerror(error));
  pthread_attr_destroy(&attributes);
  return thread;
}

} // namespace

extern "C" void* kw_workspace(size_t bytes) {
  if (bytes > workspace_reserved)
    return nullptr;
  pthread_mutex_lock(&workspace_lock);
  if (bytes > workspace_open) {
    if (__asan_unpoison_memory_region != nullptr)
      __asan_unpoison_memory_region(workspace, bytes);
    memset(workspace + workspace_open, workspace_fill & 0xff, bytes - workspace_open);
    workspace_open = bytes;
  }
  pthread_mutex_unlock(&workspace_lock);
  return workspace;
}

extern "C" int kw_threads(void) {
  return threads;
}

extern "C" void kw_parallel_for(int64_t count, void (*body)(void*, int64_t), void* context) {
  if (count <= 0)
    return;
  const int64_t used = inside ? 1 : count < threads ? count : threads; // nested loops run in place
  static thread_local Share shares[max_threads];
  pthread_t others[max_threads];
  if (used <= 1) {
    for (int64_t i = 0; i < count; ++i)
      body(context, i);
    return;
  }
  for (int64_t t = 0; t < used; ++t)
    shares[t] = {count, t, used, body, context};
  for (int64_t t = 1; t < used; ++t)
    others[t] = start_thread(run_share, &shares[t], worker_stack);
  run_share(&shares[0]);
  for (int64_t t = 1; t < used; ++t)
    pthread_join(others[t], nullptr);
}

int main(int argc, char** argv) {
  struct stat file{};
  if (argc != 4 || fstat(atoi(argv[1]), &file) != 0)
    give_up("usage", "driver FD OBJECT ENTRY");
  void* p = mmap(nullptr, static_cast<size_t>(file.st_size), PROT_READ | PROT_WRITE, MAP_SHARED,
                 atoi(argv[1]), 0);
  if (p == MAP_FAILED)
    give_up("the shared memory cannot be mapped", "the run was started wrongly");
  memory = static_cast<char*>(p);
  auto* header = at<Header>(0);
  if (header->magic != magic || header->bytes != static_cast<uint64_t>(file.st_size))
    give_up("the shared memory is not ours", "judge and driver must be of one build");
  threads = static_cast<int>(header->threads < max_threads ? header->threads : max_threads);
  workspace_reserved = header->workspace_bytes;
  p = mmap(nullptr, workspace_reserved + 4096, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    give_up("the workspace cannot be mapped", "there is not enough memory");
  workspace = static_cast<char*>(p);
  Run run{argv[2], argv[3]};
  pthread_join(start_thread(run_all, &run, kernel_stack), nullptr);
  _exit(0); // no leak check, no destructors of the object
}
