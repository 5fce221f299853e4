# SPDX-License-Identifier: Apache-2.0
"""PyTorch eager gated delta rule step, all sequences and heads at once. A peer: timed beside
candidates, never promoted."""
import math

import torch

KW_FRAMEWORK = "torch"
KW_DTYPES = ["bfloat16", "bfloat16", "bfloat16", "float32", "float32", "bfloat16", "float32",
             "bfloat16", "bfloat16", "float32"]
QK_HEADS, V_HEADS, D = 4, 8, 128


def gdn_decode(q, k, v, state, a_log, a, dt_bias, b, scale, output, new_state, batch):
    repeat = V_HEADS // QK_HEADS
    q = q.view(batch, QK_HEADS, D).float().repeat_interleave(repeat, 1).unsqueeze(-1)
    k = k.view(batch, QK_HEADS, D).float().repeat_interleave(repeat, 1).unsqueeze(-1)
    v = v.view(batch, V_HEADS, D, 1).float()
    gate = torch.exp(-a_log.exp() * torch.nn.functional.softplus(a.view(batch, V_HEADS).float() + dt_bias))
    beta = torch.sigmoid(b.view(batch, V_HEADS).float())
    new = new_state.view(batch, V_HEADS, D, D)
    torch.mul(state.view(batch, V_HEADS, D, D), gate.view(batch, V_HEADS, 1, 1), out=new)
    delta = beta.view(batch, V_HEADS, 1, 1) * (v - new @ k)
    new.add_(delta * k.transpose(-1, -2))
    output.view(batch, V_HEADS, D, 1).copy_((new @ q) * (scale if scale != 0 else 1 / math.sqrt(D)))
