// SPDX-License-Identifier: Apache-2.0
#include "compile/precompiled.hpp"

#include "base/hash.hpp"
#include "compile/source_tokens.hpp"
#include "os/files.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace kw {
namespace {

// Parse time above about 40 ms (g++-12, measured one by one), or a family that contains such one.
constexpr std::array heavy{"algorithm",   "array",  "cmath",   "complex", "functional",
                           "immintrin.h", "math.h", "memory",  "numeric", "random",
                           "string",      "tuple",  "utility", "vector",  "x86intrin.h"};
// Cheap ones that commonly stand between the heavy ones.
constexpr std::array light{"bit",      "cassert",  "cfloat",   "climits",    "cstddef",  "cstdint",
                           "cstdlib",  "cstring",  "float.h",  "limits",     "limits.h", "stddef.h",
                           "stdint.h", "stdlib.h", "string.h", "type_traits"};

template <class List> bool contains(const List& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

} // namespace

std::vector<std::string> precompilable_headers(const std::vector<SourceFile>& sources) {
  std::set<std::string> found;
  bool any_heavy = false;
  for (const SourceFile& file : sources) {
    if (contains(heavy, file.path) || contains(light, file.path))
      return {};
    bool macro_seen = false;
    const std::vector<SourceToken> tokens = tokenize(file.content);
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
      if (tokens[i].kind != SourceToken::Kind::directive)
        continue;
      const std::string& directive = tokens[i].value;
      if (directive == "define" || directive == "undef")
        macro_seen = true;
      if (directive != "include" || tokens[i + 1].kind != SourceToken::Kind::header)
        continue;
      const std::string& name = tokens[i + 1].value;
      if (!contains(heavy, name) && !contains(light, name))
        continue;
      if (macro_seen)
        return {};
      any_heavy = any_heavy || contains(heavy, name);
      found.insert(name);
    }
  }
  if (!any_heavy)
    return {};
  return {found.begin(), found.end()};
}

std::string PrecompiledHeaders::find_or_make(const std::vector<std::string>& headers,
                                             const Compiler& compiler,
                                             const std::vector<std::string>& flags,
                                             BuildCache& cache, const std::string& scratch,
                                             const WorkerLimits& limits) {
  if (headers.empty() || compiler.clang) // clang's have other options and rules
    return {};
  std::string text;
  for (const std::string& h : headers)
    text += fmt::format("#include <{}>\n", h);
  Digest digest;
  digest.field("precompiled header 1").field(compiler.identity).field(text);
  for (const std::string& flag : flags)
    digest.field(flag);
  const std::string key = digest.hex();
  const auto header_path = [](const CacheEntry& entry) {
    return entry.object_path.substr(0, entry.object_path.size() - std::string_view(".gch").size());
  };

  const std::lock_guard lock(mutex_);
  const std::string expected =
      fmt::format("{}/objects/{}/{}/set.hpp", cache.dir(), key.substr(0, 2), key);
  if (ready_.contains(key) && is_file(expected + ".gch"))
    return expected;
  if (std::optional<CacheEntry> entry = cache.find(key)) {
    ready_.insert(key);
    return header_path(*entry);
  }
  // First sight of this set: only leave a mark, so that a single build pays nothing.
  Digest mark_digest;
  const std::string mark = mark_digest.field("seen").field(key).hex();
  if (!cache.find(mark)) {
    (void)cache.publish(mark, "", "", "seen");
    return {};
  }
  Result<CompileWorker> worker = CompileWorker::prepare({{"set.hpp", text}}, scratch);
  if (!worker)
    return {};
  std::vector<std::string> args = flags;
  const std::string output = join_path(worker->work_dir(), "set.hpp.gch");
  args.insert(args.end(), {"-x", "c++-header", "set.hpp", "-o", output});
  const Result<ChildReport> report = worker->run(compiler, args, {}, limits);
  if (!report || !report->ok())
    return {};
  const Result<std::string> bytes = read_file(output);
  if (!bytes)
    return {};
  const Result<CacheEntry> entry = cache.publish(key, *bytes, "", "set.hpp.gch");
  if (!entry)
    return {};
  ready_.insert(key);
  return header_path(*entry);
}

} // namespace kw
