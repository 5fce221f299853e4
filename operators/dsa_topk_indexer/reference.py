# SPDX-License-Identifier: Apache-2.0
import torch

BYTES, SCALES = torch.uint8, torch.float32


def e4m3(codes):
    """Values of float8_e4m3fn bytes, for versions of PyTorch that do not have the type."""
    codes = codes.to(torch.int64)
    exponent, fraction = codes >> 3 & 15, (codes & 7).to(torch.float32)
    size = torch.where(exponent == 0, fraction / 512, (8 + fraction) * 2.0 ** (exponent - 10).to(torch.float32))
    return torch.where(codes >= 128, -size, size)


def run(q_index_fp8, k_index_cache_fp8, weights, seq_lens, block_table):
    """The indices page * 64 + offset of each row's 2048 tokens with the greatest scores, then -1.

    A page of the cache has the 64 vectors of its tokens first and behind them their 64 scales.
    """
    topk = 2048
    batch = q_index_fp8.shape[0]
    num_pages, page_size, _, width = k_index_cache_fp8.shape
    dim = width - 4
    pages = k_index_cache_fp8.reshape(num_pages, page_size * width).view(BYTES)
    out = torch.full((batch, topk), -1, dtype=torch.int32, device=q_index_fp8.device)
    for b in range(batch):
        length = int(seq_lens[b])
        if length == 0:
            continue
        owned = block_table[b, :(length + page_size - 1) // page_size].to(torch.int64)
        packed = pages[owned]
        k = e4m3(packed[:, :page_size * dim]).reshape(-1, dim)[:length]
        scale = packed[:, page_size * dim:].contiguous().view(SCALES).reshape(-1)[:length]
        k = k * scale.to(torch.float32).unsqueeze(1)
        q = q_index_fp8[b].to(torch.float32)
        scores = (torch.relu(q @ k.T) * weights[b].to(torch.float32).unsqueeze(1)).sum(dim=0)
        kept = min(topk, length)
        places = torch.topk(scores, kept).indices
        out[b, :kept] = (owned[places // page_size] * page_size + places % page_size).to(torch.int32)
    return out
