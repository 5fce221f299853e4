# SPDX-License-Identifier: Apache-2.0
"""PyTorch eager layer_norm. A peer: timed beside candidates, never promoted."""
import torch

KW_FRAMEWORK = "torch"
KW_DTYPES = ["float32", "float32", "float32", "float32"]


def layernorm(x, weight, bias, y, rows):
    h = weight.numel()
    y.view(rows, h).copy_(torch.nn.functional.layer_norm(x.view(rows, h), [h], weight, bias, 1e-5))
