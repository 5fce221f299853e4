// SPDX-License-Identifier: Apache-2.0
#include "service/nki_inspect.hpp"

#include "os/process.hpp"
#include "os/self.hpp"

#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kw {
namespace {

// The answer is one line; what the kernel prints comes before it.
constexpr const char* bootstrap = "import sys\n"
                                  "sys.path.insert(0, sys.argv[1])\n"
                                  "import kernwright_nki\n"
                                  "answer = kernwright_nki.inspect(sys.stdin.read())\n"
                                  "sys.stdout.write('\\n' + answer + '\\n')\n";

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  const std::size_t at = text.rfind('\n');
  return at == std::string::npos ? text : text.substr(at + 1);
}

} // namespace

Result<std::string> nki_library() {
  KW_TRY(const std::string program, own_executable());
  return (std::filesystem::path(program).parent_path().parent_path() / "lib" / "kernwright")
      .string();
}

Result<nlohmann::ordered_json> inspect_nki(const NkiInspection& how,
                                           const nlohmann::ordered_json& request) {
  std::string library = how.library;
  if (library.empty()) {
    KW_TRY(library, nki_library());
  }
  ChildSpec child;
  child.program = how.python;
  child.args = {"-I", "-B", "-c", bootstrap, library};
  child.environment = {"PATH=/usr/bin:/bin", "OPENBLAS_NUM_THREADS=1", "LC_ALL=C.UTF-8"};
  child.stdin_data = request.dump();
  child.timeout = how.timeout;
  child.max_output = 64 << 20;
  KW_TRY(const ChildReport report, run_child(child));
  if (report.timed_out)
    return fail(
        ErrorKind::infrastructure,
        fmt::format("the kernel did not come to its end within {} s", how.timeout.count() / 1000),
        "check it on smaller shapes, or give it more time with --timeout");
  if (!report.ok())
    return fail(
        ErrorKind::infrastructure,
        fmt::format("the interpreter ended with {}: {}", report.ending(), last_line(report.err)),
        report.err.find("kernwright_nki") != std::string::npos
            ? fmt::format("build the extension module: it belongs into {}", library)
            : "run the kernel with `python3` to see what happens");
  nlohmann::ordered_json answer =
      nlohmann::ordered_json::parse(last_line(report.out), nullptr, false);
  if (answer.is_discarded())
    return fail(ErrorKind::infrastructure, "the interpreter gave no answer",
                "report this with the kernel");
  return answer;
}

} // namespace kw
