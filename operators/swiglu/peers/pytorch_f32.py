# SPDX-License-Identifier: Apache-2.0
"""PyTorch eager silu and product. A peer: timed beside candidates, never promoted."""
import torch

KW_FRAMEWORK = "torch"
KW_DTYPES = ["float32", "float32", "float32"]


def swiglu(gate, up, out, tokens):
    torch.mul(torch.nn.functional.silu(gate), up, out=out)
