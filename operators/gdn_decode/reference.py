# SPDX-License-Identifier: Apache-2.0
import math

import torch
import torch.nn.functional as F


def run(q, k, v, state, A_log, a, dt_bias, b, scale):
    """One step of the gated delta rule; state is [batch, value head, value, key] in fp32."""
    batch, _, num_k_heads, head_size = k.shape
    num_v_heads = v.shape[2]
    if scale is None or scale == 0.0:
        scale = 1.0 / math.sqrt(head_size)

    def per_value_head(x):  # [batch, 1, num_k_heads, head_size] -> [batch, num_v_heads, head_size]
        return x.squeeze(1).to(torch.float32).repeat_interleave(num_v_heads // num_k_heads, dim=1)

    query, key = per_value_head(q), per_value_head(k)
    value = v.squeeze(1).to(torch.float32)
    if state is None:
        state = torch.zeros(batch, num_v_heads, head_size, head_size, dtype=torch.float32, device=q.device)

    step = F.softplus(a.squeeze(1).to(torch.float32) + dt_bias)
    decay = torch.exp(-torch.exp(A_log) * step)  # [batch, num_v_heads]
    beta = torch.sigmoid(b.squeeze(1).to(torch.float32))

    kept = state * decay[..., None, None]
    predicted = torch.einsum("bhvk,bhk->bhv", kept, key)
    correction = beta[..., None] * (value - predicted)
    new_state = kept + correction[..., :, None] * key[..., None, :]
    output = scale * torch.einsum("bhvk,bhk->bhv", new_state, query)
    return output.unsqueeze(1).to(v.dtype), new_state
