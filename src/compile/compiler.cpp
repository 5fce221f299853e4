// SPDX-License-Identifier: Apache-2.0
#include "compile/compiler.hpp"

#include "base/hash.hpp"
#include "os/files.hpp"
#include "os/process.hpp"

#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <sstream>
#include <sys/stat.h>

namespace kw {
namespace {

/// First line a query such as --version answers, "" if it fails.
std::string ask(const std::string& program, std::vector<std::string> args) {
  ChildSpec spec;
  spec.program = program;
  spec.args = std::move(args);
  spec.environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C"};
  spec.timeout = std::chrono::seconds{20};
  Result<ChildReport> report = run_child(spec);
  if (!report || !report->ok())
    return {};
  return report->out.substr(0, report->out.find('\n'));
}

/// Size and modification time: changes whenever a package upgrade replaces the file, and costs no
/// reading of a 30 MB cc1plus.
std::string stamp(const std::string& path) {
  struct stat info{};
  if (path.empty() || ::stat(path.c_str(), &info) != 0)
    return "absent";
  return fmt::format("{} {}.{}", info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

/// "g++-12 (Debian 12.2.0-14) 12.2.0" and "Debian clang version 19.1.7 (3~deb12u1)".
std::string version_in(const std::string& line) {
  static constexpr std::string_view mark = "clang version ";
  const std::size_t clang = line.find(mark);
  const std::size_t begin = clang != std::string::npos ? clang + mark.size() : line.rfind(' ') + 1;
  const std::string version = line.substr(begin, line.find(' ', begin) - begin);
  return version.find_first_not_of("0123456789.") == std::string::npos ? version : std::string{};
}

struct Answers {
  std::string version_line, libgcc;
};

/// Two questions only: this is on the way of every command, and each costs a process.
Answers question(const std::string& path) {
  return {ask(path, {"--version"}), ask(path, {"-print-libgcc-file-name"})};
}

/// Answers are kept as three lines: whom was asked, and the two answers. A damaged file is asked
/// anew.
Answers remember_or_question(const std::string& path, const std::string& folder) {
  const std::string who = path + " " + stamp(path);
  const std::string file = join_path(folder, "compiler-" + sha256_hex(path).substr(0, 16));
  if (!folder.empty())
    if (const Result<std::string> known = read_file(file, 1 << 16)) {
      std::istringstream lines(*known);
      std::string asked;
      Answers answers;
      if (std::getline(lines, asked) && asked == who && std::getline(lines, answers.version_line) &&
          std::getline(lines, answers.libgcc))
        return answers;
    }
  Answers answers = question(path);
  if (!folder.empty() && !answers.version_line.empty())
    (void)write_file_atomic(file, fmt::format("{}\n{}\n{}\n", who, answers.version_line,
                                              answers.libgcc)); // else: asked again
  return answers;
}

Result<Compiler> identify(const std::string& path, const std::string& name,
                          const std::string& memory_folder) {
  Compiler c;
  c.path = path;
  c.name = base_name(name);
  const Answers answers = remember_or_question(path, memory_folder);
  const std::string& first = answers.version_line;
  c.clang = first.find("clang version ") != std::string::npos;
  c.version = version_in(first);
  if (c.version.empty())
    return fail(ErrorKind::unsupported,
                fmt::format("{} does not answer --version as g++ or clang++ do", path),
                "name a g++ (>= 12) or clang++ (>= 16)");
  c.libgcc = answers.libgcc;
  if (!is_file(c.libgcc))
    c.libgcc.clear();
  // gcc keeps its back end and its own headers beside libgcc; clang is its own back end.
  const std::string folder = parent_path(c.libgcc);

  Digest digest;
  KW_TRY(const std::string driver, read_file(path));
  digest.field(first).field(sha256_hex(driver)).field(stamp(c.libgcc));
  digest.field(stamp(join_path(folder, "cc1plus")));
  digest.field(stamp(join_path(folder, "include/immintrin.h")));
  for (const char* program : {"/usr/bin/as", "/usr/bin/ld", "/usr/bin/ld.bfd"})
    digest.field(stamp(program));
  // The C and C++ library headers a kernel can include: a package upgrade rewrites all of them.
  for (const std::string& h :
       {std::string("/usr/include/stdlib.h"), std::string("/usr/include/math.h"),
        fmt::format("/usr/include/c++/{}/cmath", c.version.substr(0, c.version.find('.')))})
    digest.field(stamp(h));
  c.identity = digest.hex();
  return c;
}

} // namespace

Result<Compiler> probe_compiler(const std::string& name, const std::string& memory_folder) {
  static std::mutex mutex;
  static std::map<std::string, Compiler> known;
  const std::lock_guard lock(mutex);
  if (const auto it = known.find(name); it != known.end())
    return it->second;
  const std::vector<std::string> names =
      name.empty() ? std::vector<std::string>{"g++-12", "g++", "clang++-19", "clang++"}
                   : std::vector<std::string>{name};
  for (const std::string& candidate : names) {
    const std::string found = find_program(candidate);
    if (found.empty())
      continue;
    KW_TRY(Compiler c, identify(found, candidate, memory_folder));
    known.emplace(name, c);
    return c;
  }
  return fail(ErrorKind::not_found,
              name.empty()
                  ? "no C++ compiler found: neither g++-12, g++, clang++-19 nor clang++ is "
                    "on PATH"
                  : fmt::format("the compiler {} is not on PATH", name),
              "install one, e.g. `apt-get install g++-12`");
}

bool Compiler::has_library(const std::string& file) const {
  return ask(path, {"-print-file-name=" + file})
      .starts_with('/'); // unknown ones come back as asked
}

} // namespace kw
