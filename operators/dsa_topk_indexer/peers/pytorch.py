# SPDX-License-Identifier: Apache-2.0
"""PyTorch eager indexer, one row after the other. A peer: timed beside candidates, never promoted."""
import torch

KW_FRAMEWORK = "torch"
KW_DTYPES = ["uint8", "int8", "float32", "int32", "int32", "int32"]
HEADS, DIM, PAGE, TOPK = 64, 128, 64, 2048


def values():
    codes = torch.arange(256)
    exponent, fraction = codes >> 3 & 15, (codes & 7).float()
    size = torch.where(exponent == 0, fraction / 512, (8 + fraction) * 2.0 ** (exponent - 10).float())
    return torch.where(codes >= 128, -size, size)


def indexer(q, cache, weights, seq_lens, block_table, out, batch, max_num_pages, num_pages):
    value = values()
    pages = cache.view(torch.uint8).view(num_pages, PAGE * (DIM + 4))
    queries = value[q.view(torch.uint8).view(batch, HEADS, DIM).long()]
    weights, table, out = weights.view(batch, HEADS), block_table.view(batch, max_num_pages), out.view(batch, TOPK)
    out.fill_(-1)
    for b, length in enumerate(seq_lens.tolist()):
        owned = table[b, :(length + PAGE - 1) // PAGE].long()
        ids = (owned[:, None] * PAGE + torch.arange(PAGE)).view(-1)[:length]
        if length > TOPK:
            packed = pages[owned]
            k = value[packed[:, :PAGE * DIM].long()].view(-1, DIM)[:length]
            scale = packed[:, PAGE * DIM:].contiguous().view(torch.float32).view(-1)[:length]
            scores = (weights[b] @ torch.relu(queries[b] @ k.T)) * scale
            ids = ids[torch.topk(scores, TOPK).indices]
        out[b, :len(ids)] = ids.int()
