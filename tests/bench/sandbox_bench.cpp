// SPDX-License-Identifier: Apache-2.0
// What the sandbox costs a candidate: the compiler's and the arm's, each closed against not closed,
// in turn within one run. `compile` is one process as a compiler's, without the compiling; `arm` is
// start, load, one call and end of an empty kernel's process; the sum is what a candidate pays.
#include "os/process.hpp"
#include "os/sandbox.hpp"
#include "runner/session.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace kw {
namespace {

using Steady = std::chrono::steady_clock;

double ms_since(Steady::time_point began) {
  return std::chrono::duration<double, std::milli>(Steady::now() - began).count();
}

template <class T> T must(Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().text().c_str());
    std::exit(3);
  }
  return std::move(*result);
}

const SandboxDenials nothing_closed{
    .namespaces = true, .landlock = true, .seccomp = true, .cgroup = true};

double compiler_process(const SandboxDenials& deny, bool closed) {
  const auto began = Steady::now();
  CompileSandbox rules;
  rules.temp_dir = "/tmp";
  rules.deny = deny;
  const PreparedSandbox sandbox = must(PreparedSandbox::prepare(rules));
  ChildSpec child;
  child.program = "/usr/bin/true";
  if (closed)
    child.prepare = sandbox.hook();
  must(run_child(child));
  return ms_since(began);
}

double arm_process(Session& session) {
  const auto began = Steady::now();
  {
    LoadReport load;
    Arm arm = must(session.spawn(ArmSpec{}, load)); // the built-in empty kernel
    must(session.stage({}, Placement::end_aligned, 0));
    Invocation empty;
    empty.warm = false;
    must(arm.call(empty));
  }
  return ms_since(began);
}

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

SessionOptions options(const SandboxDenials& deny) {
  SessionOptions o;
  o.runner = KW_RUNNER;
  o.required_tier = "T0";
  o.deny = deny;
  return o;
}

} // namespace
} // namespace kw

int main(int argc, char** argv) {
  using namespace kw;
  const int rounds = argc > 1 ? std::max(3, std::atoi(argv[1])) : 60;
  Session closed = must(Session::start(options({}))),
          open = must(Session::start(options(nothing_closed)));
  std::vector<double> compile, arm;
  for (int i = 0; i < rounds; ++i) { // in turn, and each pair in the other order
    double with = 0, without = 0, arm_with = 0, arm_without = 0;
    for (const bool sandboxed : {i % 2 == 0, i % 2 != 0}) {
      (sandboxed ? with : without) =
          compiler_process(sandboxed ? SandboxDenials{} : nothing_closed, sandboxed);
      (sandboxed ? arm_with : arm_without) = arm_process(sandboxed ? closed : open);
    }
    compile.push_back(with - without);
    arm.push_back(arm_with - arm_without);
  }
  std::vector<double> both;
  for (std::size_t i = 0; i < arm.size(); ++i)
    both.push_back(compile[i] + arm[i]);
  std::printf("# sandbox %s against %s, %d rounds\n", closed.tier().c_str(), open.tier().c_str(),
              rounds);
  std::printf("FIGURE sandbox.overhead.compile %.4g ms\n", median(compile));
  std::printf("FIGURE sandbox.overhead.arm %.4g ms\n", median(arm));
  std::printf("FIGURE sandbox.overhead %.4g ms floor 2\n", median(both));
  return 0;
}
