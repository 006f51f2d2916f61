"""What the model's claims are checked on: random weights of any scale, sampled or enumerated chains."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ...errors import require
from ...models import AbstractLink, Positional
from ...models.positional import positional
from ...tasks import Boolean, Chain
from ..tree_checks import Tree

PAPER = "kim-suzuki"
ROUNDING = 1e-12  # float64 sums of a few hundred terms of size one


@dataclasses.dataclass(frozen=True)
class Weights(Tree):
    spread: float = 2.0  # standard deviation of the random weights
    trials: int = 5

    def __post_init__(self):
        require(self.trials >= 1, f"weights are drawn once or more: trials={self.trials}; use 1 or more")

    def models(self, link: "str | AbstractLink" = "cosine", mask: str = "lower-levels") -> list[Positional]:
        """Independent Gaussian weights: identities must hold at any weights."""
        generator, plain = np.random.default_rng(0), positional(self.task(), link, mask)
        return [
            eqx.tree_at(lambda m: m.weights, plain, jnp.asarray(self.spread * generator.normal(size=plain.weights.shape)))
            for _ in range(self.trials)
        ]  # fmt: skip

    def chains(self, count: int) -> tuple[jax.Array, Chain]:
        """A secret and chains."""
        draw, data = jax.random.split(jax.random.key(0))
        secret = self.task().draw(draw)
        return secret, self.task().sample(secret, data, count)


def child_weights(weights: jax.Array | np.ndarray, task: Boolean, secret) -> np.ndarray:
    """float[thought, 2]: the weights that should grow."""
    return np.take_along_axis(np.asarray(weights), np.asarray(task.children(secret)), axis=1)
