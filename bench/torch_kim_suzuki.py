"""The published experiment as one would write it in PyTorch: the transformer on its own output, autograd, GD."""

import time

import torch


def phi(t):
    """The published link: quadratic-linear with joint 1/2."""
    size = t.abs()
    return torch.where(size <= 0.5, 4 * t * t - 1, 1 - 4 * (1 - size) ** 2)


def chains(bits: int, sparsity: int, samples: int) -> torch.Tensor:
    """float[sample, position]: inputs, then thoughts level by level; the first bits are the secret."""
    level = torch.randint(0, 2, (samples, bits)).float() * 2 - 1
    parts, level = [level], level[:, :sparsity]
    while level.shape[1] > 1:
        level = level[:, 0::2] * level[:, 1::2]
        parts.append(level)
    return torch.cat(parts, dim=1)


def allowed(bits: int, sparsity: int, lesson: str) -> torch.Tensor:
    """bool[thought, position]: causal for the answer alone, lower levels else."""
    thoughts = sparsity - 1
    levels, size = [0] * bits, sparsity // 2
    while size:
        levels += [levels[-1] + 1] * size
        size //= 2
    level, position = torch.tensor(levels), torch.arange(bits + thoughts)
    if lesson == "direct":
        return position[None, :] < position[bits:, None]
    return level[None, :] < level[bits:, None]


def loss_of(weights, data, mask, lesson: str, bits: int):
    """Of the full batch."""
    thoughts = data.shape[1] - bits
    scores = torch.softmax(weights.masked_fill(~mask, -torch.inf), dim=1)
    if lesson == "forced":
        found = phi(data @ scores.T)
    else:
        rounds = thoughts if lesson == "direct" else (thoughts + 1).bit_length() - 1
        found = torch.zeros(len(data), thoughts)
        for _ in range(rounds):
            found = phi(torch.cat([data[:, :bits], found], dim=1) @ scores.T)
    truth = data[:, bits:]
    if lesson == "direct":
        return 0.5 * ((found[:, -1] - truth[:, -1]) ** 2).mean()
    return 0.5 * ((found - truth) ** 2).sum() / len(data) / thoughts


def seconds(bits: int, sparsity: int, samples: int, lesson: str, epochs: int, compiled: bool = False) -> float:
    """Seconds per epoch, after two to warm up."""
    torch.manual_seed(0)
    data, mask = chains(bits, sparsity, samples), allowed(bits, sparsity, lesson)
    weights = torch.zeros(sparsity - 1, bits + sparsity - 1, requires_grad=True)
    measure = torch.compile(loss_of) if compiled else loss_of

    def epoch():
        loss = measure(weights, data, mask, lesson, bits)
        (slope,) = torch.autograd.grad(loss, [weights])
        with torch.no_grad():
            weights.sub_(slope)
        return float(loss.detach())

    epoch()
    epoch()
    begun = time.perf_counter()
    for _ in range(epochs):
        epoch()
    return (time.perf_counter() - begun) / epochs
