# SPDX-License-Identifier: Apache-2.0
import torch


def run(A, B):
    """C [M, N] = A [M, K] * B [N, K]^T, accumulated in fp32, rounded once to the dtype of A."""
    return torch.matmul(A.to(torch.float32), B.to(torch.float32).T).to(A.dtype)
