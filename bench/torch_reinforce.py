"""The paper's REINFORCE as one would write it in PyTorch: sample level by level, log-probabilities, autograd."""

import itertools

import torch


def levels_of(bits: int, sparsity: int) -> list[int]:
    """d_0, d_1, ..., d_T."""
    sizes = [bits]
    while sparsity > 1:
        sparsity //= 2
        sizes.append(sparsity)
    return sizes


class Policy(torch.nn.Module):
    """One weight matrix per level under the pretrained mask: source by token, softmax over sources."""

    def __init__(self, bits: int, sparsity: int):
        super().__init__()
        sizes = levels_of(bits, sparsity)
        self.weights = torch.nn.ParameterList(
            [torch.nn.Parameter(torch.ones(below, here)) for below, here in itertools.pairwise(sizes)]
        )


def objective_of(policy: Policy, samples: int, bits: int, secret: torch.Tensor) -> torch.Tensor:
    """From fresh chains: sum over levels of log p(y^(t) | y^(t-1)) r_t (Eq. 6)."""
    level = torch.randint(0, 2, (samples, bits)).float() * 2 - 1
    count = len(secret) - 1
    objective = torch.zeros(())
    for depth, weight in enumerate(policy.weights):
        probability = (level @ weight.softmax(dim=0)) ** 2  # psi(xi) = xi^2
        drawn = torch.bernoulli(probability.detach().clamp(0, 1)) * 2 - 1
        parents = level[:, secret] if depth == 0 else level
        reward = (drawn * parents[:, 0::2] * parents[:, 1::2]).sum(dim=1) / count
        likelihood = torch.where(drawn > 0, probability, 1 - probability)
        objective = objective + (likelihood.log().sum(dim=1) * reward).mean()
        level = drawn
    return objective


def gradient(policy: Policy, samples: int, bits: int, secret: torch.Tensor, objective=objective_of):
    """One policy gradient."""
    return list(torch.autograd.grad(objective(policy, samples, bits, secret), list(policy.parameters())))
