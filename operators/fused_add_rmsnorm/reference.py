# SPDX-License-Identifier: Apache-2.0
import torch


def run(hidden_states, residual, weight):
    """RMSNorm(hidden_states + residual) * weight over the last axis; fp32 inside, bf16 outside."""
    hidden_size = hidden_states.shape[-1]
    epsilon = {4096: 1e-5, 7168: 1e-6}[hidden_size]
    total = hidden_states.to(torch.float32) + residual.to(torch.float32)
    inverse_rms = torch.rsqrt(total.square().mean(dim=-1, keepdim=True) + epsilon)
    return (total * inverse_rms * weight.to(torch.float32)).to(hidden_states.dtype)
