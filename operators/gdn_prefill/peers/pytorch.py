# SPDX-License-Identifier: Apache-2.0
"""PyTorch eager gated delta rule, token by token, all heads at once. A peer: timed beside candidates,
never promoted."""
import math

import torch

KW_FRAMEWORK = "torch"
KW_DTYPES = ["bfloat16", "bfloat16", "bfloat16", "float32", "float32", "bfloat16", "float32",
             "bfloat16", "int64", "bfloat16", "float32"]
QK_HEADS, V_HEADS, D = 4, 8, 128


def gdn_prefill(q, k, v, state, a_log, a, dt_bias, b, cu_seqlens, scale, output, new_state, total, num_seqs, _):
    repeat = V_HEADS // QK_HEADS
    q = q.view(total, QK_HEADS, D).float().repeat_interleave(repeat, 1).unsqueeze(-1)
    k = k.view(total, QK_HEADS, D).float().repeat_interleave(repeat, 1).unsqueeze(-1)
    v = v.view(total, V_HEADS, D, 1).float()
    gate = torch.exp(-a_log.exp() * torch.nn.functional.softplus(a.view(total, V_HEADS).float() + dt_bias))
    gate = gate.view(total, V_HEADS, 1, 1)
    beta = torch.sigmoid(b.view(total, V_HEADS, 1, 1).float())
    old, new = (x.view(num_seqs, V_HEADS, D, D) for x in (state, new_state))
    out = output.view(total, V_HEADS, D, 1)
    ends = cu_seqlens.tolist()
    factor = scale if scale != 0 else 1 / math.sqrt(D)
    for n in range(num_seqs):
        s = new[n]
        if ends[n] == ends[n + 1]:
            s.zero_()
            continue
        s.copy_(old[n])
        for t in range(ends[n], ends[n + 1]):
            s.mul_(gate[t])
            s.add_(beta[t] * (v[t] - s @ k[t]) * k[t].transpose(-1, -2))
            out[t].copy_((s @ q[t]) * factor)
