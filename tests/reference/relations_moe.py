# SPDX-License-Identifier: Apache-2.0
"""Relations of the mixture of experts (metamorphic.py)."""
import numpy as np


# ---- mixture of experts: 8 groups of 32 experts, those of the fourth group (from 96 on) are here ----
MOE_TENSORS = ["gemm1_weights", "gemm1_weights_scale", "gemm2_weights", "gemm2_weights_scale"]


def moe_choice(x):
    """Which experts each token is sent to, and which lie in the groups that are kept; [tokens, 256] each."""
    score = 1 / (1 + np.exp(-x["routing_logits"])) + x["routing_bias"]
    grouped = score.reshape(len(score), 8, 32)
    rank = np.argsort(np.argsort(-np.sort(grouped, axis=-1)[..., -2:].sum(-1), axis=-1), axis=-1)
    kept = np.repeat(rank < 4, 32, axis=1)
    place = np.argsort(np.argsort(-np.where(kept, score, -np.inf), axis=-1), axis=-1)
    return place < 8, kept


def moe_select(x, tokens):
    return {**x, "routing_logits": x["routing_logits"][tokens], "hidden_states": x["hidden_states"][tokens],
            "hidden_states_scale": x["hidden_states_scale"][:, tokens]}


def moe_tokens(op, x, rng):
    order = rng.permutation(len(x["hidden_states"]))
    return moe_select(x, order), lambda y: {"output": y["output"][order]}


def moe_independent(op, x, rng):
    half, fresh = len(x["hidden_states"]) // 2, op.inputs(rng)
    axis = {"routing_logits": 0, "hidden_states": 0, "hidden_states_scale": 1}
    other = {n: np.concatenate([v[:half], fresh[n][half:]]) if axis.get(n) == 0 else
             np.concatenate([v[:, :half], fresh[n][:, half:]], axis=1) if axis.get(n) == 1 else v for n, v in x.items()}
    return other, lambda y: {"output": y["output"][:half]}


def moe_experts(op, x, rng):
    """Groups in another order but for the one that is here, experts in another order within each: the weights with them."""
    assert moe_choice(x)[0][:, 96:128].any()
    groups = np.insert(rng.permutation([0, 1, 2, 4, 5, 6, 7]), 3, 3)
    inside = [rng.permutation(32) for _ in range(8)]
    order = np.concatenate([32 * g + inside[g] for g in groups])
    return {**x, "routing_logits": x["routing_logits"][:, order], "routing_bias": x["routing_bias"][order],
            **{n: x[n][inside[3]] for n in MOE_TENSORS}}, lambda y: y


def moe_idle_expert(op, x, rng):
    """The weights of experts that no token is sent to do not matter."""
    idle = ~moe_choice(x)[0][:, 96:128].any(axis=0)
    assert 0 < idle.sum() < 32
    return {**x, **{n: np.where(idle.reshape(-1, *[1] * (x[n].ndim - 1)), 0, x[n]) for n in MOE_TENSORS}}, lambda y: y


def moe_left_out(op, x, rng):
    """Logits in groups that are not kept may fall, though some of them are above others that are chosen."""
    chosen, kept = moe_choice(x)
    score = 1 / (1 + np.exp(-x["routing_logits"])) + x["routing_bias"]
    assert (np.where(kept, -np.inf, score).max(axis=1) > np.where(chosen, score, np.inf).min(axis=1)).any()
    return {**x, "routing_logits": np.where(kept, x["routing_logits"], -20)}, lambda y: y


def moe_bias_shift(op, x, rng):
    """Bias decides who is chosen, and has no part in the weights."""
    return {**x, "routing_bias": x["routing_bias"] + 1}, lambda y: y


def moe_other_rank(op, x, rng):
    """All experts two groups on, and the rank with them."""
    return {**x, "routing_logits": np.roll(x["routing_logits"], 64, axis=1), "routing_bias": np.roll(x["routing_bias"], 64),
            "local_expert_offset": x["local_expert_offset"] + 64}, lambda y: y


def moe_across_groups(op, x, rng):
    """A rank whose experts lie in two groups has half of each of its neighbours' answers."""
    def of_half(v, half):  # the other experts' answers are nothing
        out = v["gemm2_weights_scale"].copy()
        out[16 * (1 - half):16 * (2 - half)] = 0
        return {**v, "gemm2_weights_scale": out}

    first, second = of_half(x, 1), of_half(x, 0)  # experts 112..127, then 96..111
    y = op(first)["output"]
    rolled = {n: np.roll(second[n], 16, axis=0) for n in MOE_TENSORS}  # 16 on: they begin at 80
    z = op({**second, **rolled, "local_expert_offset": x["local_expert_offset"] - 16})["output"]
    return x, lambda _: {"output": y + z}


def moe_halves(half, zero):
    """The linear half negated (0), or the gate shut (1)."""
    def relation(op, x, rng):
        scale = x["gemm1_weights_scale"].copy()
        rows = scale.shape[1] // 2
        scale[:, half * rows:(half + 1) * rows] *= 0 if zero else -1
        return {**x, "gemm1_weights_scale": scale}, lambda y: {"output": 0 * y["output"] if zero else -y["output"]}
    return relation
