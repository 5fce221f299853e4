// SPDX-License-Identifier: Apache-2.0
#include "formats/solution_files.hpp"

#include "base/strings.hpp"
#include "formats/exported_entry.hpp"
#include "formats/solution_config.hpp"
#include "formats/solution_json.hpp"
#include "os/files.hpp"

#include <array>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kw {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_source = 4 << 20;
constexpr std::size_t max_sources = 2000;
constexpr std::size_t max_total = 64 << 20;

constexpr std::array<std::string_view, 10> build_outputs{
    ".o", ".a", ".so", ".pyc", ".ptx.o", ".gch", ".pch", ".cubin", ".fatbin", ".d"};

void warn(Issues& issues, const std::string& where, std::string message, std::string remedy = {}) {
  issues.push_back({Severity::warning,
                    {ErrorKind::invalid_input, std::move(message), std::move(remedy), where}});
}

bool hidden(const std::string& path) {
  return path.starts_with('.') || path.find("/.") != std::string::npos ||
         path.find("__pycache__/") != std::string::npos;
}

std::string language_of(const std::string& file) {
  const std::string ending = fs::path(file).extension().string();
  if (ending == ".cu" || ending == ".cuh")
    return "cuda";
  return ending == ".py" ? "python" : "cpp";
}

Result<SourceFile> read_source(const std::string& file, const std::string& path) {
  KW_TRY(std::string content, read_file(file, max_source));
  if (!is_utf8(content))
    return fail(ErrorKind::invalid_input, fmt::format("{} is not UTF-8 text", file),
                "keep binaries out of the folder; sources are text", file);
  return SourceFile{path, std::move(content)};
}

Status add_sources(Solution& s, const std::string& folder, Issues& issues) {
  KW_TRY(const std::vector<TreeEntry> tree, list_tree(folder, max_sources));
  std::size_t total = 0;
  for (const TreeEntry& entry : tree) {
    const std::string file = join_path(folder, entry.path);
    const bool output = std::ranges::any_of(
        build_outputs, [&](std::string_view e) { return entry.path.ends_with(e); });
    if (hidden(entry.path) || entry.path == "solution.json" || entry.path == "config.toml")
      continue;
    if (output) {
      warn(issues, file, "left out: looks like a build output", "rename it if it is a source");
      continue;
    }
    KW_TRY(SourceFile source, read_source(file, entry.path));
    if (source.content.empty()) {
      warn(issues, file, "left out: the format does not allow empty sources",
           "put a comment into it");
      continue;
    }
    total += source.content.size();
    if (total > max_total)
      return fail(ErrorKind::invalid_input,
                  fmt::format("the sources below {} exceed {} MiB", folder, max_total >> 20),
                  "name the folder of the solution, not one above it", folder);
    s.sources.push_back(std::move(source));
  }
  if (s.sources.empty())
    return fail(ErrorKind::invalid_input, fmt::format("no source file below {}", folder),
                "name the folder that holds the sources", folder);
  return {};
}

/// What nobody named is the only function that the sources export.
Status infer_entry(Solution& s, const std::string& where) {
  std::vector<std::string> found;
  for (const SourceFile& f : s.sources)
    for (const std::string& name : exported_functions(f.content))
      found.push_back(f.path + "::" + name);
  if (found.size() == 1) {
    s.spec.entry_point = found[0];
    return {};
  }
  return fail(
      ErrorKind::invalid_input,
      found.empty()
          ? "the solution names no entry point, and its sources define no extern \"C\" function"
          : fmt::format("the solution names no entry point, and its sources define several extern "
                        "\"C\" functions: {}",
                        fmt::join(found, ", ")),
      "name the entry with --entry, or as entry_point = \"file::function\" in config.toml", where);
}

/// A bare function name belongs to the only file, or to the only one that mentions it.
Status complete_entry(Solution& s, const std::string& where) {
  std::string& entry = s.spec.entry_point;
  if (entry.find("::") != std::string::npos)
    return {};
  if (entry.empty())
    return infer_entry(s, where);
  std::vector<std::string> holders;
  for (const SourceFile& f : s.sources)
    if (s.sources.size() == 1 || f.content.find(entry) != std::string::npos)
      holders.push_back(f.path);
  if (holders.size() != 1)
    return fail(ErrorKind::invalid_input,
                holders.empty()
                    ? fmt::format("no source mentions `{}`", entry)
                    : fmt::format("`{}` appears in {}", entry, fmt::join(holders, ", ")),
                fmt::format("give the entry point as \"file::{}\"", entry), where);
  entry = holders[0] + "::" + entry;
  return {};
}

} // namespace

Result<Solution> pack_solution(const std::string& path, const PackOptions& options,
                               Issues& issues) {
  Solution s;
  s.file = path;
  SolutionConfig config;
  if (is_file(path)) {
    KW_TRY(SourceFile source, read_source(path, base_name(path)));
    s.sources.push_back(std::move(source));
  } else if (is_dir(path)) {
    const std::string toml = join_path(path, "config.toml");
    if (is_file(toml)) {
      KW_TRY(config, read_solution_config(toml, issues));
    }
    const std::string inner = join_path(path, "solution");
    const std::string folder = is_file(toml) && is_dir(inner) ? inner : path;
    KW_CHECK(add_sources(s, folder, issues));
  } else {
    std::error_code ignored; // a link in a circle is neither
    return fail(ErrorKind::not_found,
                fmt::format("{} {}", path,
                            fs::exists(fs::symlink_status(path, ignored))
                                ? "is neither a file nor a folder"
                                : "does not exist"),
                "name a source file, a folder or a solution.json", path);
  }
  const auto pick = [](const std::string& first, const std::string& second, std::string third) {
    return !first.empty() ? first : !second.empty() ? second : std::move(third);
  };
  s.name = pick(options.name, config.name,
                fs::path(fs::path(path).lexically_normal() / "").parent_path().stem().string());
  s.definition = pick(options.definition, config.definition, "");
  if (s.definition.empty())
    return fail(
        ErrorKind::invalid_input, "the solution names no definition",
        "name it with -d, or in config.toml; `kernwright check --list` shows the definitions",
        path);
  s.author = pick(options.author, config.author, "unknown");
  s.description = config.description;
  s.spec.entry_point = pick(options.entry_point, config.entry_point, "");
  KW_CHECK(complete_entry(s, path));
  s.spec.language = pick(options.language, config.language, language_of(s.spec.entry_file()));
  if (const std::string binding = pick(options.binding, config.binding, ""); !binding.empty())
    s.spec.binding = binding;
  s.spec.destination_passing_style =
      options.destination_passing_style.value_or(config.destination_passing_style.value_or(true));
  if (!config.target_hardware.empty())
    s.spec.target_hardware = config.target_hardware;
  else if (s.spec.language != "cpp")
    s.spec.target_hardware = {"cuda"};
  s.spec.dependencies = config.dependencies;
  KW_CHECK(check_solution(s));
  return s;
}

Result<Solution> read_solution(const std::string& path, const PackOptions& options,
                               Issues& issues) {
  if (!path.ends_with(".json"))
    return pack_solution(path, options, issues);
  KW_TRY(const std::string text, read_file(path));
  if (auto s = decode_solution(text, path, issues))
    return std::move(*s);
  for (Issue& i : issues)
    if (i.severity == Severity::error)
      return fail(i.error);
  return fail(ErrorKind::invalid_input, fmt::format("{} is no solution", path), {}, path);
}

Status unpack_solution(const Solution& solution, const std::string& folder) {
  KW_CHECK(check_solution(solution));
  KW_CHECK(make_dirs(folder));
  const auto refuse = [&](const std::string& path, const char* what) {
    return fail(
        ErrorKind::infrastructure,
        fmt::format("cannot write {}: {} ({})", path, what, std::generic_category().message(errno)),
        "unpack into an empty folder you can write to", join_path(folder, path));
  };
  for (const SourceFile& f : solution.sources) {
    // One component at a time and never through a link, so that nothing lands outside, whatever
    // was in the folder before.
    int at = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (at < 0)
      return refuse(f.path, "no such folder");
    std::size_t start = 0;
    for (std::size_t slash = f.path.find('/'); slash != std::string::npos;
         slash = f.path.find('/', start)) {
      const std::string part = f.path.substr(start, slash - start);
      start = slash + 1;
      if (part.empty() || part == ".")
        continue;
      ::mkdirat(at, part.c_str(), 0755);
      const int next = ::openat(at, part.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      ::close(at);
      if (next < 0)
        return refuse(f.path, "a folder on the way is no folder");
      at = next;
    }
    const int fd = ::openat(at, f.path.c_str() + start,
                            O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    const int saved = errno;
    ::close(at);
    errno = saved;
    if (fd < 0)
      return refuse(f.path, errno == EEXIST ? "it exists" : "not possible");
    const Status written = write_all(fd, f.content, f.path);
    ::close(fd);
    KW_CHECK(written);
  }
  return {};
}

} // namespace kw
