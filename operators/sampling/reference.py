# SPDX-License-Identifier: Apache-2.0
import torch


def run(logits, seed):
    """One place per row of logits [rows, n], drawn from the most probable part of its softmax that has 0.9 of the mass."""
    p = torch.softmax(logits, dim=-1)
    ordered, places = torch.sort(p, dim=-1, descending=True)
    before = torch.cumsum(ordered, dim=-1) - ordered
    kept = torch.where(before < 0.9, ordered, torch.zeros_like(ordered))
    generator = torch.Generator(device=logits.device)
    generator.manual_seed(int(seed))
    drawn = torch.multinomial(kept, 1, generator=generator)
    return torch.gather(places, 1, drawn).squeeze(1).to(torch.int32)
