// SPDX-License-Identifier: Apache-2.0
// Any text: a syntax error, or an expression that evaluates or says why not.
#include "base/expr.hpp"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto e = kw::Expr::parse({reinterpret_cast<const char*>(data), size});
  if (!e) {
    KW_ASSERT(!e.error().message.empty());
    return 0;
  }
  kw::Bindings bound;
  double next = -1;
  for (const std::string& name : e->names())
    bound[name] = next += 1;
  const auto all = e->eval(bound);
  KW_ASSERT(all || !all.error().message.empty());
  (void)e->eval({});
  KW_ASSERT(kw::Expr::parse(e->text()));
  return 0;
}
