# SPDX-License-Identifier: Apache-2.0
import math

import torch
import torch.nn.functional as F


def run(q, k, v, state, A_log, a, dt_bias, b, cu_seqlens, scale):
    """The gated delta rule over packed sequences; state is [sequence, value head, value, key] in fp32."""
    total, num_k_heads, head_size = k.shape
    num_v_heads = v.shape[1]
    num_seqs = cu_seqlens.shape[0] - 1
    if scale is None or scale == 0.0:
        scale = 1.0 / math.sqrt(head_size)

    def per_value_head(x):  # [total, num_k_heads, head_size] -> [total, num_v_heads, head_size]
        return x.to(torch.float32).repeat_interleave(num_v_heads // num_k_heads, dim=1)

    query, key, value = per_value_head(q), per_value_head(k), v.to(torch.float32)
    step = F.softplus(a.to(torch.float32) + dt_bias)
    decay = torch.exp(-torch.exp(A_log) * step)  # [total, num_v_heads]
    beta = torch.sigmoid(b.to(torch.float32))

    output = torch.zeros(total, num_v_heads, head_size, dtype=torch.float32, device=q.device)
    new_state = torch.zeros(num_seqs, num_v_heads, head_size, head_size, dtype=torch.float32, device=q.device)
    for sequence in range(num_seqs):
        begin, end = int(cu_seqlens[sequence]), int(cu_seqlens[sequence + 1])
        if begin == end:
            continue  # its state stays zero
        kept = new_state[sequence] if state is None else state[sequence].to(torch.float32)
        for t in range(begin, end):
            kept = kept * decay[t, :, None, None]
            predicted = torch.einsum("hvk,hk->hv", kept, key[t])
            correction = beta[t, :, None] * (value[t] - predicted)
            kept = kept + correction[:, :, None] * key[t, :, None, :]
            output[t] = scale * torch.einsum("hvk,hk->hv", kept, query[t])
        new_state[sequence] = kept
    return output.to(v.dtype), new_state
