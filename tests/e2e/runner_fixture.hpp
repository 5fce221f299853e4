// SPDX-License-Identifier: Apache-2.0
// Compiles a kernel and calls it once or more through a real session.
#pragma once

#include "os/process.hpp"
#include "os/temp_dir.hpp"
#include "runner/session.hpp"

#include <array>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>

namespace kw::e2e {

inline const TempDir& folder() {
  static const TempDir dir = TempDir::create("kernwright-e2e").value();
  return dir;
}

/// Path of a shared object made from C++ text, with the flags of a candidate.
inline std::string build(const std::string& name, const std::string& source,
                         const std::vector<std::string>& more = {}) {
  const std::string object = folder().file(name + ".so");
  ChildSpec spec;
  spec.program = "/usr/bin/g++-12";
  spec.args = {"-O2",
               "-shared",
               "-fPIC",
               "-nostdlib",
               "-nostartfiles",
               "-fvisibility=hidden",
               "-fno-exceptions",
               "-fno-rtti",
               "-fno-stack-protector",
               "-fno-math-errno",
               "-x",
               "c++",
               "-",
               "-o",
               object};
  spec.args.insert(spec.args.end(), more.begin(), more.end());
  spec.environment = {"PATH=/usr/bin:/bin"};
  spec.stdin_data =
      "#define API extern \"C\" __attribute__((visibility(\"default\")))\n"
      "typedef long i64;\nAPI void* kw_workspace(unsigned long);\nAPI int kw_threads();\n"
      "API void kw_parallel_for(i64, void (*)(void*, i64), void*);\n" +
      source;
  const auto report = run_child(spec);
  EXPECT_TRUE(report && report->ok()) << (report ? report->err : report.error().text());
  return object;
}

inline SessionOptions options() {
  SessionOptions o;
  o.runner = KW_RUNNER;
  return o;
}

inline Argument in(std::size_t i) {
  return {Argument::Kind::input, i, 0, 0};
}
inline Argument out(std::size_t i) {
  return {Argument::Kind::output, i, 0, 0};
}
inline Argument integer(std::int64_t v) {
  return {Argument::Kind::integer, 0, v, 0};
}
inline Argument f32(double v) {
  return {Argument::Kind::float32, 0, 0, v};
}
inline Argument f64(double v) {
  return {Argument::Kind::float64, 0, 0, v};
}

/// A session with one input and one output of `floats` elements, and the kernel `f` in one arm.
class OneKernel {
 public:
  OneKernel(const std::string& object, std::size_t floats = 1000, SessionOptions o = options(),
            int threads = 1, ArmKind kind = ArmKind::candidate)
      : floats_(floats), session_(Session::start(std::move(o)).value()) {
    spec_.kind = kind;
    spec_.object = object;
    spec_.entry = "f";
    spec_.threads = threads;
    respawn();
    invocation.output_bytes = {floats * sizeof(float)};
    invocation.arguments = {in(0), out(0), integer(static_cast<std::int64_t>(floats))};
    invocation.canary_key = 0x5eed;
    invocation.timeout = std::chrono::milliseconds{5000};
  }

  /// A pristine process in place of the old one.
  void respawn() {
    arm_.reset();
    auto arm = session_.spawn(spec_, load);
    EXPECT_TRUE(arm.has_value()) << arm.error().text();
    if (arm)
      arm_.emplace(std::move(*arm));
  }

  CallReport call() {
    EXPECT_EQ(load.end, CallEnd::returned) << load.detail;
    const std::array<std::size_t, 1> sizes{floats_ * sizeof(float)};
    auto views = session_.stage(sizes, invocation.placement, invocation.canary_key);
    EXPECT_TRUE(views.has_value());
    for (std::size_t i = 0; i < floats_; ++i) {
      const auto value = static_cast<float>(i) * 0.5F;
      std::memcpy(views->front().data() + i * sizeof value, &value, sizeof value);
    }
    auto report = arm_->call(invocation);
    EXPECT_TRUE(report.has_value()) << (report ? "" : report.error().text());
    ++invocation.poison;
    return report ? *report : CallReport{};
  }

  static float output(const CallReport& report, std::size_t i) {
    float value = 0;
    std::memcpy(&value, report.outputs.at(0).data() + i * sizeof value, sizeof value);
    return value;
  }

  Arm& arm() { return *arm_; }
  Session& session() { return session_; }
  [[nodiscard]] const ArmSpec& spec() const { return spec_; }

  LoadReport load;
  Invocation invocation;

 private:
  std::size_t floats_;
  Session session_;
  ArmSpec spec_;
  std::optional<Arm> arm_;
};

inline const char* const doubling = "API int f(const float* x, float* y, i64 n) { for (i64 i = 0; "
                                    "i < n; ++i) y[i] = 2 * x[i]; return 0; }";

} // namespace kw::e2e
