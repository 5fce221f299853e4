# SPDX-License-Identifier: Apache-2.0
"""Tasks that measure nothing must be called INVALID (RH-51), and the shipped ones must not."""
from harness import *

DEGENERATE = {
    # name: (oracle body per row, tolerance, what x is drawn as, words of the answer)
    "independent": ("for (int64_t i = 0; i < n; ++i) y[r * n + i] = 0.5, s[r * n + i] = 1;", '{"eta": 4}', '{"kind": "any"}',
                    ["the constant 0.5 as `y`", "the same `y` in every trial", "`x` taken for zeros", "`b` taken for ones"]),
    "ignored_input": ("for (int64_t i = 0; i < n; ++i) y[r * n + i] = x[r * n + i] * 2.0, s[r * n + i] = 1;", '{"eta": 4}',
                      '{"kind": "any"}', ["`b` taken for zeros: passes the check", "`b` taken for ones: passes the check",
                                          "take `b` out of the contract"]),
    "too_loose": ("for (int64_t i = 0; i < n; ++i) y[r * n + i] = 1.0 * x[r * n + i] * b[i], s[r * n + i] = 1;", '{"rtol": 0.01}',
                  '{"kind": "any"}', ["float32 inputs in 8 significant bits: passes the check", "a plain rtol must lie well below 2^-9"]),
    "void": ("for (int64_t i = 0; i < n; ++i) y[r * n + i] = 1.0 * x[r * n + i] + b[i], s[r * n + i] = 1;", '{"rtol": 0.3}', '{"kind": "any"}',
             ["zeros as `y`: fails by 3.", "10x is asked for", "tighten x_kernwright.tolerance.y"]),
    "identity": ("for (int64_t i = 0; i < n; ++i) y[r * n + i] = x[r * n + i] + 1e-30 * b[i], s[r * n + i] = 1;", '{"rtol": 1e-5}',
                 '{"kind": "uniform", "low": 1, "high": 2}', ["a copy of `x` as `y`: passes the check"]),
    "equal_elements": ("for (int64_t i = 0; i < n; ++i) y[r * n + i] = x[0] + b[0], s[r * n + i] = 1;", '{"eta": 4}', '{"kind": "any"}',
                       ["its mean in every element of `y`", "as many elements as it has different answers"]),
    "unreachable": ("for (int64_t i = 0; i < n; ++i) y[r * n + i] = x[r * n + i] / 3.0 + b[i], s[r * n + i] = 1;", '{"rtol": 1e-12}',
                    '{"kind": "any"}', ["the oracle's own answer, rounded to the output type", "loosen the tolerance"]),
}


# Honest, though their outputs are coarse: a conversion, and one with no tolerance of its own.
HONEST = {
    "to_bfloat16": ("bfloat16", '{"y": {"eta": 4}}'), "to_float8": ("float8_e4m3fn", "{}"), "to_float4": ("float4_e2m1", "{}"),
    "to_float8_e5m2": ("float8_e5m2", "{}"), "to_float16": ("float16", '{"y": {"eta": 4}}'), "to_int8": ("int8", "{}"),
}


def operator(name, oracle, tolerance, x, shape='["rows", "n"]', n=64, dtype="float32"):
    tensors = f'"x": {{"shape": ["rows", "n"], "dtype": "float32"}}, "b": {{"shape": ["n"], "dtype": "float32"}}'
    definition = f"""{{"name": "{name}", "op_type": "{name}",
 "axes": {{"rows": {{"type": "var"}}, "n": {{"type": "const", "value": {n}}}}},
 "inputs": {{{tensors}}}, "outputs": {{"y": {{"shape": {shape}, "dtype": "{dtype}"}}}},
 "reference": "def run(x, b):\\n    raise NotImplementedError\\n",
 "x_kernwright": {{"version": 1, "flops": "rows * n", "oracle": {{"source": "oracle.cpp", "entry": "oracle"}},
  "inputs": {{"x": {x}}}, "tolerance": {tolerance}}}}}"""
    workload = f'{{"definition": "{name}", "workload": {{"uuid": "{name}-4", "axes": {{"rows": 4}}, "inputs": {{}}}}, "solution": null, "evaluation": null}}\n'
    source = ("#include <cstdint>\n"
              'extern "C" int oracle(const float* x, const float* b, double* y, double* s, int64_t rows) {\n'
              f"  constexpr int64_t n = KW_AXIS_n;\n  (void)x, (void)b;\n  for (int64_t r = 0; r < rows; ++r) {{ {oracle} }}\n  return 0;\n}}\n")
    return {f"{name}/{name}.definition.json": definition, f"{name}/{name}.workloads.jsonl": workload, f"{name}/oracle.cpp": source}


class TaskLint(Case):
    def operator(self, *args, **more):
        for name, text in operator(*args, **more).items():
            self.write(name, text)
        return self.dir / args[0]

    def test_degenerate_tasks_are_invalid(self):
        for name, (oracle, tolerance, x, words) in DEGENERATE.items():
            with self.subTest(name):
                folder = self.operator(name, oracle, f'{{"y": {tolerance}}}', x)
                self.run_expecting(HOLDS, "check", folder)  # nothing is wrong with its form
                self.run_expecting(FAILS, "check", "--lint", folder, says=["INVALID", "remedy: ", f"{name}.definition.json", *words])

    def test_a_mean_over_much_of_one_sign_is_a_constant(self):
        mean = "double t = 0; for (int64_t i = 0; i < n; ++i) t += x[r * n + i]; y[r] = t / n + 0 * b[0]; s[r] = 1;"
        folder = self.operator("mean", mean, '{"y": {"rtol": 0.01}}', '{"kind": "uniform", "classes": ["uniform"]}', shape='["rows"]', n=65536)
        found = self.run_expecting(FAILS, "--json", "check", "--lint", folder).json["lint"]
        self.assertEqual([t["word"] for t in found], ["INVALID"])
        nulls = {n["null"]: n for n in found[0]["nulls"]}
        constant = next(n for name, n in nulls.items() if name.startswith("the constant 0.5"))
        self.assertFalse(constant["fails"])
        self.assertLess(constant["margin"], 10)
        self.assertIn("shorter reductions", constant["remedy"])
        self.assertTrue(nulls["zeros as `y`"]["fails"])
        self.assertFalse(nulls["`b` taken for zeros"]["fails"])

    def test_coarse_outputs_are_no_fault(self):
        oracle = "for (int64_t i = 0; i < n; ++i) y[r * n + i] = 2.0 * x[r * n + i] + b[i], s[r * n + i] = 1;"
        for name, (dtype, tolerance) in HONEST.items():
            with self.subTest(name):
                folder = self.operator(name, oracle, tolerance, '{"kind": "any"}', dtype=dtype)
                self.run_expecting(HOLDS, "check", "--lint", folder, says=["VALID"])

    def test_one_fault_in_a_set_is_enough(self):
        self.run_expecting(HOLDS, "init", "op", "good", "--dir", self.dir / "good", says=["check --lint"])
        oracle, tolerance, x, _ = DEGENERATE["independent"]
        self.operator("independent", oracle, f'{{"y": {tolerance}}}', x)
        outcome = self.run_expecting(FAILS, "check", "--lint", self.dir)
        self.assertRegex(outcome.out, r"good +VALID")
        self.assertRegex(outcome.out, r"independent +INVALID")
        self.run_expecting(HOLDS, "--operators", self.dir, "check", "--lint", "good", says=["VALID"])

    def test_shipped_operators_are_valid(self):
        # All of them take ten seconds and are checked where they are changed; the large products are left out here.
        names = ["softmax_f32", "layernorm_f32_h4096", "gemm_f32_n128_k2048", "fused_add_rmsnorm_h4096", "fused_add_rmsnorm_h7168",
                 "swiglu_f32_d14336", "swiglu_bf16_d14336", "rope_neox_h32_kv8_d128", "gdn_decode_qk4_v8_d128_k_last", "topk_f32_k8",
                 "topk_f32_k1", "sample_top_p90_f32", "dsa_sparse_attention_h16_ckv512_kpe64_topk2048_ps64",
                 "dsa_topk_indexer_fp8_h64_d128_topk2048_ps64",
                 "moe_fp8_block_scale_ds_routing_topk8_ng8_kg4_e32_h512_i256"]
        found = self.run_expecting(HOLDS, "--json", "check", "--lint", *names).json["lint"]
        self.assertEqual({t["definition"]: t["word"] for t in found}, {n: "VALID" for n in names})
        for task in found:
            self.assertGreaterEqual(len(task["nulls"]), 8)
            self.assertTrue(all(n["fails"] for n in task["nulls"]))

    def test_out_of_time_is_not_valid(self):
        found = self.run_expecting(FAILS, "check", "--lint", "softmax_f32", "--seconds", "1e-6",
                                   says=["UNDECIDED", "add a smaller workload, or give more time"])
        self.assertNotIn("INVALID", found.out)

    def test_unknown_names(self):
        error = self.error_of("check", "--lint", "softmax_f33")
        self.assertIn("no definition `softmax_f33`", error["message"])
        self.assertIn("softmax_f32", error["remedy"])


if __name__ == "__main__":
    unittest.main()
