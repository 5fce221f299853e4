# SPDX-License-Identifier: Apache-2.0
"""PyTorch eager mixture of experts, expert by expert, weights widened to fp32 for those in use. A peer:
timed beside candidates, never promoted. Without a float8 type (PyTorch before 2.1) by a table of its values."""
import torch

KW_FRAMEWORK = "torch"
KW_DTYPES = ["float32", "bfloat16", "uint8", "float32", "uint8", "float32", "uint8", "float32", "bfloat16"]
GROUPS, KEPT, TOP_K, LOCAL, BLOCK = 8, 4, 8, 32, 128
SIZES = [(c & 7) * 2.0**-9 if c < 8 else (8 + (c & 7)) * 2.0**((c >> 3) - 10) for c in range(127)] + [float("nan")]
TABLE = torch.tensor(SIZES + [-x for x in SIZES])


def from_e4m3(codes):
    return codes.view(torch.float8_e4m3fn).float() if hasattr(torch, "float8_e4m3fn") else TABLE[codes.long()]


def widened(weights, scale):
    rows, columns = weights.shape
    tiles = from_e4m3(weights).view(rows // BLOCK, BLOCK, columns // BLOCK, BLOCK)
    return (tiles * scale.view(rows // BLOCK, 1, columns // BLOCK, 1)).view(rows, columns)


def moe(logits, bias, states, states_scale, w1, w1_scale, w2, w2_scale, offset, factor, output, tokens):
    scores = logits.view(tokens, -1).sigmoid()
    biased = (scores + bias.float()).view(tokens, GROUPS, -1)
    best = biased.topk(2, dim=-1).values.sum(-1).topk(KEPT, dim=-1).indices
    kept = torch.zeros(tokens, GROUPS, dtype=torch.bool).scatter_(1, best, True)
    chosen = biased.masked_fill(~kept.unsqueeze(-1), float("-inf")).view(tokens, -1).topk(TOP_K, dim=-1).indices
    weight = scores.gather(1, chosen)
    weight = weight / (weight.sum(-1, keepdim=True) + 1e-20) * factor
    x = from_e4m3(states).view(tokens, -1, BLOCK) * states_scale.view(-1, tokens).t().unsqueeze(-1)
    x = x.view(tokens, -1)
    w1, w2 = w1.view(LOCAL, -1, x.shape[1]), w2.view(LOCAL, x.shape[1], -1)
    w1_scale, w2_scale = w1_scale.view(LOCAL, -1), w2_scale.view(LOCAL, -1)
    total = torch.zeros_like(x)
    for expert in range(LOCAL):
        token, place = (chosen == offset + expert).nonzero(as_tuple=True)
        if token.numel() == 0:
            continue
        linear, gate = (x[token] @ widened(w1[expert], w1_scale[expert]).t()).chunk(2, dim=-1)
        mlp = (torch.nn.functional.silu(gate) * linear) @ widened(w2[expert], w2_scale[expert]).t()
        total.index_add_(0, token, mlp * weight[token, place].unsqueeze(-1))
    output.view(tokens, -1).copy_(total)
