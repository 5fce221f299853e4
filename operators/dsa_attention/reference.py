# SPDX-License-Identifier: Apache-2.0
import math

import torch


def run(q_nope, q_pe, ckv_cache, kpe_cache, sparse_indices, sm_scale):
    """Attention over the entries of a paged latent cache that each token's row of indices names; lse in base 2."""
    num_tokens, num_heads, head_dim_ckv = q_nope.shape
    keys = ckv_cache.reshape(-1, head_dim_ckv)  # a slot is page * page_size + offset
    rotary_keys = kpe_cache.reshape(-1, kpe_cache.shape[-1])
    output = torch.zeros(num_tokens, num_heads, head_dim_ckv, dtype=torch.float32, device=q_nope.device)
    lse = torch.full((num_tokens, num_heads), -math.inf, dtype=torch.float32, device=q_nope.device)
    for token in range(num_tokens):
        row = sparse_indices[token]
        slots = row[row >= 0].long()
        if slots.numel() == 0:
            continue
        key, rotary = keys[slots].to(torch.float32), rotary_keys[slots].to(torch.float32)
        logits = q_nope[token].to(torch.float32) @ key.T + q_pe[token].to(torch.float32) @ rotary.T
        logits = logits * sm_scale
        lse[token] = torch.logsumexp(logits, dim=-1) / math.log(2)
        output[token] = torch.softmax(logits, dim=-1) @ key
    return output.to(q_nope.dtype), lse
