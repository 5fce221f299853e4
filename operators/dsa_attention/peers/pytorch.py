# SPDX-License-Identifier: Apache-2.0
"""PyTorch eager sparse attention, token by token: gather, two products, softmax. A peer: timed beside candidates,
never promoted."""
import math

import torch

KW_FRAMEWORK = "torch"
KW_DTYPES = ["bfloat16", "bfloat16", "bfloat16", "bfloat16", "int32", "bfloat16", "float32"]
HEADS, CKV, KPE, TOPK = 16, 512, 64, 2048


def dsa_attention(q_nope, q_pe, ckv, kpe, indices, scale, output, lse, tokens, pages):
    q = torch.cat([q_nope.view(tokens, HEADS, CKV), q_pe.view(tokens, HEADS, KPE)], -1).float() * scale
    keys, rotary = ckv.view(-1, CKV), kpe.view(-1, KPE)
    out, base_2 = output.view(tokens, HEADS, CKV), lse.view(tokens, HEADS)
    rows = indices.view(tokens, TOPK).long()
    for t in range(tokens):
        slots = rows[t][rows[t] >= 0]
        if len(slots) == 0:
            out[t].zero_()
            base_2[t].fill_(-math.inf)
            continue
        value = keys[slots].float()
        logits = q[t] @ torch.cat([value, rotary[slots].float()], -1).T
        base_2[t].copy_(logits.logsumexp(-1) / math.log(2))
        out[t].copy_(logits.softmax(-1) @ value)
