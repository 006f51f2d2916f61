"""The Log-ICoT AdamW experiment as one would write it in PyTorch: T x T weights, mask, gates, autograd."""

import math
import time

import torch


def levels_of(bits: int, sparsity: int) -> list[int]:
    """n_1, ..., n_{L+1}: number of positions up to each level."""
    layers = int(math.log2(sparsity))
    return [bits + sparsity - sparsity // 2**level for level in range(layers + 1)]


def batch_of(count: int, bits: int, secret: torch.Tensor) -> torch.Tensor:
    """Inputs and all tree nodes, shape (count, T)."""
    inputs = torch.randint(0, 2, (count, bits)).float() * 2 - 1
    level, columns = inputs[:, secret], [inputs]
    while level.shape[1] > 1:
        level = level[:, 0::2] * level[:, 1::2]
        columns.append(level)
    return torch.cat(columns, dim=1)


class GatedTransformer(torch.nn.Module):
    def __init__(self, bits: int, sparsity: int):
        super().__init__()
        self.ends = levels_of(bits, sparsity)
        positions, layers = self.ends[-1], len(self.ends) - 1
        self.weights = torch.nn.Parameter(torch.zeros(layers, positions, positions))
        gates, mask = torch.zeros(layers, positions), torch.zeros(positions, positions)
        mask[:bits, :bits] = torch.tril(torch.ones(bits, bits), -1)
        for layer in range(layers):
            gates[layer, self.ends[layer] : self.ends[layer + 1]] = 1
            mask[self.ends[layer] : self.ends[layer + 1], : self.ends[layer]] = 1
        mask[0, 0] = 1  # the first position has no source; its gate is closed
        self.register_buffer("gates", gates)
        self.register_buffer("blocked", mask == 0)

    def forward(self, values: torch.Tensor, depth: int) -> torch.Tensor:
        for layer in range(depth):
            scores = self.weights[layer].masked_fill(self.blocked, -torch.inf).softmax(dim=-1)
            block = -torch.cos(math.pi * (values @ scores.T))
            values = self.gates[layer] * block + (1 - self.gates[layer]) * values
        return values


def train(
    seed: int,
    bits: int = 30,
    sparsity: int = 16,
    batch: int = 500,
    steps: int = 500,
    every: int = 25,
    count: int = 2000,
    rate: float = 0.1,
    decay: float = 0.01,
    compiled: bool = False,
) -> tuple[float, float]:
    """Returns (seconds, accuracy at the end)."""
    torch.manual_seed(seed)
    secret = torch.randperm(bits)[:sparsity].sort().values
    model, held_out = GatedTransformer(bits, sparsity), batch_of(count, bits, secret)
    ends, accuracy = model.ends, 0.0
    if compiled:
        torch._dynamo.config.recompile_limit = 64  # every depth, trained and measured, is a graph of its own
        model = torch.compile(model)
    begun = time.perf_counter()
    for stage in range(1, len(ends)):
        optimiser = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=decay)
        for step in range(1, steps + 1):
            chains = batch_of(batch, bits, secret)
            shown = chains.clone()
            shown[:, bits : ends[stage - 1]] = 0
            error = model(shown, stage)[:, ends[stage - 1] :] - chains[:, ends[stage - 1] :]
            loss = error.square().sum() / (2 * batch)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            if step % every == 0:
                with torch.no_grad():
                    shown = held_out.clone()
                    shown[:, bits : ends[stage - 1]] = 0
                    error = model(shown, stage)[:, ends[stage - 1] :] - held_out[:, ends[stage - 1] :]
                    _ = float(error.square().sum() / (2 * count))
                    blank = held_out.clone()
                    blank[:, bits:] = 0
                    answer = model(blank, len(ends) - 1)[:, -1]
                    accuracy = float((answer * held_out[:, -1] > 0).float().mean())
    return time.perf_counter() - begun, accuracy
