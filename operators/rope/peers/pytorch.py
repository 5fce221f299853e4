# SPDX-License-Identifier: Apache-2.0
"""PyTorch eager rotary embedding, fp32 arithmetic. A peer: timed beside candidates, never promoted."""
import torch

KW_FRAMEWORK = "torch"
KW_DTYPES = ["bfloat16", "bfloat16", "float32", "int32", "bfloat16", "bfloat16"]
HEAD_DIM = 128


def rotate(x, out, cos, sin, tokens):
    x = x.view(tokens, -1, HEAD_DIM).float()
    first, second = x.chunk(2, -1)
    out.view(tokens, -1, HEAD_DIM).copy_(
        torch.cat((first * cos - second * sin, second * cos + first * sin), -1))


def rope(q, k, cache, positions, q_out, k_out, tokens):
    rows = cache.view(-1, HEAD_DIM).index_select(0, positions)
    cos, sin = rows.view(tokens, 1, HEAD_DIM).chunk(2, -1)
    rotate(q, q_out, cos, sin, tokens)
    rotate(k, k_out, cos, sin, tokens)
