// SPDX-License-Identifier: Apache-2.0
// Oracles and peers: the same doorbell, no sandbox.
#include "runner_fixture.hpp"

#include <unistd.h>

namespace kw::e2e {
namespace {

TEST(Trusted, OracleAllocatesAndHasSeveralEntries) {
  Session session = Session::start(options()).value();
  ArmSpec spec;
  spec.kind = ArmKind::oracle;
  spec.object = folder().file("oracle.so");
  ChildSpec compiler;
  compiler.program = "/usr/bin/g++-12";
  compiler.args = {"-O2", "-shared", "-fPIC", "-x", "c++", "-", "-o", spec.object};
  compiler.environment = {"PATH=/usr/bin:/bin"};
  compiler.stdin_data = "#include <vector>\nextern \"C\" int one(const float* x, double* y) {"
                        "std::vector<double> v(1 << 20, x[0]); y[0] = v[77]; return 1; }\n"
                        "extern \"C\" int two(const float*, double* y) { y[0] = -2; return 2; }\n";
  const auto built = run_child(compiler);
  ASSERT_TRUE(built && built->ok()) << built->err;
  spec.entry = "one";
  spec.more_entries = {"two"};
  LoadReport load;
  Arm arm = session.spawn(spec, load).value();
  ASSERT_EQ(load.end, CallEnd::returned) << load.detail;
  const std::array<std::size_t, 1> sizes{4};
  auto views = session.stage(sizes, Placement::end_aligned, 1).value();
  const float x = 3.5F;
  std::memcpy(views[0].data(), &x, 4);
  Invocation call;
  call.output_bytes = {8};
  call.arguments = {in(0), out(0)};
  for (const auto& [entry, want] : {std::pair{0, 3.5}, std::pair{1, -2.0}}) {
    call.entry = static_cast<std::size_t>(entry);
    const CallReport r = arm.call(call).value();
    ASSERT_EQ(r.end, CallEnd::returned) << r.detail;
    EXPECT_EQ(r.return_code, entry + 1);
    double y = 0;
    std::memcpy(&y, r.outputs[0].data(), 8);
    EXPECT_EQ(y, want);
  }
  call.entry = 2;
  EXPECT_FALSE(arm.call(call).has_value());
}

std::string python_file(const std::string& name, const std::string& text) {
  const std::string path = folder().file(name + ".py");
  std::ofstream{path} << text;
  return path;
}

bool python_has(const char* module) {
  ChildSpec spec;
  spec.program = "/usr/bin/python3";
  spec.args = {"-c", std::string{"import "} + module};
  spec.environment = {"PATH=/usr/bin:/bin"};
  const auto report = run_child(spec);
  return report && report->ok();
}

TEST(Trusted, PythonPeerWithNumpy) {
  if (!python_has("numpy"))
    GTEST_SKIP() << "no NumPy for /usr/bin/python3";
  OneKernel k{python_file("peer", "KW_DTYPES = ['float32', 'float32']\n"
                                  "def f(x, y, n):\n    y[:] = 2 * x\n    return n\n"),
              1000, options(), 1, ArmKind::python_peer};
  for (int i = 0; i < 3; ++i) {
    k.invocation.evict = i == 2;
    const CallReport r = k.call();
    ASSERT_EQ(r.end, CallEnd::returned) << r.detail;
    EXPECT_EQ(r.return_code, 1000);
    EXPECT_EQ(OneKernel::output(r, 9), 9.F);
    EXPECT_TRUE(r.cpu_state_intact && r.canaries_intact);
  }
}

TEST(Trusted, PythonPeerWithTorch) {
  if (!python_has("torch"))
    GTEST_SKIP() << "no PyTorch for /usr/bin/python3";
  SessionOptions o = options();
  o.load_timeout = std::chrono::seconds{60};
  OneKernel k{
      python_file("torch_peer",
                  "KW_FRAMEWORK = 'torch'\nKW_DTYPES = ['float32', 'float32']\nimport torch\n"
                  "def f(x, y, n):\n    torch.add(x, x, out=y)\n"),
      1000, o, 1, ArmKind::python_peer};
  const CallReport r = k.call();
  ASSERT_EQ(r.end, CallEnd::returned) << r.detail;
  EXPECT_EQ(OneKernel::output(r, 9), 9.F);
}

TEST(Trusted, PythonErrorsAreReported) {
  OneKernel broken{python_file("broken", "import no_such_module_here\n"), 10, options(), 1,
                   ArmKind::python_peer};
  EXPECT_EQ(broken.load.end, CallEnd::exited);
  EXPECT_NE(broken.load.detail.find("no_such_module_here"), std::string::npos)
      << broken.load.detail;
  OneKernel raises{python_file("raises", "def f(x, y, n):\n    raise ValueError('on purpose')\n"),
                   10, options(), 1, ArmKind::python_peer};
  const CallReport r = raises.call();
  EXPECT_EQ(r.end, CallEnd::exited);
  EXPECT_NE(r.detail.find("on purpose"), std::string::npos) << r.detail;
}

TEST(Trusted, PeerMayUseLibraries) {
  OneKernel k{
      build("peer",
            "API float sinf(float); API void* malloc(unsigned long); API int usleep(unsigned);"
            "API int f(const float*, float* y, i64) { usleep(10); y[0] = sinf(*(float*)malloc(1 << "
            "26)); return 0; }",
            {"-lc", "-lm", "-Wl,--no-as-needed"}),
      10, options(), 1, ArmKind::peer};
  EXPECT_EQ(OneKernel::output(k.call(), 0), 0.F);
}

} // namespace
} // namespace kw::e2e
