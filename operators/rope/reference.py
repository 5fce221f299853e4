# SPDX-License-Identifier: Apache-2.0
import torch


def run(q, k, cos_sin_cache, positions):
    """Rotates the pairs (j, j + 64) of every head of q and k by the angles cached for its position."""
    row = cos_sin_cache[positions.to(torch.int64)]  # [num_tokens, 128]
    cosine, sine = (half.unsqueeze(1) for half in row.chunk(2, dim=-1))

    def rotate(x):
        first, second = x.to(torch.float32).chunk(2, dim=-1)
        turned = torch.cat((first * cosine - second * sine, second * cosine + first * sine), dim=-1)
        return turned.to(x.dtype)

    return rotate(q), rotate(k)
