# SPDX-License-Identifier: Apache-2.0
import torch


def run(routing_logits, routing_bias, hidden_states, hidden_states_scale, gemm1_weights, gemm1_weights_scale,
        gemm2_weights, gemm2_weights_scale, local_expert_offset, routed_scaling_factor):
    """DeepSeek-V3 routing and the fp8 experts of one rank; scales are per block of 128, weights 128 x 128."""
    tokens, num_experts = routing_logits.shape
    num_local, groups, kept_groups, top_k, block = gemm1_weights.shape[0], 8, 4, 8, 128
    scores = torch.sigmoid(routing_logits.to(torch.float32))
    biased = scores + routing_bias.to(torch.float32)
    grouped = biased.view(tokens, groups, num_experts // groups)
    group_score = grouped.topk(2, dim=-1).values.sum(-1)
    kept = torch.zeros_like(group_score, dtype=torch.bool).scatter_(1, group_score.topk(kept_groups, dim=-1).indices, True)
    eligible = grouped.masked_fill(~kept.unsqueeze(-1), float("-inf")).view(tokens, num_experts)
    chosen = eligible.topk(top_k, dim=-1).indices
    weights = scores.gather(1, chosen)
    weights = weights / (weights.sum(-1, keepdim=True) + 1e-20) * routed_scaling_factor

    def blocks(scale, dim):
        return scale.to(torch.float32).repeat_interleave(block, dim=dim)

    x = hidden_states.to(torch.float32) * blocks(hidden_states_scale.t(), 1)
    output = torch.zeros(x.shape, dtype=torch.float32, device=x.device)
    for expert in range(num_local):
        token, place = (chosen == int(local_expert_offset) + expert).nonzero(as_tuple=True)
        if token.numel() == 0:
            continue
        w1 = gemm1_weights[expert].to(torch.float32) * blocks(blocks(gemm1_weights_scale[expert], 0), 1)
        linear, gate = (x[token] @ w1.t()).chunk(2, dim=-1)
        w2 = gemm2_weights[expert].to(torch.float32) * blocks(blocks(gemm2_weights_scale[expert], 0), 1)
        mlp = (torch.nn.functional.silu(gate) * linear) @ w2.t()
        output.index_add_(0, token, mlp * weights[token, place].unsqueeze(-1))
    return output.to(torch.bfloat16)
