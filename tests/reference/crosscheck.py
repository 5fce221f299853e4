#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds every shipped operator's three descriptions against each other on small shapes:

    reference.py (PyTorch)  ~  oracle.cpp (fp64 C++)  ~  baseline (fp32 C++)

The Python reference is run on fp64 copies of the inputs, so that it and the oracle must agree to
fp64 precision; the baseline must stay within the Definition's own tolerance. Also checks that the
oracle's `block` and `project` entries agree with the whole. Without PyTorch the first comparison is
skipped, visibly, and the exit status is 77. Outputs that rank an input are held against its rows,
on tied rows as well, outputs that select against the oracle's scores. Inputs to which the oracle
gives near-ties are held with and without.

    crosscheck.py [--operators DIR] [--compiler g++-12] [--only NAME] [--strict]
"""
import argparse
import ctypes
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import pages
import slots

try:
    import torch
except ImportError:
    torch = None

FLAGS = ["-std=c++20", "-O3", "-march=native", "-mprefer-vector-width=512", "-fno-math-errno", "-fPIC", "-shared"]
SMALL = 6  # value of every variable axis named a batch, a row count or a token count
UNIT = {"float32": 2.0**-24, "bfloat16": 2.0**-8, "float16": 2.0**-11}
# Constant axes that would make this a matter of gigabytes.
SIZES = {"moe_fp8_block_scale": {"hidden_size": 384, "intermediate_size": 256, "gemm1_out_size": 512, "num_hidden_blocks": 3,
                                 "num_intermediate_blocks": 2, "num_gemm1_out_blocks": 4, "seq_len": 40}}


def sizes_of(definition):
    return next((sizes for name, sizes in SIZES.items() if definition["name"].startswith(name)), {})


def bf16_bits(x):
    """Nearest bf16, as uint16 bit patterns."""
    bits = x.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def bf16_values(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def e4m3_values(codes):
    """float8_e4m3fn codes (uint8) as float64."""
    return np.array([*pages.VALUES, np.nan, *(-v for v in pages.VALUES), np.nan])[codes]


def e4m3_codes(x):
    """Nearest codes, ties to even; larger magnitudes give the largest number."""
    values = np.array(pages.VALUES)
    low = np.clip(np.searchsorted(values, np.abs(x), side="right") - 1, 0, len(values) - 2)
    over = np.abs(x) - (values[low] + values[low + 1]) / 2
    return (low + ((over > 0) | ((over == 0) & (low % 2 == 1))) + 128 * np.signbit(x)).astype(np.uint8)


def paged(rng, rule, shape, axes, lengths):
    """Sequences in a paged cache, as the judge draws them; `lengths` are those that a block table serves."""
    def value(expression):
        return int(eval(expression, {}, axes))

    stream = pages.Stream(bytes(rng.integers(0, 256, 16, np.uint8)), 0, 0)
    if rule["kind"] == "fp8_pages":
        return pages.fp8_pages(stream, "normal", shape)
    if rule["kind"] == "lengths":  # one empty, one that is not
        for trial in range(1000):
            x = pages.lengths(pages.Stream(stream.at(pages.ROWS, 0)[0].to_bytes(16, "little"), trial, 0), True, shape[0],
                              value(rule["limit"]), value(rule["page"]), [value(e) for e in rule["edges"]])
            if x.min() == 0 and (x > max([value(e) for e in rule["edges"]])).sum() > 1:
                return x
        raise AssertionError("no such lengths")
    return pages.block_table(stream, lengths, shape[1], value(rule["limit"]), value("page_size"))


def draw(rng, rule, shape, axes, integers=False):
    kind = rule.get("kind", "any")
    scale = rule.get("scale", 1)
    if kind in ("uniform", "positive"):
        if integers:
            return rng.integers(rule.get("low", 0), rule.get("high", 1), shape)
        return rng.uniform(rule.get("low", 0), rule.get("high", 1), shape) * scale
    if kind == "offsets":  # the first sequence empty, one of one token
        total, n = axes[rule["limit"]], shape[-1] - 1
        lengths = [0, 1] + [total // n] * (n - 2) if n > 2 else [0] * n
        lengths[-1] += total - sum(lengths)
        return np.concatenate([[0], np.cumsum(lengths)])
    if kind == "slots":  # among the rows one without entries and a full one
        limit = eval(rule["limit"], {}, axes)
        for trial in range(1000):
            x = slots.draw(bytes(rng.integers(0, 256, 16, np.uint8)), trial, 0, "mask_edges", shape, limit)
            if (x[:, 0] < 0).any() and (x >= 0).sum(axis=1).max() == min(limit, shape[-1]):
                return x
        raise AssertionError("no such rows")
    if kind in ("indices", "positions"):
        x = rng.integers(0, axes[rule["limit"]], shape)
        return np.sort(x) if kind == "positions" else x
    x = rng.standard_normal(shape) * scale
    if kind == "l2_normalized":
        x = x / np.linalg.norm(x, axis=-1, keepdims=True)
    return x


def inputs_of(definition, axes, workload, rng):
    """Per input: (storage array or Python scalar, fp64 values)."""
    rules = definition["x_kernwright"]["inputs"]
    drawn, by_name = [], {}
    for name, spec in definition["inputs"].items():
        if spec["shape"] is None:
            value = workload["inputs"][name]["value"]
            scalar = np.int32(value) if spec["dtype"] == "int32" else float(np.float32(value))
            drawn.append((scalar, scalar))
            continue
        shape = [axes[a] for a in spec["shape"]]
        rule = rules.get(name, {})
        if rule.get("kind") in ("lengths", "block_table", "fp8_pages"):
            x = by_name[name] = paged(rng, rule, shape, axes, by_name.get(rule.get("lengths")))
        else:
            x = draw(rng, rule, shape, axes, spec["dtype"].startswith("int"))
        if spec["dtype"] == "bfloat16":
            stored = bf16_bits(x)
            drawn.append((stored, bf16_values(stored).astype(np.float64)))
        elif spec["dtype"] == "float8_e4m3fn":
            stored = e4m3_codes(x)
            drawn.append((stored, e4m3_values(stored)))
        elif spec["dtype"] == "float32":
            stored = np.ascontiguousarray(x, dtype=np.float32)
            drawn.append((stored, stored.astype(np.float64)))
        else:
            stored = np.ascontiguousarray(x, dtype=np.dtype(spec["dtype"]))
            drawn.append((stored, stored))
    return drawn


def compile_source(compiler, source, axes, out, definition):
    macros = [f"-DKW_AXIS_{n}={v}" for n, v in axes.items()]
    macros += [f"-DKW_ETA_{n}={t['eta']}" for n, t in definition["x_kernwright"]["tolerance"].items() if "eta" in t]
    loops = out.with_name("loops.cpp")  # what the runner provides
    loops.write_text('#include "kernwright.h"\nvoid kw_parallel_for(int64_t n, void (*f)(void*, int64_t), void* c) '
                     "{ for (int64_t i = 0; i < n; ++i) f(c, i); }\nint kw_threads(void) { return 1; }\n"
                     "alignas(64) static char block[1 << 26];\nvoid* kw_workspace(size_t n) { return n <= sizeof block ? block : nullptr; }\n")
    include = f"-I{source.parent.parent / 'include'}"
    subprocess.run([compiler, *FLAGS, *macros, include, str(source), str(loops), "-o", str(out)], check=True)
    return ctypes.CDLL(str(out))


def pointer(array):
    return array.ctypes.data_as(ctypes.c_void_p)


def arguments(drawn):
    by_value = {float: ctypes.c_float, np.int32: ctypes.c_int32}
    return [by_value[type(x)](x) if type(x) in by_value else pointer(x) for x, _ in drawn]


def reference_outputs(path, drawn):
    """Runs `run` of a Definition's reference in fp64: .to(float32) and .to(bfloat16) inside become no-ops."""
    module = {}
    exec(compile(path.read_text(), str(path), "exec"), module)
    saved = torch.float32, torch.bfloat16
    torch.float32 = torch.bfloat16 = torch.float64
    try:
        tensors = [torch.from_numpy(values) if isinstance(values, np.ndarray) else values for _, values in drawn]
        result = module["run"](*tensors)
    finally:
        torch.float32, torch.bfloat16 = saved
    return [r.double().numpy() for r in (result if isinstance(result, tuple) else (result,))]


def reference_runs_as_written(path, definition, drawn):
    """The same reference on the declared dtypes: shapes and dtypes of what it returns."""
    module = {}
    exec(compile(path.read_text(), str(path), "exec"), module)
    tensors = []
    for (stored, values), spec in zip(drawn, definition["inputs"].values()):
        if spec["shape"] is None:
            tensors.append(stored)
        elif spec["dtype"] == "float8_e4m3fn":  # as values where this torch has no such type
            x = torch.from_numpy(values).float()
            tensors.append(x.to(torch.float8_e4m3fn) if hasattr(torch, "float8_e4m3fn") else x)
        elif spec["dtype"] == "bfloat16":
            tensors.append(torch.from_numpy(values).to(torch.bfloat16))
        elif spec["dtype"] == "float8_e4m3fn":  # older versions of torch have no such type
            tensors.append(torch.from_numpy(values).to(torch.float32))
        else:
            tensors.append(torch.from_numpy(stored))
    result = module["run"](*tensors)
    return list(result) if isinstance(result, tuple) else [result]


def places_fault(x, places, values):
    """Why `places` [rows, k] and `values` are no ranking of x [rows, n]; "" if they are."""
    rows, n = x.shape
    k = places.shape[1]
    places = places.astype(np.int64)
    if places.min() < 0 or places.max() >= n:
        return "out of range"
    if any(len(set(row)) != k for row in places):
        return "repeated"
    if not np.array_equal(np.take_along_axis(x, places, 1), values):
        return "other value"
    return "" if np.array_equal(-np.sort(-x, axis=1)[:, :k], values) else "not the greatest"


def selection_fault(candidates, scores, magnitudes, chosen, eta):
    """Why `chosen` [rows, k] are not the greatest of candidates [rows, n] (-1: none) by scores that may be off by
    eta 2^-24 magnitudes, then -1; "" if they are."""
    for row, (ids, s, e, got) in enumerate(zip(candidates, scores, eta * 2.0**-24 * magnitudes, chosen.astype(np.int64))):
        present = ids >= 0
        m = min(len(got), int(present.sum()))
        if (got[m:] != -1).any():
            return f"row {row}: not padded with -1"
        taken = np.isin(ids, got[:m]) & present
        if taken.sum() != m:
            return f"row {row}: {m - taken.sum()} unreachable or repeated"
        left_out = present & ~taken
        if left_out.any() and (s - e)[left_out].max() > (s + e)[taken].min():
            return f"row {row}: not the greatest"
    return ""


def draws_fault(logits, places, top_p):
    """Why `places` [rows] are no draws from the most probable part of the softmax of logits [rows, n]; "" if they are."""
    rows, n = logits.shape
    places = places.astype(np.int64)
    if places.min() < 0 or places.max() >= n:
        return "out of range"
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    taken = np.take_along_axis(logits, places[:, None], 1)
    above = np.where(logits > taken, p, 0).sum(axis=1)
    return "" if (above < top_p + 1e-4).all() else f"outside top-p: {above.max():.4f} of the mass is more probable"


def apart(a, b):
    """|a - b|; an infinity is right as itself only."""
    with np.errstate(invalid="ignore"):
        return np.where(a == b, 0, np.abs(a - b))


def finite(x):
    return np.where(np.isfinite(x), np.abs(x), 0)


def tied(x):
    """Rows of few different values, zeros of both signs among them."""
    return np.where(np.round(x) == 0, np.copysign(0, x), np.round(x)).astype(x.dtype)


def check(definition, workload, folder, compiler, scratch, failures):
    ext = definition["x_kernwright"]
    variable = {n: SMALL for n, a in definition["axes"].items() if a.get("type") == "var"}
    if "n" in variable:
        variable["n"] = 517
    if definition["name"].startswith("gdn_prefill"):  # long enough for errors to be carried on
        variable.update(total_seq_len=75, num_seqs=4, len_cu_seqlens=5)
    if definition["name"].startswith("dsa_sparse"):  # more slots than a row has room for
        variable.update(num_pages=40)
    if definition["name"].startswith("dsa_topk_indexer"):  # more tokens than are selected
        variable.update(max_num_pages=35, num_pages=41)
    constant = {n: a["value"] for n, a in definition["axes"].items() if a.get("type") == "const"}
    for n, size in sizes_of(definition).items():
        (variable if n in variable else constant)[n] = size
    axes = {**constant, **variable}
    drawn = inputs_of(definition, axes, workload, np.random.default_rng(7))
    tail = [ctypes.c_int64(v) for v in variable.values()]
    shapes = [[axes[a] for a in o["shape"]] for o in definition["outputs"].values()]
    lines = []
    ranked = {n: t for n, t in ext["tolerance"].items() if "ranks" in t}
    sampled = {n: t for n, t in ext["tolerance"].items() if "samples" in t}
    selecting = {n: t for n, t in ext["tolerance"].items() if "selects" in t}
    candidates = {}  # output -> ids, scores and magnitudes from the oracle
    if ranked and workload.get("tied"):
        inputs = list(definition["inputs"])
        for name in {t["ranks"] for t in ranked.values()}:
            stored, _ = drawn[inputs.index(name)]
            drawn[inputs.index(name)] = (tied(stored), tied(stored).astype(np.float64))

    def against_inputs(whose, outputs, exact=False):
        """Outputs of one implementation that have several right answers; `exact`: it rounds to fp64 only."""
        by_name = dict(zip(definition["outputs"], outputs))
        for name, policy in selecting.items():
            fault = selection_fault(*candidates[name], by_name[name], policy["eta"] * (2.0**-29 if exact else 1))
            verdict(f"{whose} selects: {name}", not fault, fault)
        for name, policy in ranked.items():
            x = dict(zip(definition["inputs"], (values for _, values in drawn)))[policy["ranks"]]
            fault = places_fault(x, by_name[name], by_name[policy["values"]])
            verdict(f"{whose} ranks: {name}", not fault, fault)
        for name, policy in sampled.items():
            logits = dict(zip(definition["inputs"], (values for _, values in drawn)))[policy["samples"]]
            fault = draws_fault(logits, by_name[name], policy["top_p"])
            verdict(f"{whose} samples: {name}", not fault, fault)

    def verdict(name, ok, text):
        lines.append(f"  {name:<28} {'ok  ' if ok else 'FAIL'} {text}")
        if not ok:
            failures.append(f"{definition['name']}: {name}")

    oracle = compile_source(compiler, folder / ext["oracle"]["source"], constant, scratch / "oracle.so", definition)
    if workload.get("near_ties"):
        bring_near(oracle, definition, drawn, tail)
    y = [np.full(s, np.nan) for s in shapes]
    size = [np.full(s, np.nan) for s in shapes]
    arrays = []
    for name, both in zip(definition["outputs"], zip(y, size)):
        if name in selecting:
            n = int(eval(selecting[name]["selects"], {}, axes))
            candidates[name] = [np.full((both[0].shape[0], n), np.nan) for _ in range(3)]
        arrays += candidates.get(name, both)
    code = getattr(oracle, ext["oracle"]["entry"])(*arguments(drawn), *[pointer(a) for a in arrays], *tail)
    verdict("oracle returns 0", code == 0, "")
    for i, name in enumerate(definition["outputs"]):
        if name in selecting:
            ids, scores, s = candidates[name]
            y[i], size[i] = scores, s
            contested = int(((ids >= 0).sum(axis=1) > shapes[i][1]).sum())
            verdict(f"rows with a choice: {name}", contested > 1, str(contested))
    if not selecting:
        against_inputs("oracle", y)
    # -inf is an answer too: the logarithm of an empty sum.
    verdict("oracle finite, S > 0", all((np.isfinite(a) | np.isneginf(a)).all() and (s > 0).all() for a, s in zip(y, size)), "")

    if torch is not None:
        path = folder / ext["reference_file"]
        references = reference_outputs(path, drawn)
        against_inputs("reference", references, exact=True)
        for name, want, got, s in zip(definition["outputs"], references, y, size):
            if name in ranked or name in sampled or name in selecting:
                continue
            # fp64 rounding, in the oracle's own magnitudes
            error = float((apart(want, got) / (2.0**-53 * (finite(got) + s))).max())
            verdict(f"reference vs oracle: {name}", want.shape == got.shape and error < 64, f"{error:.2f} x 2^-53 S")
        for (name, spec), got in zip(definition["outputs"].items(), reference_runs_as_written(path, definition, drawn)):
            shape = [axes[a] for a in spec["shape"]]
            ok = list(got.shape) == shape and str(got.dtype) == "torch." + spec["dtype"]
            verdict(f"reference dtype: {name}", ok, f"{list(got.shape)} {got.dtype}")

    baseline = compile_source(compiler, folder / ext["baseline"]["source"], constant, scratch / "baseline.so", definition)
    dtypes = [o["dtype"] for o in definition["outputs"].values()]
    out = [np.zeros(s, np.uint16 if t == "bfloat16" else np.dtype(t)) for s, t in zip(shapes, dtypes)]
    code = getattr(baseline, ext["baseline"]["entry"])(*arguments(drawn), *[pointer(o) for o in out], *tail)
    against_inputs("baseline", out)
    for name, dtype, got, want, s in zip(definition["outputs"], dtypes, out, y, size):
        if name in ranked or name in sampled or name in selecting:
            continue
        if ext["tolerance"][name].get("exact"):
            verdict(f"baseline exact: {name}", code == 0 and np.array_equal(got, want), "")
            continue
        values = bf16_values(got) if dtype == "bfloat16" else got
        eta = float((apart(values, want) / (UNIT[dtype] * finite(want) + 2.0**-24 * s)).max())
        limit = ext["tolerance"][name]["eta"]
        verdict(f"baseline within eta: {name}", code == 0 and eta <= limit, f"{eta:.3f} of {limit}")

    if "block_entry" in ext["oracle"]:
        check_parts(oracle, ext["oracle"], drawn, tail, y[0], size[0], verdict)
    print(definition["name"], "; ".join(f"{n}={v}" for n, v in variable.items()), "near ties" if workload.get("near_ties") else "")
    print("\n".join(lines), flush=True)


def bring_near(oracle, definition, drawn, tail):
    """Replaces what the oracle gives near-ties: a few elements of most rows."""
    for i, name in enumerate(definition["inputs"]):
        entry = definition["x_kernwright"]["inputs"].get(name, {}).get("near_ties_entry")
        if entry is None:
            continue
        near = np.zeros_like(drawn[i][0])
        assert getattr(oracle, entry)(*arguments(drawn), ctypes.c_int64(17), pointer(near), *tail) == 0
        moved = (near != drawn[i][0]).reshape(len(near), -1).sum(axis=1)
        assert moved.max() == 1 and moved.mean() > 0.5, moved
        drawn[i] = (near, near.astype(np.float64))


def check_parts(oracle, entries, drawn, tail, y, size, verdict):
    rng = np.random.default_rng(11)
    m, n = y.shape
    rows = np.sort(rng.choice(m, 5, replace=False)).astype(np.int64)
    cols = np.sort(rng.choice(n, 37, replace=False)).astype(np.int64)
    part, part_s = np.zeros((5, 37)), np.zeros((5, 37))
    getattr(oracle, entries["block_entry"])(
        *arguments(drawn), pointer(rows), ctypes.c_int64(5), pointer(cols), ctypes.c_int64(37), pointer(part),
        pointer(part_s), *tail)
    whole, whole_s = y[np.ix_(rows, cols)], size[np.ix_(rows, cols)]
    error = float((np.abs(part - whole) / (2.0**-53 * whole_s)).max())
    verdict("block vs whole", error < 16 and np.allclose(part_s, whole_s, rtol=1e-5), f"{error:.2f} x 2^-53 S")
    if "project_entry" not in entries:
        return

    r = 20
    X = rng.choice([-1.0, 1.0], (n, r))
    image, image_s = np.zeros((m, r)), np.zeros((m, r))
    getattr(oracle, entries["project_entry"])(
        *arguments(drawn), pointer(X), ctypes.c_int64(r), pointer(image), pointer(image_s), *tail)
    want, want_s = y @ X, size @ np.abs(X)
    error = float((np.abs(image - want) / (2.0**-53 * want_s)).max())
    verdict("project vs whole", error < 64 and np.allclose(image_s, want_s, rtol=1e-4), f"{error:.2f} x 2^-53 S")


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--operators", type=pathlib.Path, default=here.parent.parent / "operators")
    parser.add_argument("--compiler", default="g++-12")
    parser.add_argument("--only", default="", help="only definitions whose name contains this")
    parser.add_argument("--strict", action="store_true", help="a missing PyTorch is a failure")
    options = parser.parse_args()
    if torch is None:
        print("SKIPPED: reference.py comparisons need PyTorch (apt install python3-torch)")
    failures, seen = [], 0
    for path in sorted(options.operators.glob("*/*.definition.json")):
        definition = json.loads(path.read_text())
        if options.only not in definition["name"]:
            continue
        lines = path.with_name(definition["name"] + ".workloads.jsonl").read_text().splitlines()
        workload = json.loads(lines[0])["workload"]
        seen += 1
        with tempfile.TemporaryDirectory() as scratch:
            check(definition, workload, path.parent, options.compiler, pathlib.Path(scratch), failures)
        if any("ranks" in t for t in definition["x_kernwright"]["tolerance"].values()):
            with tempfile.TemporaryDirectory() as scratch:
                check(definition, {**workload, "tied": True}, path.parent, options.compiler, pathlib.Path(scratch), failures)
        if any("near_ties_entry" in rule for rule in definition["x_kernwright"]["inputs"].values()):
            with tempfile.TemporaryDirectory() as scratch:
                check(definition, {**json.loads(lines[-1])["workload"], "near_ties": True}, path.parent, options.compiler, pathlib.Path(scratch), failures)
    if seen == 0:
        failures.append(f"no definitions under {options.operators}")
    print(f"{seen} definitions, {len(failures)} failures" + "".join("\n  " + f for f in failures))
    if failures:
        return 1
    return (1 if options.strict else 77) if torch is None else 0


if __name__ == "__main__":
    sys.exit(main())
