"""What the architecture's claims are checked on: small trees, random data, random weights."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from ...supervision import without
from ...tasks import Boolean, Chain
from ..tree_checks import Tree

ROUNDING = 1e-12  # float64 sums of a few hundred terms of size one
PAPER = "log-icot"
FITS = "the secret's bits are among the inputs: sparsity <= bits"


def fits(size: Any) -> bool:
    """Are there inputs enough for the secret?"""
    return size.sparsity <= size.bits


@dataclasses.dataclass(frozen=True)
class Data(Tree):
    samples: int = 5  # B: the block model's width is T + B(L+1)
    spread: float = 1.0  # of the random weights

    def drawn(self) -> tuple[jax.Array, Chain]:
        """A secret and chains."""
        secret_key, data_key = jax.random.split(jax.random.key(0))
        secret = self.task().draw(secret_key)
        return secret, self.task().sample(secret, data_key, self.samples)


def staged(chains: Chain, task: Boolean, stage: int) -> Chain:
    """The chains as stage t shows them."""
    removed = task.layout.ends[stage - 1] - task.layout.inputs
    return chains.with_shown(jnp.asarray(without(task.layout, removed).prefix.shown))  # pyright: ignore
