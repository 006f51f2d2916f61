"""A plain PyTorch GPT-2 loop on wen's parity sequences: the other side of the comparison.

Standard parts only: nn.Linear, nn.LayerNorm, scaled_dot_product_attention, Adam; fresh bits on the device, an
evaluation with exact match (and, where asked, attention entropy) as often as ours.
"""

import math
import time

import torch
from torch import nn
from torch.nn import functional


class Block(nn.Module):
    def __init__(self, width: int, heads: int, hidden: int):
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.project, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, hidden), nn.Linear(hidden, width)

    def split(self, x):
        parts = self.project(self.first(x)).chunk(3, dim=-1)
        return (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in parts)

    def forward(self, x):
        query, key, value = self.split(x)
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        return x + self.down(functional.gelu(self.up(self.second(x)), approximate="tanh"))


class GPT(nn.Module):
    def __init__(self, layers: int, heads: int, width: int, hidden: int, length: int):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(2, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads, hidden) for _ in range(layers))
        self.final = nn.LayerNorm(width)

    def forward(self, tokens):
        x = self.tokens(tokens) + self.positions.weight[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.final(x) @ self.tokens.weight.T

    @torch.no_grad()
    def entropies(self, tokens):
        """min over tokens of H / log i, mean over sequences, of every layer and head."""
        x, found = self.tokens(tokens) + self.positions.weight[: tokens.shape[1]], []
        length = tokens.shape[1]
        mask = torch.ones(length, length, device=tokens.device, dtype=torch.bool).tril()
        for block in self.blocks:
            query, key, _ = block.split(x)
            scores = (query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1])).masked_fill(~mask, -math.inf)
            share = scores.float().softmax(-1)
            entropy = -torch.xlogy(share, share).sum(-1)[..., 1:]
            norm = torch.log(torch.arange(2, length + 1, device=tokens.device))
            found.append((entropy / norm).min(-1).values.mean(0))
            x = block(x)
        return torch.stack(found)


def sequences(bits: int, secret, chain: bool, count: int, device):
    """Tokens that are read, targets."""
    inputs = torch.randint(0, 2, (count, bits), device=device)
    thoughts = inputs[:, secret].cumsum(1) % 2
    start = torch.zeros(count, 1, dtype=inputs.dtype, device=device)
    if chain:
        return torch.cat([inputs, start, thoughts[:, :-1]], 1), thoughts
    return torch.cat([inputs, start], 1), thoughts[:, -1:]


def throughput(
    bits: int,
    sparsity: int,
    chain: bool,
    layers: int,
    heads: int,
    width: int,
    hidden: int,
    batch: int,
    every: int,
    seconds: float,
    probed: int = 0,
    low_precision: bool = False,
    compiled: bool = False,
    held_out: int = 2048,
) -> float:
    """Sequences trained per second, evaluations included, after a warm-up."""  # fmt: skip
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.backends.cuda.matmul.allow_tf32 = True  # as JAX multiplies by default
    torch.manual_seed(0)
    secret = torch.randperm(bits)[:sparsity].sort().values.to(device)
    length = bits + (sparsity if chain else 1)
    model = GPT(layers, heads, width, hidden, length).to(device)
    rule = torch.optim.Adam(model.parameters(), lr=1e-4, fused=compiled)
    held = sequences(bits, secret, chain, held_out, device)
    autocast = torch.autocast(device.type, torch.bfloat16, enabled=low_precision)

    read = torch.compile(model) if compiled else model

    def loss_of(tokens, targets):
        logits = read(tokens)[:, -targets.shape[1] :]
        return functional.cross_entropy(logits.reshape(-1, 2).float(), targets.reshape(-1)), logits

    def segment():
        for _ in range(every):
            with autocast:
                loss, _ = loss_of(*sequences(bits, secret, chain, batch, device))
            rule.zero_grad(set_to_none=True)
            loss.backward()
            rule.step()
        with torch.no_grad(), autocast:
            _, logits = loss_of(*held)
            exact = ((logits.argmax(-1) == held[1]).all(1)).float().mean()
            if probed:
                model.entropies(held[0][:probed])
        return float(exact)

    segment()
    begun, done = time.perf_counter(), 0
    while time.perf_counter() - begun < seconds:
        segment()
        done += every * batch
    return done / (time.perf_counter() - begun)
