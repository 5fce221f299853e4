# SPDX-License-Identifier: Apache-2.0
"""PyTorch eager nucleus sampling. A peer: timed beside candidates, never promoted."""
import torch

KW_FRAMEWORK = "torch"
KW_DTYPES = ["float32", "int64", "int32"]


def sample(logits, seed, token, rows, n):
    p = torch.softmax(logits.view(rows, n), -1)
    ordered, places = torch.sort(p, dim=-1, descending=True)
    ordered[torch.cumsum(ordered, -1) - ordered >= 0.9] = 0
    generator = torch.Generator()
    generator.manual_seed(int(seed))
    token.copy_(torch.gather(places, 1, torch.multinomial(ordered, 1, generator=generator)).view(rows))
