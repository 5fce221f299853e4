// SPDX-License-Identifier: Apache-2.0
#include "judge/fib_compat.hpp"

#include "tensor/convert.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace kw {

FibRule fib_rule(const Definition& definition) {
  FibRule rule;
  const bool sparse_attention =
      definition.name == "dsa_sparse_attention_h16_ckv512_kpe64_topk2048_ps1" ||
      definition.name == "dsa_sparse_attention_h16_ckv512_kpe64_topk2048_ps64";
  if (definition.op_type == "sampling")
    rule.unknown = "upstream judges sampling by the distribution of many draws";
  else if (definition.op_type.find("dsa_topk_indexer") != std::string::npos ||
           definition.name.find("dsa_topk_indexer") != std::string::npos)
    rule.unknown = "upstream judges top-k indices by the scores they select";
  if (definition.name.find("moe_fp8_block_scale") != std::string::npos)
    rule.evaluator = "lowbit", rule.required_ratio = 0.95;
  else if (sparse_attention)
    rule.evaluator = "dsa_sparse_attention", rule.finite = false;
  if (definition.op_type == "moe" || definition.op_type == "lowbit")
    rule.required_ratio = 0.95;
  return rule;
}

FibOutput fib_compare(DType dtype, std::span<const std::byte> got, std::span<const double> want,
                      const FibRule& rule) {
  constexpr std::size_t block = 512; // even: two float4 share a byte
  std::array<double, block> have{}, should{};
  std::array<std::byte, block * 8> stored{};
  FibOutput out;
  std::size_t exceeding = 0;
  for (std::size_t at = 0; at < want.size(); at += block) {
    const std::size_t n = std::min(block, want.size() - at);
    to_double(dtype, got.subspan(byte_size(dtype, static_cast<std::int64_t>(at))),
              std::span(have).first(n));
    from_double(dtype, want.subspan(at, n), stored);
    to_double(dtype, stored, std::span(should).first(n));
    for (std::size_t i = 0; i < n; ++i) {
      const double error = std::fabs(have[i] - should[i]);
      const double relative = error / (std::fabs(should[i]) + 1e-8);
      exceeding += error > rule.atol && relative > rule.rtol ? 1 : 0;
      out.max_abs = std::max(out.max_abs, error);
      out.max_rel = std::max(out.max_rel, relative);
      out.non_finite = out.non_finite || !std::isfinite(have[i]);
    }
  }
  if (!want.empty())
    out.ratio = 1 - static_cast<double>(exceeding) / static_cast<double>(want.size());
  out.passed = out.ratio >= rule.required_ratio && !(rule.finite && out.non_finite);
  return out;
}

FibCompat open_fib(const FibRule& rule) {
  FibCompat fib;
  fib.evaluator = rule.evaluator;
  fib.atol = rule.atol;
  fib.rtol = rule.rtol;
  fib.required_ratio = rule.required_ratio;
  fib.reason =
      rule.unknown.empty() ? "no trial with inputs like upstream's was seen" : rule.unknown;
  return fib;
}

void count_fib(FibCompat& fib, const std::string& uuid, std::span<const FibOutput> outputs) {
  auto at = std::find_if(fib.workloads.begin(), fib.workloads.end(),
                         [&](const FibWorkload& w) { return w.uuid == uuid; });
  if (at == fib.workloads.end())
    at = fib.workloads.insert(at, {.uuid = uuid});
  ++at->trials;
  bool passed = true;
  for (const FibOutput& o : outputs) {
    passed = passed && o.passed;
    at->least_ratio = std::min(at->least_ratio, o.ratio);
    at->max_abs = std::max(at->max_abs, o.max_abs);
    at->max_rel = std::max(at->max_rel, o.max_rel);
    fib.non_finite = fib.non_finite || o.non_finite;
  }
  at->matched += passed ? 1 : 0;
  if (fib.status != "INCORRECT_NUMERICAL")
    fib.status = passed ? "PASSED" : "INCORRECT_NUMERICAL";
  fib.reason.clear();
}

} // namespace kw
