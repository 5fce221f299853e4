// SPDX-License-Identifier: Apache-2.0
#include "formats/definition_json.hpp"
#include "formats/solution_files.hpp"

#include "base/hash.hpp"

namespace kw {
namespace {

/// As upstream sees the file we write: our own binding is a null there.
std::string upstream_binding(const BuildSpec& spec) {
  return spec.binding && *spec.binding != "kernwright" ? *spec.binding : std::string{};
}

} // namespace

std::string fib_hash(const Solution& s) {
  std::string all = s.definition + s.spec.language + s.spec.entry_point + upstream_binding(s.spec);
  for (const std::string& d : s.spec.dependencies)
    all += d;
  for (const SourceFile& f : s.sources)
    all += f.path + f.content;
  return sha1_hex(all);
}

std::string full_hash(const Solution& s, const Definition& definition, const BuildKey& build) {
  Digest d;
  d.field("kernwright.solution/1");
  d.field(definition.name).field(definition_hash(definition));
  d.field(s.spec.language).field(s.spec.entry_point);
  d.field(s.spec.binding.has_value() ? "bound" : "default").field(s.spec.binding.value_or(""));
  d.field(s.spec.destination_passing_style ? "dps" : "value");
  const auto list = [&d](const auto& items, const auto& each) {
    d.field(std::to_string(items.size())); // keeps a neighbouring list from sliding in
    for (const auto& item : items)
      each(item);
  };
  const auto text = [&d](const std::string& item) { d.field(item); };
  list(s.spec.target_hardware, text);
  list(s.spec.dependencies, text);
  d.field(s.spec.unknown); // build_commands of old data and the like
  list(s.sources, [&d](const SourceFile& f) { d.field(f.path).field(f.content); });
  d.field(build.compiler).field(build.version).field(build.flags).field(build.arch);
  return d.hex();
}

} // namespace kw
