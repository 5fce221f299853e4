#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Relations that the mathematics of an operator fixes between answers to related inputs, held against every
shipped oracle and baseline. They need no third implementation, so they see what oracle, baseline and reference
have wrong in common. All but those marked with a tolerance must hold bit for bit.

    metamorphic.py [--operators DIR] [--compiler g++-12] [--only NAME] [--mutants]

--mutants breaks each source in one place first: some relation must then fail for each.
"""
import argparse
import ctypes
import json
import pathlib
import sys
import tempfile

import numpy as np

from crosscheck import bf16_bits, bf16_values, compile_source, draws_fault, e4m3_codes, e4m3_values, pointer
from relations_moe import (moe_tokens, moe_independent, moe_experts, moe_idle_expert, moe_left_out, moe_bias_shift,
                           moe_other_rank, moe_across_groups, moe_halves)
from relations_paged import (small_pages, dsa_tokens, dsa_apart, dsa_pages, dsa_order, dsa_unchosen,
                             dsa_single, dsa_nothing, dsa_scale, dsa_merged, dsa_indifferent, dsa_no_rotary,
                             dsa_moved, dsa_negated, indexer_rows, indexer_pages, indexer_unreached, indexer_doubled,
                             indexer_closed, indexer_order, indexer_by_scale, indexer_short)

# Sizes that keep this short; everything else is the Definition's.
AXES = {"gemm_f32_n128_k2048": {"N": 128, "K": 256, "M": 8}, "gemm_bf16_n4096_k4096": {"N": 128, "K": 256, "M": 8},
        "softmax_f32": {"rows": 6, "n": 517}, "topk_f32_k1": {"n": 517}, "topk_f32_k8": {"n": 517},
        "sample_top_p90_f32": {"n": 517},
        "gdn_prefill_qk4_v8_d128_k_last": {"total_seq_len": 22, "num_seqs": 4, "len_cu_seqlens": 5},
        "dsa_sparse_attention_h16_ckv512_kpe64_topk2048_ps64": {"topk": 96, "num_pages": 5},
        "dsa_topk_indexer_fp8_h64_d128_topk2048_ps64": {"topk": 300, "max_num_pages": 7, "num_pages": 23},
        "moe_fp8_block_scale_ds_routing_topk8_ng8_kg4_e32_h7168_i2048": {
            "seq_len": 64, "hidden_size": 256, "num_hidden_blocks": 2, "intermediate_size": 128, "num_intermediate_blocks": 1,
            "gemm1_out_size": 256, "num_gemm1_out_blocks": 2}}
ROWS = 6  # every other variable axis


# dtype -> (to what is stored, back to float64)
CODED = {"bfloat16": (bf16_bits, lambda v: bf16_values(v).astype(np.float64)), "float8_e4m3fn": (e4m3_codes, e4m3_values)}


class Operator:
    """One Definition's oracle or baseline, called with float64 arrays that its types can hold."""

    def __init__(self, definition, source, entry, compiler, scratch, text=None):
        self.definition = definition
        self.axes = {n: a.get("value", ROWS) for n, a in definition["axes"].items()} | AXES.get(definition["name"], {})
        self.is_oracle = entry.startswith("oracle")
        constant = {n: self.axes[n] for n, a in definition["axes"].items() if a.get("type") == "const"}
        if text is not None:
            folder = scratch / "operator"
            folder.mkdir(exist_ok=True)
            include = scratch / "include"
            if not include.exists():
                include.symlink_to((source.parent.parent / "include").resolve())
            source = folder / source.name
            source.write_text(text)
        Operator.built = getattr(Operator, "built", 0) + 1
        self.library = compile_source(compiler, source, constant, scratch / f"{definition['name']}-{Operator.built}.so",
                                      definition)
        self.entry = entry

    def shape(self, spec):
        return [self.axes[a] for a in spec["shape"]]

    def inputs(self, rng):
        """Small multiples of 2^-4 where nothing else is asked for: exact in every type, as are sums of two."""
        drawn = {}
        for name, spec in self.definition["inputs"].items():
            rule = self.definition["x_kernwright"]["inputs"].get(name, {})
            if spec["shape"] is None:
                drawn[name] = np.float64(96 if spec["dtype"] == "int32" else 0.125)
                continue
            shape = self.shape(spec)
            if rule.get("kind") == "offsets":  # an empty sequence, then equal ones
                sequences = shape[0] - 1
                total = self.axes[rule["limit"]]
                drawn[name] = np.array([0, *(total * i // (sequences - 1) for i in range(sequences))], np.float64)
            elif rule.get("kind") == "slots":  # a full row with the first slot, one without entries, one with one, some
                limit = eval(rule["limit"], {}, self.axes)
                used = [shape[1], 0, 1, *rng.integers(2, shape[1], shape[0])][:shape[0]]
                drawn[name] = np.full(shape, -1.0)
                for row, n in zip(drawn[name], used):
                    row[:n] = rng.permutation(np.arange(1, limit))[:n]
                drawn[name][0, 0] = 0
            elif rule.get("kind") == "lengths":  # one is empty, one fills its table, one is as long as what is selected
                longest = eval(rule["limit"], {}, self.axes)
                drawn[name] = rng.integers(self.axes["topk"] + 1, longest + 1, shape).astype(np.float64)
                drawn[name][1:4] = 0, longest, self.axes["topk"]
            elif rule.get("kind") == "block_table":
                drawn[name] = np.stack([rng.permutation(self.axes[rule["limit"]])[:shape[1]] for _ in range(shape[0])]).astype(np.float64)
            elif rule.get("kind") == "fp8_pages":
                drawn[name] = small_pages(rng, shape)
            elif spec["dtype"] == "float8_e4m3fn":
                drawn[name] = rng.integers(-4, 5, shape).astype(np.float64)
            elif rule.get("kind") == "indices":
                drawn[name] = rng.integers(0, self.axes[rule["limit"]], shape).astype(np.float64)
            elif rule.get("kind") == "uniform":
                low, high = rule.get("low", 0), rule.get("high", 1)
                if spec["dtype"].startswith("int"):
                    drawn[name] = np.asarray(rng.integers(low, high, shape)).astype(np.float64)
                    continue
                drawn[name] = np.floor(rng.uniform(low, high, shape) * 64) / 64
            elif "near_ties_entry" in rule:  # nothing is tied
                drawn[name] = rng.permuted(np.broadcast_to(np.arange(shape[-1]) / 32 - shape[-1] / 64, shape), axis=-1)
            elif spec["dtype"] == "float8_e4m3fn":
                drawn[name] = rng.integers(-15, 16, shape) / 16
            else:
                drawn[name] = rng.integers(-24, 25, shape) / (256.0 if rule.get("kind") == "l2_normalized" else 16.0)
        return drawn

    def __call__(self, inputs):
        keep, arguments = [], []
        for name, spec in self.definition["inputs"].items():
            x = inputs[name]
            if spec["shape"] is None:
                arguments.append(ctypes.c_int32(int(x)) if spec["dtype"] == "int32" else ctypes.c_float(x))
                continue
            codes, values = CODED.get(spec["dtype"], (lambda v: v.astype(spec["dtype"]), lambda v: v))
            keep.append(np.array(codes(x), order="C", ndmin=0))
            back = values(keep[-1])
            assert np.array_equal(back.astype(np.float64), x), f"`{name}` does not hold what the relation asks for"
            arguments.append(pointer(keep[-1]))
        outputs, candidates = {}, {}
        for name, spec in self.definition["outputs"].items():
            policy = self.definition["x_kernwright"]["tolerance"][name]
            if self.is_oracle and "selects" in policy:
                n = eval(policy["selects"], {}, self.axes)
                candidates[name] = [np.full((self.shape(spec)[0], n), np.nan) for _ in range(3)]
                arguments += [pointer(a) for a in candidates[name]]
                continue
            kind = np.float64 if self.is_oracle else np.uint16 if spec["dtype"] == "bfloat16" else spec["dtype"]
            outputs[name] = np.full(self.shape(spec), 77, kind)
            arguments.append(pointer(outputs[name]))
            if self.is_oracle:
                keep.append(np.zeros(self.shape(spec)))
                arguments.append(pointer(keep[-1]))
        tail = [ctypes.c_int64(self.axes[n]) for n, a in self.definition["axes"].items() if a.get("type") == "var"]
        status = getattr(self.library, self.entry)(*arguments, *tail)
        assert status == 0, f"returned {status}"
        decoded = {}
        for name, out in outputs.items():
            is_bf16 = not self.is_oracle and self.definition["outputs"][name]["dtype"] == "bfloat16"
            decoded[name] = (bf16_values(out) if is_bf16 else out).astype(np.float64)
            if "selects" in self.definition["x_kernwright"]["tolerance"][name]:
                decoded[name] = -np.sort(-decoded[name], axis=1)  # a set: the greatest ids first, -1 last
        for name, (ids, scores, _) in candidates.items():
            decoded[name] = np.full(self.shape(self.definition["outputs"][name]), -1.0)
            for row, i, s in zip(decoded[name], ids, scores):
                best = i[np.argsort(np.where(i >= 0, -s, np.inf), kind="stable")]
                row[:] = -np.sort(-np.pad(best, (0, len(row)), constant_values=-1.0)[:len(row)])
        return decoded


def permuted(op, x, rng):
    """All variable-axis rows in another order: so are the answers."""
    variable = {n for n, a in op.definition["axes"].items() if a.get("type") == "var"} - {"n"}
    order = rng.permutation(op.axes[next(iter(variable))])

    def move(specs, values):
        return {n: v[order] if specs[n]["shape"] and specs[n]["shape"][0] in variable else v for n, v in values.items()}

    return move(op.definition["inputs"], x), lambda y: move(op.definition["outputs"], y)


def independent(op, x, rng):
    """The first row's answer does not change with the other rows."""
    variable = {n for n, a in op.definition["axes"].items() if a.get("type") == "var"} - {"n"}
    other, fresh = dict(x), op.inputs(rng)
    for n, spec in op.definition["inputs"].items():
        if spec["shape"] and spec["shape"][0] in variable:
            other[n] = np.concatenate([x[n][:1], fresh[n][1:]])
    return other, lambda y: {n: v[:1] for n, v in y.items()}


def times(inputs, outputs, factor=4.0):
    """Powers of two pass through unrounded."""
    def relation(op, x, rng):
        return {n: v * factor if n in inputs else v for n, v in x.items()}, \
            lambda y: {n: v * factor if n in outputs else v for n, v in y.items()}
    return relation


def softmax_shift(op, x, rng):
    return {"x": x["x"] + 16}, lambda y: y


def softmax_of_equals(op, x, rng):
    n = x["x"].shape[1]
    return {"x": np.full_like(x["x"], 3)}, lambda y: {"y": np.full_like(y["y"], 1 / n)}


def columns_reversed(inputs, outputs):
    def relation(op, x, rng):
        return {n: v[..., ::-1].copy() if n in inputs else v for n, v in x.items()}, \
            lambda y: {n: v[..., ::-1] if n in outputs else v for n, v in y.items()}
    return relation


def swapped(a, b):
    def relation(op, x, rng):
        return {**x, a: x[b], b: x[a]}, lambda y: y
    return relation


def layernorm_bias(op, x, rng):
    """With a weight of zero only the bias is left."""
    return {**x, "weight": np.zeros_like(x["weight"])}, lambda y: {"y": np.broadcast_to(x["bias"], y["y"].shape)}


def rmsnorm_scale(op, x, rng):
    """Large rows: eps does not count, so the scale divides out."""
    return {**x, "hidden_states": x["hidden_states"] * 2.0**40, "residual": x["residual"] * 2.0**40}, lambda y: y


def gemm_identity(op, x, rng):
    n, k = x["B"].shape
    return {**x, "B": np.eye(n, k)}, lambda y: {"C": x["A"][:, :n]}


def gemm_linear(op, x, rng):
    """Small multiples of 1/16: all sums are exact. C(A + A', B) = C(A, B) + C(A', B) with A' = 3 A reversed."""
    more = x["A"][::-1].copy()
    other = op({**x, "A": more})["C"]
    return {**x, "A": x["A"] + more}, lambda y: {"C": y["C"] + other}


def gemm_columns(op, x, rng):
    order = rng.permutation(x["B"].shape[0])
    return {**x, "B": x["B"][order]}, lambda y: {"C": y["C"][:, order]}


def gemm_inner(op, x, rng):
    """The order of products does not matter where sums are exact."""
    order = rng.permutation(x["B"].shape[1])
    return {"A": x["A"][:, order].copy(), "B": x["B"][:, order].copy()}, lambda y: y


def swiglu_open(op, x, rng):
    """A gate of 64 is 64: the sigmoid is one to the last digit."""
    return {**x, "gate": np.full_like(x["gate"], 64)}, lambda y: {"output": 64 * x["up"]}


def swiglu_closed(op, x, rng):
    return {**x, "gate": np.zeros_like(x["gate"])}, lambda y: {"output": np.zeros_like(y["output"])}


def rope_at_rest(op, x, rng):
    """No angle: nothing turns."""
    cache = np.zeros_like(x["cos_sin_cache"])
    cache[:, :cache.shape[1] // 2] = 1
    return {**x, "cos_sin_cache": cache}, lambda y: {"q_out": x["q"], "k_out": x["k"]}


def rope_right_angle(op, x, rng):
    cache = np.zeros_like(x["cos_sin_cache"])
    half = cache.shape[1] // 2
    cache[:, half:] = 1

    def turned(v):
        return np.concatenate([-v[..., half:], v[..., :half]], axis=-1)

    return {**x, "cos_sin_cache": cache}, lambda y: {"q_out": turned(x["q"]), "k_out": turned(x["k"])}


def gdn_without_memory(op, x, rng):
    """A decay of zero forgets: the old state does not matter."""
    gone = np.full_like(x["A_log"], 10)
    biased = np.full_like(x["dt_bias"], 10)
    first = op({**x, "A_log": gone, "dt_bias": biased})
    return {**x, "A_log": gone, "dt_bias": biased, "state": np.zeros_like(x["state"])}, lambda y: first


def gdn_zero_key(op, x, rng):
    """Without keys nothing is written: the sign of the values does not matter."""
    first = op({**x, "k": np.zeros_like(x["k"])})
    return {**x, "k": np.zeros_like(x["k"]), "v": -x["v"]}, lambda y: first


def prefill_apart(op, x, rng):
    """Each sequence alone gives what it gives among others."""
    ends = x["cu_seqlens"].astype(int)
    total, parts = int(ends[-1]), []
    for n in range(len(ends) - 1):
        # One sequence in front, the rest of the tokens in another that nobody looks at.
        order = np.r_[ends[n]:ends[n + 1], 0:ends[n], ends[n + 1]:total]
        alone = {m: v[order] if len(v.shape) and v.shape[0] == total else v for m, v in x.items()}
        first = np.array([0, ends[n + 1] - ends[n], *[total] * (len(ends) - 2)], np.float64)
        y = op({**alone, "state": np.roll(x["state"], -n, axis=0), "cu_seqlens": first})
        parts.append({"output": y["output"][:ends[n + 1] - ends[n]], "new_state": y["new_state"][:1]})
    return x, lambda y: {m: np.concatenate([part[m] for part in parts]) for m in y}


def prefill_resumed(op, x, rng):
    """A sequence cut in two, the second part begun with the state that the first part left."""
    ends = x["cu_seqlens"]
    total = ends[-1]
    whole = {**x, "cu_seqlens": np.array([0, *[total] * (len(ends) - 1)])}
    y = op(whole)
    parts = {**x, "cu_seqlens": np.array([0, 9, *[total] * (len(ends) - 2)])}
    first = op(parts)["new_state"][:1].astype(np.float32).astype(np.float64)
    state = np.concatenate([x["state"][:1], first, x["state"][2:]])
    return {**parts, "state": state}, lambda _: {"output": y["output"]}


def prefill_of_nothing(op, x, rng):
    """No tokens leave no state."""
    empty = np.diff(x["cu_seqlens"]) == 0
    assert empty.any() and not empty.all()
    return x, lambda y: {"new_state": y["new_state"] * ~empty[:, None, None, None]}


def topk_shift(op, x, rng):
    return {"x": x["x"] + 16}, lambda y: {**y, "values": y["values"] + 16}


def topk_places(op, x, rng):
    """What stands at the places is the values, whatever equal elements were taken."""
    return x, lambda y: {"values": np.take_along_axis(x["x"], y["indices"].astype(int), axis=1)}


def topk_columns(op, x, rng):
    order = rng.permutation(x["x"].shape[1])
    return {"x": x["x"][:, order].copy()}, lambda y: {"values": y["values"]}


def topk_of_itself(op, x, rng):
    """The answer's own values in front of lower ones are the answer again, at the first places."""
    values = op(x)["values"]
    lower = np.full((len(values), x["x"].shape[1] - values.shape[1]), -100.0)
    first = np.broadcast_to(np.arange(values.shape[1], dtype=np.float64), values.shape)
    return {"x": np.concatenate([values, lower], axis=1)}, lambda y: {"values": y["values"], "indices": first}


def sample_shift(op, x, rng):
    return {**x, "logits": x["logits"] + 16}, lambda y: y


def sample_peak(op, x, rng):
    """Where one logit towers above the rest nothing is left to chance."""
    peaks = rng.integers(0, x["logits"].shape[1], len(x["logits"]))
    logits = x["logits"].copy()
    np.put_along_axis(logits, peaks[:, None], 100.0, axis=1)
    return {**x, "logits": logits}, lambda y: {"token": peaks.astype(np.float64)}


def sample_kept(op, x, rng):
    """Every draw lies in the part that top-p keeps; wrong answers become -1."""
    top_p = op.definition["x_kernwright"]["tolerance"]["token"]["top_p"]
    fault = any(draws_fault(x["logits"], op({**x, "seed": x["seed"] + i})["token"], top_p) for i in range(32))
    return x, lambda y: {"token": np.full_like(y["token"], -1.0)} if fault else y


COMMON = [("rows in another order", permuted, 0), ("rows do not see each other", independent, 0)]
GEMM = COMMON + [("A times 4", times({"A"}, {"C"}), 0), ("B negated", times({"B"}, {"C"}, -1.0), 0), ("B = I", gemm_identity, 0),
                 ("additive in A", gemm_linear, 0), ("rows of B in another order", gemm_columns, 0),
                 ("products in another order", gemm_inner, 0)]
SWIGLU = COMMON + [("up times 4", times({"up"}, {"output"}), 0), ("up negated", times({"up"}, {"output"}, -1.0), 0),
                   ("columns reversed", columns_reversed({"gate", "up"}, {"output"}), 0), ("an open gate", swiglu_open, 0),
                   ("a closed gate", swiglu_closed, 0)]
TOPK = COMMON + [("shifted by 16", topk_shift, 0), ("times 4", times({"x"}, {"values"}), 0), ("places hold the values", topk_places, 0),
                 ("columns in another order", topk_columns, 0), ("top of the top", topk_of_itself, 0)]
# Definition -> relations (name, relation, tolerance relative to the largest answer; 0 = bit for bit).
RELATIONS = {
    "softmax_f32": COMMON + [("shifted by 16", softmax_shift, 0), ("equal logits", softmax_of_equals, 1e-6),
                             ("columns reversed", columns_reversed({"x"}, {"y"}), 1e-6)],
    "layernorm_f32_h4096": COMMON + [("weight and bias times 4", times({"weight", "bias"}, {"y"}), 0),
                                     ("x and bias negated", times({"x", "bias"}, {"y"}, -1.0), 0),
                                     ("no weight", layernorm_bias, 0),
                                     ("columns reversed", columns_reversed({"x", "weight", "bias"}, {"y"}), 1e-6)],
    "fused_add_rmsnorm_h4096": COMMON + [("residual and input exchanged", swapped("hidden_states", "residual"), 0),
                                         ("weight times 4", times({"weight"}, {"output"}), 0),
                                         ("inputs negated", times({"hidden_states", "residual"}, {"output"}, -1.0), 0),
                                         ("scale divides out", rmsnorm_scale, 1e-2)],
    "gemm_f32_n128_k2048": GEMM,
    "gemm_bf16_n4096_k4096": GEMM[:5] + GEMM[6:],  # C is rounded: no sum of two answers is exact
    "swiglu_f32_d14336": SWIGLU,
    "swiglu_bf16_d14336": SWIGLU[:-2] + SWIGLU[-1:] + [("an open gate", swiglu_open, 2.0**-8)],
    "topk_f32_k1": TOPK,
    "topk_f32_k8": TOPK,
    "sample_top_p90_f32": COMMON[1:] + [("shifted by 16", sample_shift, 0), ("a towering logit", sample_peak, 0),
                                        ("in the kept part", sample_kept, 0)],
    "dsa_topk_indexer_fp8_h64_d128_topk2048_ps64": [
        ("sequences in another order", indexer_rows, 0), ("pages stored elsewhere", indexer_pages, 0),
        ("tokens out of reach", indexer_unreached, 0), ("weights times 4", times({"weights"}, set()), 0),
        ("vectors longer, scales shorter", indexer_doubled, 0), ("closed heads", indexer_closed, 0),
        ("heads in another order", indexer_order(1), 0), ("elements in another order", indexer_order(2), 0),
        ("the greatest scales", indexer_by_scale(1.0), 0), ("the least scales", indexer_by_scale(-1.0), 0),
        ("short sequences", indexer_short, 0)],
    "rope_neox_h32_kv8_d128": COMMON + [("q and k times 4", times({"q", "k"}, {"q_out", "k_out"}), 0), ("no angle", rope_at_rest, 0),
                                        ("a right angle", rope_right_angle, 0)],
    "gdn_decode_qk4_v8_d128_k_last": COMMON + [("scale times 4", times({"scale"}, {"output"}), 0), ("q times 4", times({"q"}, {"output"}), 0),
                                               ("v and state times 4", times({"v", "state"}, {"output", "new_state"}), 0),
                                               ("nothing kept", gdn_without_memory, 1e-30), ("no key", gdn_zero_key, 0)],
    "gdn_prefill_qk4_v8_d128_k_last": [("scale times 4", times({"scale"}, {"output"}), 0), ("q times 4", times({"q"}, {"output"}), 0),
                                       ("v and state times 4", times({"v", "state"}, {"output", "new_state"}), 0),
                                       ("sequences alone", prefill_apart, 0), ("cut in two", prefill_resumed, 2.0**-8),
                                       ("an empty sequence", prefill_of_nothing, 0), ("nothing kept", gdn_without_memory, 1e-30),
                                       ("no key", gdn_zero_key, 0)],
    "dsa_sparse_attention_h16_ckv512_kpe64_topk2048_ps64": [
        ("tokens in another order", dsa_tokens, 0), ("tokens do not see each other", dsa_apart, 0), ("pages renamed", dsa_pages, 0),
        ("entries in another order", dsa_order("output"), 2.0**-8), ("lse, entries in another order", dsa_order("lse"), 1e-6),
        ("entries not chosen", dsa_unchosen, 0), ("one entry", dsa_single("output"), 0), ("lse of one entry", dsa_single("lse"), 1e-6),
        ("no entries", dsa_nothing, 0), ("scale in the queries", dsa_scale, 0), ("merged parts", dsa_merged("output"), 2.0**-7),
        ("lse of merged parts", dsa_merged("lse"), 1e-6), ("no queries", dsa_indifferent("output"), 2.0**-8),
        ("lse without queries", dsa_indifferent("lse"), 1e-6), ("no rotated query", dsa_no_rotary, 0),
        ("rotated keys among the latent", dsa_moved, 0), ("ckv and its queries negated", dsa_negated, 0)],
    "moe_fp8_block_scale_ds_routing_topk8_ng8_kg4_e32_h7168_i2048": [
        ("tokens in another order", moe_tokens, 0), ("tokens do not see each other", moe_independent, 0),
        ("experts in another order", moe_experts, 2.0**-8), ("an idle expert", moe_idle_expert, 0), ("left out", moe_left_out, 0),
        ("bias shifted by 1", moe_bias_shift, 2.0**-8), ("another rank", moe_other_rank, 0),
        ("experts in two groups", moe_across_groups, 2.0**-7), ("the linear half negated", moe_halves(0, False), 0),
        ("a shut gate", moe_halves(1, True), 0), ("routed scale times 4", times({"routed_scaling_factor"}, {"output"}), 0),
        ("second scales times 4", times({"gemm2_weights_scale"}, {"output"}), 0)],
}

# Folder -> (source, what, by what, the relation that must see it).
MUTANTS = {
    "softmax_f32": [("oracle.cpp", "load(x + i) - peak", "load(x + i) * 1.0001 - peak", "shifted by 16"),
                    ("baseline.cpp", "expf(x[i] - top)", "expf(x[i])", "shifted by 16")],
    "layernorm_f32_h4096": [("oracle.cpp", "d * scale + shift", "d * scale + absolute(shift)", "x and bias negated"),
                            ("baseline.cpp", "* weight[i] + bias[i]", "* weight[i] + bias[i] + mean * 1e-3f", "no weight")],
    "fused_add_rmsnorm_h4096": [("baseline.cpp", "to_float(residual[i])) * scale", "to_float(residual[i]) * 1.01f) * scale",
                                 "residual and input exchanged")],
    "gemm_f32_n128_k2048": [("baseline_f32.cpp", "k < K;", "k < K - lanes;", "products in another order"),
                            ("oracle.cpp", "x[i].high * w.high", "x[i].high * w.low", "products in another order")],
    "swiglu_f32_d14336": [("baseline_f32.cpp", "1 + expf(", "1.0001f + expf(", "an open gate")],
    "gemm_bf16_n4096_k4096": [("baseline_bf16.cpp", "k < K;", "k < K - lanes;", "products in another order")],
    "swiglu_bf16_d14336": [("baseline_bf16.cpp", "1 + expf(", "1.02f + expf(", "an open gate")],
    "topk_f32_k8": [("oracle.cpp", "p > q :", "std::fabs(p) > std::fabs(q) :", "shifted by 16"),
                    ("baseline.cpp", "v > values[j - 1]; --j", "v > values[j - 1] + 0.1f; --j", "columns in another order"),
                    ("baseline.cpp", "int32_t>(i)", "int32_t>(i & ~1)", "places hold the values")],
    "sample_top_p90_f32": [("oracle.cpp", "weight[i] >= least", "true", "in the kept part"),
                           ("baseline.cpp", "0.9 * total", "0.999 * total", "in the kept part")],
    "dsa_topk_indexer_fp8_h64_d128_topk2048_ps64": [
        ("oracle.cpp", "page + tokens * dim + t * 4", "page + tokens * dim", "the greatest scales"),
        ("oracle.cpp", "std::ldexp(fraction, -9)", "std::ldexp(fraction, -9) * (fraction > 1)", "vectors longer, scales shorter"),
        ("oracle.cpp", "t < here ?", "t <= here ?", "short sequences"),
        ("baseline.cpp", "(d > 0 ? d : 0)", "d", "closed heads"),
        ("baseline.cpp", "page = table[t / tokens];", "page = t / tokens;", "pages stored elsewhere"),
        ("baseline.cpp", "? fraction : 8", "? 0 : 8", "vectors longer, scales shorter"),
        ("baseline.cpp", "s > work.scores[0]", "s * s > work.scores[0] * work.scores[0]", "the least scales"),
        ("baseline.cpp", "t < length ?", "t <= length ?", "short sequences")],
    "rope_neox_h32_kv8_d128": [("baseline.cpp", "- b * sine[j]", "+ b * sine[j]", "a right angle")],
    "gdn_decode_qk4_v8_d128_k_last": [("baseline.cpp", "correction * key[i + l]", "correction * (key[i + l] + 0.001f)", "no key")],
    "gdn_prefill_qk4_v8_d128_k_last": [("baseline.cpp", "cu_seqlens[s] == cu_seqlens[s + 1]", "false", "an empty sequence"),
                                       ("oracle.cpp", "if (begin < end)", "if (begin <= end)", "an empty sequence"),
                                       ("baseline.cpp", "t = cu_seqlens[s];", "t = cu_seqlens[s] - (s > 2);", "sequences alone")],
    "dsa_sparse_attention_h16_ckv512_kpe64_topk2048_ps64": [
        ("baseline.cpp", "(top + logf(total)) * log2_e", "top + logf(total)", "lse of merged parts"),
        ("baseline.cpp", "if (slot < 0)", "if (slot <= 0)", "pages renamed"),
        ("baseline.cpp", "slot % page_size", "(slot + 1) % page_size", "one entry"),
        ("baseline.cpp", "entries > 0 ? sums[i] / total : 0", "sums[i] / total", "no entries"),
        ("baseline.cpp", "sm_scale * (dot(query, value[j], C) + ", "(sm_scale * dot(query, value[j], C) + ", "scale in the queries"),
        ("oracle.cpp", "(m + std::log(Z)) / log_2", "std::log(Z) / log_2", "lse of one entry"),
        ("oracle.cpp", "    product<P>(rotary, x.p, dot, size);\n", "", "rotated keys among the latent")],
    "moe_fp8_block_scale_ds_routing_topk8_ng8_kg4_e32_h7168_i2048": [
        ("baseline.cpp", "weight[n] = score[best]", "weight[n] = biased[best]", "bias shifted by 1"),
        ("baseline.cpp", "i / block * tokens + start + t", "(start + t) * hidden_blocks + i / block", "tokens in another order"),
        ("baseline.cpp", "expert[k] == e + offset", "expert[k] == e", "another rank"),
        ("baseline.cpp", "kept[e / group_size] && (", "(", "left out"),
        ("baseline.cpp", "hidden) * g * sigmoid(g)", "hidden) * g * sigmoid(dot(linear, x[token[t]], hidden))", "the linear half negated"),
        ("oracle.cpp", "scale * scores.s[e] / sum", "scale * scores.b[e] / sum", "bias shifted by 1"),
        ("oracle.cpp", "in[0].score + in[1].score", "in[0].score", "left out"),
        ("oracle.cpp", "e < offset + local", "e < offset + 31", "experts in another order"),
        ("oracle.cpp", "silu = gate.y", "silu = linear.y", "the linear half negated"),
        ("oracle.cpp", "row / block_size * (columns / block_size) + b", "b * (columns / block_size) + b", "a shut gate")],
}


def broken(op, relations):
    """Names of the relations that do not hold, with how far off."""
    failed = {}
    for name, relation, tolerance in relations:
        rng = np.random.default_rng(11)
        x = op.inputs(rng)
        first = op(x)
        changed, expect = relation(op, x, rng)
        second = op(changed)
        for output, want in expect(first).items():
            got = second[output][:len(want)]
            largest = np.abs(want[np.isfinite(want)]).max(initial=0)
            with np.errstate(invalid="ignore"):  # an infinity is right as itself only
                apart = np.where(got == want, 0, np.abs(got - want))
            off = apart.max() / (largest if largest > 0 else 1)
            if not off <= tolerance:
                failed[name] = f"`{output}` off by {off:.3g} of the largest answer"
    return failed


def sources_of(definition):
    ext = definition["x_kernwright"]
    return [(ext[part]["source"], ext[part]["entry"]) for part in ("oracle", "baseline") if part in ext]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--operators", default=str(pathlib.Path(__file__).resolve().parents[2] / "operators"))
    parser.add_argument("--compiler", default="g++-12")
    parser.add_argument("--only", default="")
    parser.add_argument("--mutants", action="store_true", help="break each source first: a relation must fail")
    options = parser.parse_args()
    faults = held = 0
    uncovered, covered = [], set()
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        for path in sorted(pathlib.Path(options.operators).glob("*/*.definition.json")):
            definition = json.loads(path.read_text())
            name = definition["name"]
            if options.only not in name:
                continue
            relations = RELATIONS.get(name)
            sources = {(path.parent.name, *s) for s in sources_of(definition)}
            if relations is None:
                uncovered.append((name, sources))
                continue
            covered |= sources
            for source, entry in sources_of(definition):
                file = path.parent / source
                text = file.read_text()
                if not options.mutants:
                    failed = broken(Operator(definition, file, entry, options.compiler, scratch), relations)
                    held += len(relations) - len(failed)
                    for relation, how in failed.items():
                        print(f"FAIL {name} {source}: {relation}: {how}")
                        faults += 1
                    continue
                for where, what, by, relation in MUTANTS.get(name, []):
                    if where != source:
                        continue
                    assert what in text, f"{source} of {name} does not hold `{what}`: adjust the mutant"
                    mutant = Operator(definition, file, entry, options.compiler, scratch, text.replace(what, by))
                    failed = broken(mutant, relations)
                    if relation in failed:
                        held += 1
                        print(f"seen {name} {source}, `{by}` for `{what}`: {', '.join(failed)}")
                    else:
                        faults += 1
                        print(f"FAIL {name} {source}: `{by}` for `{what}` does not break `{relation}` (broken: {', '.join(failed) or 'none'})")
    # Further sizes of sources whose relations are held already need none of their own.
    for name, sources in uncovered:
        if not options.only and not sources <= covered:
            print(f"FAIL {name}: no relations; add some to RELATIONS in tests/reference/metamorphic.py")
            faults += 1
    print(f"{held} {'mutants seen' if options.mutants else 'relations hold'}, {faults} faults")
    return 1 if faults or held == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
