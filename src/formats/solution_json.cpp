// SPDX-License-Identifier: Apache-2.0
#include "formats/solution_json.hpp"

#include "base/strings.hpp"
#include "formats/decoding.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>

namespace kw {
namespace {

const std::vector<std::string> solution_keys{"name", "definition", "author",
                                             "spec", "sources",    "description"};
const std::vector<std::string> spec_keys{"language",     "target_hardware",           "entry_point",
                                         "dependencies", "destination_passing_style", "binding",
                                         "x_kernwright"};
const std::vector<std::string> languages{"python", "triton", "cpp", "cuda", "tilelang"};
const std::vector<std::string> bindings{"tvm-ffi", "torch", "kernwright"};
constexpr std::string_view own_binding = "kernwright";

bool is_one_of(const std::string& word, const std::vector<std::string>& words) {
  return std::ranges::find(words, word) != words.end();
}

/// As upstream: relative and without "..". "./k.cpp" is fine; what names no file is not.
bool is_source_path(std::string_view path) {
  if (path.empty() || path.front() == '/' || path.find('\0') != std::string_view::npos)
    return false;
  for (std::size_t start = 0; start <= path.size();) {
    const std::size_t end = std::min(path.find('/', start), path.size());
    const std::string_view part = path.substr(start, end - start);
    const bool last = end == path.size();
    if (part == ".." || (last && (part.empty() || part == ".")))
      return false;
    start = end + 1;
  }
  return true;
}

std::size_t separators(const std::string& entry_point) {
  std::size_t n = 0;
  for (std::size_t at = entry_point.find("::"); at != std::string::npos;
       at = entry_point.find("::", at + 2))
    ++n;
  return n;
}

std::string entry_fault(const std::string& entry_point) {
  if (separators(entry_point) != 1)
    return fmt::format("the entry point `{}` must be \"file::function\"", entry_point);
  if (entry_point.starts_with("::") || entry_point.ends_with("::"))
    return fmt::format("the entry point `{}` lacks its file or its function", entry_point);
  return {};
}

BuildSpec decode_spec(Decoding& decoding, const Json& j) {
  BuildSpec spec;
  ObjectReader r(j, decoding.source(), "/spec", decoding.errors());
  spec.language = r.string("language");
  if (!spec.language.empty() && !is_one_of(spec.language, languages))
    r.error("language", fmt::format("unknown language `{}`", spec.language),
            fmt::format("known: {}", fmt::join(languages, " ")));
  if (const Json* hardware = r.array("target_hardware")) {
    spec.target_hardware = r.strings_or_empty("target_hardware");
    if (hardware->empty())
      r.error("target_hardware", "`target_hardware` must name at least one target",
              "e.g. [\"cpu\"]");
  }
  spec.entry_point = r.string("entry_point");
  if (const std::string fault = spec.entry_point.empty() ? "" : entry_fault(spec.entry_point);
      !fault.empty())
    r.error("entry_point", fault, "e.g. \"kernel.cpp::run\"");
  spec.dependencies = r.strings_or_empty("dependencies");
  decoding.warn_null(r, "dependencies");
  spec.destination_passing_style = r.boolean_or("destination_passing_style", true);
  decoding.warn_null(r, "destination_passing_style");
  if (std::string binding = r.string_or("binding", ""); !binding.empty()) {
    if (!is_one_of(binding, bindings))
      r.error("binding", fmt::format("unknown binding `{}`", binding),
              fmt::format("known: {}", fmt::join(bindings, " ")));
    spec.binding = std::move(binding);
  }
  if (const Json* ext = r.object_or_null("x_kernwright")) {
    ObjectReader e(*ext, decoding.source(), "/spec/x_kernwright", decoding.errors());
    if (const std::string binding = e.string_or("binding", ""); binding == own_binding)
      spec.binding = binding;
    else if (!binding.empty())
      e.error("binding", fmt::format("unknown binding `{}`", binding),
              "only \"kernwright\" stands here");
    decoding.unknown_keys(e, std::vector<std::string>{"binding"});
  }
  spec.unknown = decoding.unknown_keys(r, spec_keys);
  return spec;
}

void decode_sources(Decoding& decoding, const Json& all, std::vector<SourceFile>& out) {
  if (all.empty())
    decoding.error(
        "/sources", "a solution needs at least one source",
        "add an entry {\"path\": ..., \"content\": ...}, or let `kernwright pack` write the file");
  std::set<std::string> seen;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string pointer = fmt::format("/sources/{}", i);
    if (!all[i].is_object()) {
      decoding.error(pointer, "a source must be an object with `path` and `content`");
      continue;
    }
    ObjectReader r(all[i], decoding.source(), pointer, decoding.errors());
    SourceFile f;
    f.path = r.string("path");
    f.content = r.string("content");
    if (!f.path.empty() && !is_source_path(f.path))
      r.error("path", fmt::format("the source path `{}` leaves the solution", f.path),
              "use a relative path without `..`");
    if (!f.path.empty() && !seen.insert(f.path).second)
      r.error("path", fmt::format("two sources have the path `{}`", f.path));
    f.unknown = decoding.unknown_keys(r, std::vector<std::string>{"path", "content"});
    out.push_back(std::move(f));
  }
}

} // namespace

std::optional<Solution> decode_solution(std::string_view text, const std::string& file,
                                        Issues& issues) {
  Decoding decoding({.file = file, .text = text}, issues);
  const Json j = parse_object(decoding);
  if (!j.is_object()) {
    decoding.finish();
    return std::nullopt;
  }
  Solution s;
  s.file = file;
  ObjectReader r(j, decoding.source(), "", decoding.errors());
  s.name = r.string("name");
  s.definition = r.string("definition");
  s.author = r.string("author");
  s.description = r.string_or("description", "");
  if (const Json* spec = r.object("spec"))
    s.spec = decode_spec(decoding, *spec);
  if (const Json* sources = r.array("sources"))
    decode_sources(decoding, *sources, s.sources);
  if (!decoding.failed()) {
    std::vector<std::string> paths;
    for (const SourceFile& f : s.sources)
      paths.push_back(f.path);
    if (!is_one_of(s.spec.entry_file(), paths)) {
      const std::string meant = nearest_name(s.spec.entry_file(), paths);
      decoding.error(
          "/spec/entry_point",
          fmt::format("the entry file `{}` is not among the sources", s.spec.entry_file()),
          meant.empty() ? fmt::format("sources: {}", fmt::join(paths, " "))
                        : fmt::format("did you mean `{}`?", meant));
    }
  }
  s.unknown = decoding.unknown_keys(r, solution_keys);
  return decoding.finish() ? std::optional(std::move(s)) : std::nullopt;
}

std::string encode_solution(const Solution& s) {
  Json j = Json::object();
  j["name"] = s.name;
  j["definition"] = s.definition;
  j["author"] = s.author;
  if (!s.description.empty())
    j["description"] = s.description;
  Json& spec = j["spec"] = Json::object();
  spec["language"] = s.spec.language;
  spec["target_hardware"] = s.spec.target_hardware;
  spec["entry_point"] = s.spec.entry_point;
  spec["dependencies"] = s.spec.dependencies;
  spec["destination_passing_style"] = s.spec.destination_passing_style;
  const bool own = s.spec.binding == own_binding;
  spec["binding"] = s.spec.binding && !own ? Json(*s.spec.binding) : Json(nullptr);
  if (own)
    spec["x_kernwright"] = {{"binding", *s.spec.binding}};
  merge_unknown(spec, s.spec.unknown);
  j["sources"] = Json::array();
  for (const SourceFile& f : s.sources) {
    Json& source = j["sources"].emplace_back(Json::object());
    source["path"] = f.path;
    source["content"] = f.content;
    merge_unknown(source, f.unknown);
  }
  merge_unknown(j, s.unknown);
  return dump_json(j, 2) + "\n";
}

Status check_solution(const Solution& s) {
  const auto refuse = [&](std::string why, std::string remedy = {}) {
    return fail(ErrorKind::invalid_input, std::move(why), std::move(remedy), s.file);
  };
  if (s.name.empty() || s.definition.empty() || s.author.empty())
    return refuse("a solution needs a name, a definition and an author");
  if (!is_one_of(s.spec.language, languages))
    return refuse(fmt::format("unknown language `{}`", s.spec.language),
                  fmt::format("known: {}", fmt::join(languages, " ")));
  if (s.spec.binding && !is_one_of(*s.spec.binding, bindings))
    return refuse(fmt::format("unknown binding `{}`", *s.spec.binding),
                  fmt::format("known: {}", fmt::join(bindings, " ")));
  if (s.spec.target_hardware.empty())
    return refuse("`target_hardware` must name at least one target", "e.g. [\"cpu\"]");
  if (const std::string fault = entry_fault(s.spec.entry_point); !fault.empty())
    return refuse(fault, "e.g. \"kernel.cpp::run\"");
  std::set<std::string> seen;
  for (const SourceFile& f : s.sources) {
    if (!is_source_path(f.path))
      return refuse(fmt::format("the source path `{}` leaves the solution", f.path),
                    "use a relative path without `..`");
    if (!seen.insert(f.path).second)
      return refuse(fmt::format("two sources have the path `{}`", f.path));
    if (f.content.empty())
      return refuse(
          fmt::format("the source `{}` is empty, which the format does not allow", f.path),
          "put a comment into it, or leave it out");
    if (!is_utf8(f.content) || !is_utf8(f.path))
      return refuse(fmt::format("the source `{}` is not UTF-8 text", f.path),
                    "save it as UTF-8; binaries cannot be sources");
  }
  if (!seen.contains(s.spec.entry_file()))
    return refuse(fmt::format("the entry file `{}` is not among the sources", s.spec.entry_file()));
  return {};
}

} // namespace kw
