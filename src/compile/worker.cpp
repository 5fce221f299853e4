// SPDX-License-Identifier: Apache-2.0
#include "compile/worker.hpp"

#include "os/files.hpp"
#include "os/system_error.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <set>
#include <sys/stat.h>

namespace kw {
namespace {

/// Plain write: the folder is new and private, nothing needs to survive a crash.
Status write_new(const std::string& path, std::string_view content) {
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444));
  if (!fd)
    return fail_errno("write", path);
  return write_all(fd.get(), content, path);
}

/// Whether what one build may write still fits there. The words of the compiler are the candidate's
/// to choose (`#error`); this is not. Twice the limit, as the compiler has removed its own by now.
bool has_room(const std::string& folder) {
  constexpr off_t room = off_t{128} << 20;
  const std::string path = join_path(folder, "room");
  const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  const bool fits = fd && ::posix_fallocate(fd.get(), 0, room) == 0;
  ::unlink(path.c_str());
  return fits;
}

bool contains(const ChildReport& report, std::string_view text) {
  return report.err.find(text) != std::string::npos;
}

} // namespace

Result<CompileWorker> CompileWorker::prepare(const std::vector<SourceFile>& sources,
                                             const std::string& parent) {
  KW_TRY(TempDir scratch, TempDir::create("kernwright-build", parent));
  CompileWorker worker(std::move(scratch));
  for (const std::string& folder : {worker.source_dir(), worker.work_dir()})
    if (::mkdir(folder.c_str(), 0700) != 0)
      return fail_errno("create folder", folder);
  std::set<std::string> made;
  for (const SourceFile& file : sources) {
    const std::string path = join_path(worker.source_dir(), file.path);
    if (file.path.find('/') != std::string::npos && made.insert(parent_path(path)).second)
      KW_CHECK(make_dirs(parent_path(path)));
    KW_CHECK(write_new(path, file.content));
  }
  return worker;
}

Result<std::string> CompileWorker::add_work_file(const std::string& name,
                                                 std::string_view content) {
  std::string path = join_path(work_dir(), name);
  ::unlink(path.c_str()); // a second run in the same folder
  KW_CHECK(write_new(path, content));
  return path;
}

Result<ChildReport> CompileWorker::run(const Compiler& compiler,
                                       const std::vector<std::string>& args,
                                       const std::vector<std::string>& read_only,
                                       const WorkerLimits& limits) {
  CompileSandbox rules;
  rules.read_only = read_only;
  rules.read_only.push_back(source_dir());
  rules.temp_dir = work_dir();
  rules.cpu_seconds = limits.cpu_seconds;
  rules.deny = limits.deny;
  KW_TRY(const PreparedSandbox sandbox, PreparedSandbox::prepare(rules));

  ChildSpec spec;
  spec.program = compiler.path;
  spec.args = args;
  // A fixed date makes __DATE__ and __TIME__, and with them the object, reproducible.
  spec.environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C", "TMPDIR=" + work_dir(),
                      "SOURCE_DATE_EPOCH=1"};
  spec.cwd = source_dir();
  spec.timeout = limits.wall;
  spec.max_output = std::size_t{512} << 10;
  spec.prepare = sandbox.hook();
  spec.cancel = limits.cancel;
  KW_TRY(ChildReport report, run_child(spec));
  if (report.cancelled)
    return fail(ErrorKind::interrupted, "the build was stopped on request");
  if (!report.ok() &&
      (contains(report, "No space left on device") || contains(report, "Disk quota exceeded")) &&
      !has_room(work_dir()))
    return fail(system_error(ENOSPC, "compile in", scratch_.path()));
  return report;
}

std::string failure_kind_of(const ChildReport& report, const WorkerLimits& limits) {
  if (report.ok())
    return {};
  // The limit kills cc1plus, not the driver: the evidence is the time it used.
  const double cpu_ms = report.user_ms + report.system_ms;
  if (report.timed_out || report.signal == SIGXCPU || contains(report, "CPU time limit exceeded") ||
      cpu_ms >= 0.9e3 * static_cast<double>(limits.cpu_seconds))
    return "timeout";
  if (contains(report, "out of memory") || contains(report, "virtual memory exhausted") ||
      contains(report, "Cannot allocate memory") || contains(report, "std::bad_alloc") ||
      contains(report, "File size limit exceeded") || contains(report, "File too large") ||
      contains(report, "Killed signal terminated"))
    return "memory";
  return "compile";
}

} // namespace kw
