# SPDX-License-Identifier: Apache-2.0
"""Relations of operators over paged caches: sparse attention and its indexer (metamorphic.py)."""
import numpy as np

from crosscheck import e4m3_codes, e4m3_values


def vectors(cache):
    """The parts of packed pages [pages, tokens, 1, dim + 4] of bytes: values [pages, tokens, dim], scales [pages, tokens]."""
    pages, tokens, _, width = cache.shape
    flat = cache.astype(np.int8).reshape(pages, -1).view(np.uint8)
    dim = width - 4
    return e4m3_values(flat[:, :tokens * dim]).reshape(pages, tokens, dim), \
        flat[:, tokens * dim:].copy().view(np.float32).reshape(pages, tokens)


def packed(k, scales, shape):
    pages = shape[0]
    both = np.concatenate([e4m3_codes(k).reshape(pages, -1), scales.astype(np.float32).reshape(pages, -1).view(np.uint8)], axis=1)
    return both.view(np.int8).reshape(shape).astype(np.float64)


def small_pages(rng, shape):
    """Small integers, sums of which are exact, and scales of 24 bits: no two scores are equal."""
    pages, tokens, _, width = shape
    return packed(rng.integers(-4, 5, (pages, tokens, width - 4)).astype(np.float64), rng.uniform(1, 2, (pages, tokens)), shape)


def dsa_tokens(op, x, rng):
    """Tokens in another order: so are the answers."""
    order = rng.permutation(len(x["q_pe"]))
    return {n: v[order] if n in ("q_nope", "q_pe", "sparse_indices") else v for n, v in x.items()}, \
        lambda y: {n: v[order] for n, v in y.items()}


def dsa_apart(op, x, rng):
    fresh = op.inputs(rng)
    other = {n: np.concatenate([x[n][:1], fresh[n][1:]]) for n in ("q_nope", "q_pe", "sparse_indices")}
    return {**x, **other}, lambda y: {n: v[:1] for n, v in y.items()}


def dsa_pages(op, x, rng):
    """Pages stored elsewhere, and the slots renamed with them."""
    pages, size = x["ckv_cache"].shape[:2]
    to = np.roll(np.arange(pages), int(rng.integers(1, pages)))
    moved = {n: x[n][np.argsort(to)] for n in ("ckv_cache", "kpe_cache")}
    slots = x["sparse_indices"].astype(int)
    return {**x, **moved, "sparse_indices": np.where(slots < 0, -1.0, to[slots // size] * size + slots % size)}, lambda y: y


def dsa_order(*outputs):
    """Entries of a row in another order."""
    def relation(op, x, rng):
        slots = x["sparse_indices"].copy()
        for row in slots:
            n = int((row >= 0).sum())
            row[:n] = rng.permutation(row[:n])
        return {**x, "sparse_indices": slots}, lambda y: {n: y[n] for n in outputs}
    return relation


def dsa_unchosen(op, x, rng):
    """Entries that no row names do not matter."""
    pages, size = x["ckv_cache"].shape[:2]
    chosen = np.zeros(pages * size, bool)
    chosen[x["sparse_indices"][x["sparse_indices"] >= 0].astype(int)] = True
    assert not chosen.all()
    fresh = op.inputs(rng)
    kept = chosen.reshape(pages, size, 1)
    return {**x, **{n: np.where(kept, x[n], fresh[n]) for n in ("ckv_cache", "kpe_cache")}}, lambda y: y


def dsa_single(output):
    """One entry: its value is the answer, its logit the lse."""
    def relation(op, x, rng):
        slots = np.full_like(x["sparse_indices"], -1)
        slots[:, 0] = chosen = rng.permutation(x["ckv_cache"].shape[0] * x["ckv_cache"].shape[1])[:len(slots)]
        v, p = (x[n].reshape(-1, x[n].shape[-1])[chosen] for n in ("ckv_cache", "kpe_cache"))
        logit = x["sm_scale"] * (np.einsum("thd,td->th", x["q_nope"], v) + np.einsum("thd,td->th", x["q_pe"], p))
        want = {"output": np.broadcast_to(v[:, None], x["q_nope"].shape), "lse": logit / np.log(2)}
        return {**x, "sparse_indices": slots}, lambda y: {output: want[output]}
    return relation


def dsa_nothing(op, x, rng):
    return {**x, "sparse_indices": np.full_like(x["sparse_indices"], -1)}, \
        lambda y: {"output": np.zeros_like(y["output"]), "lse": np.full_like(y["lse"], -np.inf)}


def dsa_scale(op, x, rng):
    """The scale may as well stand in the queries."""
    return {**x, "q_nope": 4 * x["q_nope"], "q_pe": 4 * x["q_pe"], "sm_scale": x["sm_scale"] / 4}, lambda y: y


def dsa_merged(output):
    """A row in two parts, put together by their lse in base 2."""
    def relation(op, x, rng):
        slots = x["sparse_indices"]
        middle = (slots >= 0).sum(axis=1) // 2
        place = np.arange(slots.shape[1])
        first = np.where(place < middle[:, None], slots, -1)
        last = np.where(place >= middle[:, None], slots, -1)
        last = np.stack([np.roll(row, -n) for row, n in zip(last, middle)])
        a, b = (op({**x, "sparse_indices": s}) for s in (first, last))
        lse = np.logaddexp2(a["lse"], b["lse"])
        base = np.where(np.isinf(lse), 0, lse)[..., None]
        merged = a["output"] * 2 ** (a["lse"][..., None] - base) + b["output"] * 2 ** (b["lse"][..., None] - base)
        want = {"output": merged, "lse": lse}
        return x, lambda y: {output: want[output]}
    return relation


def dsa_indifferent(output):
    """Without queries all entries count alike."""
    def relation(op, x, rng):
        keys = x["ckv_cache"].reshape(-1, x["ckv_cache"].shape[-1])
        rows = [row[row >= 0].astype(int) for row in x["sparse_indices"]]
        mean = np.stack([keys[row].mean(axis=0) if len(row) else 0 * keys[0] for row in rows])
        with np.errstate(divide="ignore"):
            count = np.log2([len(row) for row in rows])
        want = {"output": np.broadcast_to(mean[:, None], x["q_nope"].shape),
                "lse": np.broadcast_to(count[:, None], x["q_nope"].shape[:2])}
        return {**x, "q_nope": 0 * x["q_nope"], "q_pe": 0 * x["q_pe"]}, lambda y: {output: want[output]}
    return relation


def dsa_no_rotary(op, x, rng):
    """Without a rotated query the rotated keys do not matter."""
    first = op({**x, "q_pe": 0 * x["q_pe"]})
    return {**x, "q_pe": 0 * x["q_pe"], "kpe_cache": op.inputs(rng)["kpe_cache"]}, lambda y: first


def dsa_moved(op, x, rng):
    """Rotated keys stored among the latent ones as well: logits do not say where they came from."""
    width = x["kpe_cache"].shape[-1]
    keys = x["ckv_cache"].copy()
    keys[..., :width] = x["kpe_cache"]
    here, there = x["q_nope"].copy(), x["q_nope"].copy()
    here[..., :width], there[..., :width] = 0, x["q_pe"]
    first = op({**x, "ckv_cache": keys, "q_nope": here})
    return {**x, "ckv_cache": keys, "q_nope": there, "q_pe": 0 * x["q_pe"]}, lambda y: first


def dsa_negated(op, x, rng):
    return {**x, "ckv_cache": -x["ckv_cache"], "q_nope": -x["q_nope"]}, lambda y: {**y, "output": -y["output"]}


def indexer_rows(op, x, rng):
    """Sequences in another order: so are the answers."""
    order = rng.permutation(len(x["seq_lens"]))
    return {n: v if n == "k_index_cache_fp8" else v[order] for n, v in x.items()}, lambda y: {n: v[order] for n, v in y.items()}


def indexer_pages(op, x, rng):
    """Pages stored elsewhere and named so in the block table: indices move with them."""
    to = rng.permutation(len(x["k_index_cache_fp8"]))
    size = x["k_index_cache_fp8"].shape[1]

    def renamed(ids):
        ids = ids.astype(int)
        return -np.sort(-np.where(ids < 0, -1.0, to[ids // size] * size + ids % size), axis=1)

    moved = {"k_index_cache_fp8": x["k_index_cache_fp8"][np.argsort(to)], "block_table": to[x["block_table"].astype(int)].astype(np.float64)}
    return {**x, **moved}, lambda y: {n: renamed(v) for n, v in y.items()}


def indexer_unreached(op, x, rng):
    """What no sequence reaches does not matter: tokens of the cache, and the ends of rows of the block table."""
    size = x["k_index_cache_fp8"].shape[1]
    k, scales = vectors(x["k_index_cache_fp8"])
    reached, table = np.zeros(scales.shape, bool), x["block_table"].copy()
    for row, n in zip(table, x["seq_lens"].astype(int)):
        tokens = np.arange(n)
        reached[row[tokens // size].astype(int), tokens % size] = True
        row[-(-n // size):] = -1
    assert 0 < reached.sum() < reached.size
    loud = packed(np.where(reached[..., None], k, 448), np.where(reached, scales, 1e6), x["k_index_cache_fp8"].shape)
    return {**x, "k_index_cache_fp8": loud, "block_table": table}, lambda y: y


def indexer_doubled(op, x, rng):
    """Vectors twice as long with scales half as great, subnormal numbers among them: the same scores."""
    shape = x["k_index_cache_fp8"].shape
    _, scales = vectors(x["k_index_cache_fp8"])
    k = rng.integers(-7, 8, (*scales.shape, shape[3] - 4)) / 512.0  # the subnormal numbers of the format
    first = op({**x, "k_index_cache_fp8": packed(k, scales, shape)})
    assert not all(np.array_equal(v, op(x)[n]) for n, v in first.items())
    return {**x, "k_index_cache_fp8": packed(16 * k, scales / 16, shape)}, lambda y: first


def indexer_closed(op, x, rng):
    """Heads whose products are all negative weigh nothing."""
    shape = x["k_index_cache_fp8"].shape
    k, scales = vectors(x["k_index_cache_fp8"])
    x = {**x, "k_index_cache_fp8": packed(np.abs(k), scales, shape)}
    weights, q = x["weights"].copy(), x["q_index_fp8"].copy()
    weights[:, ::3] = 0
    q[:, ::3] = -np.abs(q[:, ::3])
    first = op({**x, "weights": weights})
    return {**x, "q_index_fp8": q}, lambda y: first


def indexer_order(axis):
    """Heads, or elements of vectors, in another order: sums are exact here, so the same scores."""
    def relation(op, x, rng):
        order = rng.permutation(x["q_index_fp8"].shape[axis])
        q = np.take(x["q_index_fp8"], order, axis)
        if axis == 1:
            return {**x, "q_index_fp8": q, "weights": x["weights"][:, order]}, lambda y: y
        k, scales = vectors(x["k_index_cache_fp8"])
        return {**x, "q_index_fp8": q, "k_index_cache_fp8": packed(k[..., order], scales, x["k_index_cache_fp8"].shape)}, lambda y: y
    return relation


def indexer_by_scale(sign):
    """One vector for all tokens, and weights of one sign: the greatest scales win, or the least."""
    def relation(op, x, rng):
        k, scales = vectors(x["k_index_cache_fp8"])
        size, topk = scales.shape[1], op.axes["topk"]
        same = {**x, "k_index_cache_fp8": packed(np.full_like(k, 2), scales, x["k_index_cache_fp8"].shape),
                "q_index_fp8": np.abs(x["q_index_fp8"]), "weights": np.full_like(x["weights"], sign)}
        ids = np.full((len(x["seq_lens"]), topk), -1.0)
        for row, table, n in zip(ids, x["block_table"].astype(int), x["seq_lens"].astype(int)):
            tokens = np.arange(n)
            all_ids = table[tokens // size] * size + tokens % size
            best = all_ids[np.argsort(-sign * scales.reshape(-1)[all_ids], kind="stable")][:topk]
            row[:len(best)] = -np.sort(-best)
        return same, lambda y: {n: ids for n in y}
    return relation


def indexer_short(op, x, rng):
    """Sequences of no more tokens than are selected: all of them, then -1."""
    topk, size = op.axes["topk"], x["k_index_cache_fp8"].shape[1]
    lengths = np.array([0, 1, size, size + 1, topk - 1, topk])
    ids = np.full((len(lengths), topk), -1.0)
    for row, table, n in zip(ids, x["block_table"].astype(int), lengths):
        tokens = np.arange(n)
        row[:n] = -np.sort(-(table[tokens // size] * size + tokens % size))
    return {**x, "seq_lens": lengths.astype(np.float64)}, lambda y: {n: ids for n in y}
