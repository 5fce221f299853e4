// SPDX-License-Identifier: Apache-2.0
// Source rules, the search for symbol uses and the compiler-output parser on arbitrary bytes.
#include "compile/diagnostics.hpp"
#include "compile/precompiled.hpp"
#include "compile/source_rules.hpp"
#include "compile/stored_diagnostics.hpp"
#include "compile/symbol_advice.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::vector<kw::SourceFile> sources{{"k.cpp", text}};
  const auto lines = 1 + std::count(text.begin(), text.end(), '\n');
  for (const kw::Diagnostic& d : kw::check_source_rules(sources))
    if (d.line < 1 || d.line > lines)
      std::abort();
  (void)kw::check_source_paths({{text, ""}});
  (void)kw::find_use("malloc", sources);
  (void)kw::find_use(text, sources);
  (void)kw::precompilable_headers(sources);
  const kw::CompilerMessages m = kw::parse_compiler_output(text, sources, {{"/tmp/", ""}});
  if (kw::load_diagnostics(kw::store_diagnostics(m.diagnostics)).size() != m.diagnostics.size())
    std::abort();
  return 0;
}
