// SPDX-License-Identifier: Apache-2.0
// rules -> key -> cache -> worker -> messages -> cache
#include "compile/build.hpp"

#include "base/hash.hpp"
#include "base/strings.hpp"
#include "compile/cache.hpp"
#include "compile/diagnostics.hpp"
#include "compile/flags.hpp"
#include "compile/precompiled.hpp"
#include "compile/source_rules.hpp"
#include "compile/stored_diagnostics.hpp"
#include "compile/worker.hpp"
#include "os/cpu.hpp"
#include "os/files.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <optional>

namespace kw {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::size_t max_object = std::size_t{64} << 20;
constexpr std::size_t max_sources = std::size_t{8} << 20; ///< bytes of one solution
constexpr std::size_t max_log = std::size_t{8} << 10;

double ms_since(Steady::time_point began) {
  return std::chrono::duration<double, std::milli>(Steady::now() - began).count();
}

/// Judged sources, with the rules and the link of candidates.
bool of_candidate(BuildMode mode) {
  return mode == BuildMode::candidate || mode == BuildMode::sanitized;
}

const char* mode_name(BuildMode mode) {
  switch (mode) {
  case BuildMode::candidate:
    return "candidate";
  case BuildMode::trusted:
    return "trusted";
  case BuildMode::sanitized:
    return "sanitized";
  case BuildMode::driver:
    return "driver";
  }
  return "";
}

bool is_translation_unit(const std::string& path) {
  for (const char* ending : {".cpp", ".cc", ".cxx", ".c++", ".C", ".c"})
    if (path.ends_with(ending))
      return true;
  return false;
}

Diagnostic error_about(const std::string& file, std::string code, std::string message) {
  Diagnostic d;
  d.severity = "error";
  d.file = file;
  d.code = std::move(code);
  d.message = std::move(message);
  return d;
}

/// A request our own code got wrong, or a user's definition did.
Status check_request(const BuildRequest& r) {
  if (of_candidate(r.mode) && !is_identifier(r.entry))
    return fail(ErrorKind::invalid_input, fmt::format("\"{}\" is no C function name", r.entry),
                "give the entry point as \"file.cpp::function\"");
  for (const std::string& d : r.defines) {
    const std::size_t equals = std::min(d.find('='), d.size());
    if (!is_identifier(std::string_view(d).substr(0, equals)) ||
        d.find_first_of("\n\0", 0, 2) != std::string::npos)
      return fail(ErrorKind::invalid_input, fmt::format("\"{}\" is no macro definition", d),
                  "use NAME=value with letters, digits and _");
  }
  if (of_candidate(r.mode) && !r.extra_link.empty())
    return fail(ErrorKind::invalid_input, "candidates link no libraries",
                "build libraries' callers in trusted mode, as peers");
  return {};
}

/// Everything wrong with the sources before any compiler runs.
std::vector<Diagnostic> check_sources(const BuildRequest& r) {
  std::vector<Diagnostic> out = check_source_paths(r.sources);
  std::size_t bytes = 0;
  bool any = false, entry_file = r.entry_file.empty();
  for (const SourceFile& f : r.sources) {
    bytes += f.content.size();
    any = any || is_translation_unit(f.path);
    entry_file = entry_file || f.path == r.entry_file;
  }
  if (bytes > max_sources)
    out.push_back(
        error_about("", "forbidden-size",
                    fmt::format("the sources hold {} bytes; the limit is {}", bytes, max_sources)));
  if (!any)
    out.push_back(error_about("", "no-source", "the solution has no C++ source; name one *.cpp"));
  if (!entry_file)
    out.push_back(
        error_about(r.entry_file, "no-entry-file",
                    fmt::format("the entry file {} is not among the sources", r.entry_file)));
  if (out.empty() && of_candidate(r.mode))
    out = check_source_rules(r.sources);
  return out;
}

void append(std::vector<std::string>& to, const std::vector<std::string>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

bool asks_for_remarks(const BuildRequest& r) {
  return std::ranges::any_of(r.more_flags,
                             [](const std::string& f) { return f.starts_with("-Rpass"); });
}

std::string remarks_of(std::string_view log, const PathRedactions& redactions) {
  std::string out;
  for (; !log.empty(); log.remove_prefix(std::min(log.find('\n'), log.size() - 1) + 1)) {
    std::string line(log.substr(0, log.find('\n')));
    if (line.find(": remark: ") == std::string::npos)
      continue;
    for (const auto& [from, to] : redactions)
      if (line.starts_with(from))
        line.replace(0, from.size(), to);
    out += line + "\n";
  }
  return out;
}

std::string link_option(const std::string& library) {
  return library.starts_with('-') ? library : "-l" + library;
}

} // namespace

struct Builder::State {
  BuilderOptions options;
  Compiler compiler;
  std::optional<BuildCache> cache;
  std::optional<TempDir> own_objects; ///< where objects live when there is no usable cache
  std::string cache_trouble;          ///< why not
  PrecompiledHeaders precompiled;

  [[nodiscard]] static std::vector<std::string> compile_flags(const BuildRequest& r) {
    switch (r.mode) {
    case BuildMode::candidate: {
      std::vector<std::string> flags = candidate_compile_flags(cpu_info());
      append(flags, r.more_flags);
      return flags;
    }
    case BuildMode::trusted:
      return trusted_flags(cpu_info());
    case BuildMode::sanitized:
      return sanitized_compile_flags(cpu_info(), r.sanitizers);
    case BuildMode::driver:
      return side_driver_flags(r.sanitizers);
    }
    return {};
  }
  [[nodiscard]] std::vector<std::string> link_flags(const BuildRequest& r) const {
    std::vector<std::string> out;
    if (of_candidate(r.mode))
      return candidate_link_flags(compiler);
    for (const std::string& library : r.extra_link)
      out.push_back(link_option(library));
    return out;
  }

  Result<std::string> key_of(const BuildRequest& r) const;
  Result<BuildOutcome> compile(const BuildRequest& r, BuildOutcome out);
  Result<ChildReport> run(const BuildRequest& r, CompileWorker& worker, const WorkerLimits& limits,
                          const std::string& precompiled_header);
  Status keep(BuildOutcome& out, const std::string& bytes);
};

Result<std::string> Builder::State::key_of(const BuildRequest& r) const {
  Digest d;
  d.field("build 1").field(compiler.identity).field(cpu_info().arch);
  d.field(mode_name(r.mode)).field(r.entry);
  const auto list = [&d](const std::vector<std::string>& items) {
    d.field(std::to_string(items.size()));
    for (const std::string& s : items)
      d.field(s);
  };
  list(compile_flags(r));
  list(link_flags(r));
  list(r.defines);
  // Order decides which definition the linker sees first, so it is part of the identity.
  d.field(std::to_string(r.sources.size()));
  for (const SourceFile& f : r.sources)
    d.field(f.path).field(f.content);
  for (const std::string& dir : r.include_dirs) {
    KW_TRY(const std::vector<TreeEntry> tree, list_tree(dir, 10'000));
    d.field(std::to_string(tree.size()));
    for (const TreeEntry& entry : tree) {
      KW_TRY(const std::string text, read_file(join_path(dir, entry.path)));
      d.field(entry.path).field(text);
    }
  }
  return d.hex();
}

Result<ChildReport> Builder::State::run(const BuildRequest& r, CompileWorker& worker,
                                        const WorkerLimits& limits,
                                        const std::string& precompiled_header) {
  std::vector<std::string> args = compile_flags(r);
  if (r.mode == BuildMode::sanitized) // reports name the solution's own files
    args.push_back(fmt::format("-ffile-prefix-map={}=.", worker.source_dir()));
  std::vector<std::string> readable = r.include_dirs;
  if (!precompiled_header.empty()) {
    append(args, {"-include", precompiled_header, "-Winvalid-pch"});
    readable.push_back(parent_path(precompiled_header));
  }
  append(args, {"-pipe", compiler.clang ? "-fno-caret-diagnostics" : "-fdiagnostics-format=json",
                "-I", "."});
  for (const std::string& dir : r.include_dirs)
    append(args, {"-I", dir});
  for (const std::string& define : r.defines)
    args.push_back("-D" + define);
  append(args, {"-o", join_path(worker.work_dir(), "object.so")});
  for (const SourceFile& f : r.sources)
    if (is_translation_unit(f.path))
      append(args, {"-x", "c++", f.path});
  append(args, {"-x", "none"});
  append(args, link_flags(r));
  if (of_candidate(r.mode)) {
    KW_TRY(const std::string script, worker.add_work_file("exports", version_script(r.entry)));
    args.push_back("-Wl,--version-script=" + script);
  }
  return worker.run(compiler, args, readable, limits);
}

Result<BuildOutcome> Builder::State::compile(const BuildRequest& r, BuildOutcome out) {
  WorkerLimits limits;
  limits.cpu_seconds = r.cpu_seconds;
  limits.wall = r.wall_limit;
  limits.cancel = r.cancel;
  limits.deny = options.deny;
  KW_TRY(CompileWorker worker, CompileWorker::prepare(r.sources, options.scratch));
  std::string header;
  if (cache && options.use_precompiled_headers && r.sanitizers.empty())
    header = precompiled.find_or_make(precompilable_headers(r.sources), compiler, compile_flags(r),
                                      *cache, options.scratch, limits);
  KW_TRY(ChildReport report, run(r, worker, limits, header));
  out.precompiled_header = !header.empty();
  if (!report.ok() && !header.empty() && failure_kind_of(report, limits) == "compile") {
    // Whatever is said about a kernel must hold without our acceleration.
    KW_TRY(report, run(r, worker, limits, ""));
    out.precompiled_header = false;
  }

  PathRedactions redactions{{worker.source_dir() + "/", ""},
                            {worker.work_dir() + "/", ""},
                            {"/usr/bin/ld.bfd: ", ""},
                            {"/usr/bin/ld: ", ""}};
  for (const std::string& dir : r.include_dirs)
    redactions.emplace_back(dir.ends_with('/') ? dir : dir + "/", "");
  if (cache)
    redactions.emplace_back(cache->dir(), "<cache>");
  out.remarks = remarks_of(report.err, redactions);
  CompilerMessages messages = parse_compiler_output(report.err, r.sources, redactions);
  out.diagnostics = std::move(messages.diagnostics);
  out.raw_log = head_and_tail(std::move(messages.text), max_log);
  out.failure_kind = failure_kind_of(report, limits);
  if (!out.failure_kind.empty()) {
    if (out.failure_kind == "timeout")
      out.diagnostics.insert(
          out.diagnostics.begin(),
          error_about("", "compile-timeout",
                      fmt::format("the compiler was stopped after {:.1f} s ({:.1f} s of processor "
                                  "time; the limit is {} s); look for unbounded template or "
                                  "constexpr recursion and for huge tables",
                                  report.wall_ms / 1e3, (report.user_ms + report.system_ms) / 1e3,
                                  r.cpu_seconds)));
    else if (out.failure_kind == "memory")
      out.diagnostics.insert(out.diagnostics.begin(),
                             error_about("", "compile-memory",
                                         "the compiler ran out of its 4 GiB of memory or 64 MiB of "
                                         "output; look for huge arrays and unrolled loops"));
    else if (out.diagnostics.empty())
      out.diagnostics.push_back(error_about(
          "", "compile", fmt::format("{} ended with {}", compiler.name, report.ending())));
    return out;
  }
  KW_TRY(const std::string bytes, read_file(join_path(worker.work_dir(), "object.so"), max_object));
  KW_CHECK(keep(out, bytes));
  out.ok = true;
  return out;
}

Status Builder::State::keep(BuildOutcome& out, const std::string& bytes) {
  std::string trouble = cache_trouble;
  if (cache) {
    const Result<CacheEntry> entry =
        cache->publish(out.key, bytes, store_diagnostics(out.diagnostics));
    if (entry) {
      out.object_path = entry->object_path;
      out.object_hash = entry->object_hash;
      return {};
    }
    trouble = fmt::format("{}; {}", entry.error().message, entry.error().remedy);
  }
  const std::string path = own_objects->file(out.key + ".so");
  if (!is_file(path))
    KW_CHECK(write_file_atomic(path, bytes, 0444));
  out.object_path = path;
  out.object_hash = sha256_hex(bytes);
  if (!trouble.empty()) {
    Diagnostic note;
    note.severity = "note";
    note.code = "build-cache";
    note.message = "the build is not kept for next time: " + trouble;
    out.diagnostics.push_back(std::move(note));
  }
  return {};
}

Builder::Builder(std::unique_ptr<State> state) : state_(std::move(state)) {}
Builder::~Builder() = default;
Builder::Builder(Builder&&) noexcept = default;
Builder& Builder::operator=(Builder&&) noexcept = default;

Result<Builder> Builder::open(BuilderOptions options) {
  auto state = std::make_unique<State>();
  KW_TRY(state->own_objects, TempDir::create("kernwright-objects", options.scratch));
  if (!options.cache_dir.empty()) {
    // The compiler runs in another folder.
    options.cache_dir = std::filesystem::absolute(options.cache_dir).lexically_normal().string();
    Result<BuildCache> cache = BuildCache::open(options.cache_dir, options.max_cache_bytes);
    if (cache)
      state->cache.emplace(std::move(*cache));
    else
      state->cache_trouble = fmt::format("{}; {}", cache.error().message, cache.error().remedy);
  }
  KW_TRY(state->compiler, probe_compiler(options.compiler, state->cache ? options.cache_dir : ""));
  state->options = std::move(options);
  return Builder(std::move(state));
}

Result<BuildOutcome> Builder::build(const BuildRequest& request) {
  const auto began = Steady::now();
  KW_CHECK(check_request(request));
  BuildOutcome out;
  out.diagnostics = check_sources(request);
  if (!out.diagnostics.empty()) {
    out.failure_kind = "forbidden";
    out.raw_log = head_and_tail(diagnostics_text(out.diagnostics), max_log);
    out.ms = ms_since(began);
    return out;
  }
  KW_TRY(out.key, state_->key_of(request));
  // Remarks are not kept with an object.
  if (state_->cache && !asks_for_remarks(request))
    if (std::optional<CacheEntry> hit = state_->cache->find(out.key)) {
      out.ok = out.cached = true;
      out.object_path = hit->object_path;
      out.object_hash = hit->object_hash;
      out.diagnostics = load_diagnostics(hit->note);
      out.raw_log = head_and_tail(diagnostics_text(out.diagnostics), max_log);
      out.ms = ms_since(began);
      return out;
    }
  KW_TRY(out, state_->compile(request, std::move(out)));
  out.ms = ms_since(began);
  return out;
}

Result<std::string> Builder::disassemble(const std::string& object) {
  Compiler objdump;
  objdump.name = "objdump";
  objdump.path = find_program(objdump.name);
  if (objdump.path.empty())
    return fail(ErrorKind::not_found, "there is no objdump", "apt install binutils");
  KW_TRY(CompileWorker worker, CompileWorker::prepare({}, state_->options.scratch));
  WorkerLimits limits;
  limits.deny = state_->options.deny;
  KW_TRY(ChildReport report,
         worker.run(objdump, {"-dl", "--no-show-raw-insn", object}, {parent_path(object)}, limits));
  if (!report.ok())
    return fail(ErrorKind::infrastructure,
                fmt::format("objdump ended with {}: {}", report.ending(), report.err),
                "the object may be damaged: build it again");
  return std::move(report.out);
}

Result<PipelineTool> Builder::pipeline_tool() const {
  return PipelineTool::find(state_->options.scratch, state_->options.deny);
}

const Compiler& Builder::compiler() const {
  return state_->compiler;
}

std::string Builder::flag_text(BuildMode mode) const {
  std::vector<std::string> flags = State::compile_flags({.mode = mode});
  if (mode == BuildMode::candidate)
    append(flags, candidate_link_flags(state_->compiler));
  return fmt::format("{}", fmt::join(flags, " "));
}

} // namespace kw
